(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("gallery-data").textContent);
  const words = {
    HIT: "flagged hallucination", MISS: "missed hallucination", FALSE_ALARM: "false alarm",
    FINE: "rightly left alone", OPEN: "no verdict", UNSCORED: "no score",
  };
  const detector = document.getElementById("gallery-detector");
  const filter = document.getElementById("gallery-filter");
  const cards = document.getElementById("gallery-cards");
  const doubts = document.getElementById("gallery-doubts");
  const articles = [...cards.children];
  const outcome = (verdict) => `${data.signs[verdict]} ${words[verdict]}`;

  const sentence = (mention, [verdict, , , score, threshold, below, seed]) => {
    const what = `${mention.category}, ${mention.kind}: ${words[verdict]}`;
    if (verdict === "UNSCORED") return what;
    return `${what}. Score ${score}, threshold ${threshold}, above ${below} of the test mentions, seed ${seed}`;
  };

  const cell = (row, content) => {
    const td = document.createElement("td");
    td.append(content);
    row.append(td);
  };

  const paint = () => {
    const chosen = Number(detector.value);
    const doubt = new Map(articles.map((article) => [article, -2]));
    const seen = new Map(articles.map((article) => [article, new Set()]));
    const ranked = [];
    for (const [id, mention] of Object.entries(data.mentions)) {
      const packed = mention.scores[chosen];
      const [verdict, level, order, score, threshold] = packed;
      const article = document.getElementById(`caption-${id.split("-")[0]}`);
      doubt.set(article, Math.max(doubt.get(article), order));
      seen.get(article).add(verdict);
      if (verdict !== "UNSCORED") ranked.push([order, id, mention, packed, article]);
      for (const element of article.querySelectorAll(`[data-m="${id}"]`)) {
        if (element.localName === "mark") {
          element.className = `m d${Math.max(level, 0)} v-${verdict.toLowerCase()}`;
          element.title = sentence(mention, packed);
          element.querySelector("sup").textContent = data.signs[verdict];
        } else {
          element.children[2].textContent = score;
          element.children[3].textContent = threshold;
          element.children[4].textContent = outcome(verdict);
        }
      }
    }
    const place = new Map(articles.map((article, i) => [article, i]));
    const order = [...articles].sort((a, b) => doubt.get(b) - doubt.get(a) || place.get(a) - place.get(b));
    cards.append(...order);
    let visible = 0;
    for (const article of articles) {
      article.hidden = filter.value !== "" && !seen.get(article).has(filter.value);
      visible += article.hidden ? 0 : 1;
    }
    document.getElementById("gallery-count").textContent = `${visible} shown`;
    const listed = ranked.filter((item) => !item[4].hidden).sort((a, b) => b[0] - a[0]);
    doubts.replaceChildren(...listed.slice(0, data.doubts).map(([, id, mention, packed]) => {
      const row = document.createElement("tr");
      const link = document.createElement("a");
      const strong = document.createElement("strong");
      strong.textContent = mention.text;
      link.href = `#caption-${id.split("-")[0]}`;
      link.append(mention.before, strong, mention.after);
      cell(row, link);
      cell(row, mention.kind);
      cell(row, packed[3]);
      cell(row, packed[5]);
      cell(row, outcome(packed[0]));
      return row;
    }));
  };

  document.getElementById("gallery-controls").hidden = false;
  detector.addEventListener("change", paint);
  filter.addEventListener("change", paint);
  paint();
})();
