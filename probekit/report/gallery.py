"""The gallery: pictures, captions coloured by a detector's held-out scores, mentions to doubt."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from probekit.report.captions import Caption, Mention
from probekit.report.held_out import Choice, HeldOut, Score
from probekit.report.markup import Html, data_block, join, tag
from probekit.report.page import Section, template
from probekit.report.pictures import Album
from probekit.report.verdicts import SIGNS, Verdict, verdict
from probekit.rows import RowKey

CARDS = 48
"""Captions in one page."""
DOUBTS = 25
"""Rows of the list of mentions to doubt."""
LEVELS = (0.5, 0.75, 0.9, 0.97)
"""Shares of test mentions with a lower score at which the colour deepens."""

_FILTERS = (Verdict.HIT, Verdict.MISS, Verdict.FALSE_ALARM)


def gallery_section(
    captions: Mapping[str, Caption], held_out: HeldOut, choice: Choice, album: Album, cards: int = CARDS
) -> Section:
    """Test captions, most doubtful first.

    Args:
        captions: by example; those without a held-out score are left out.
        held_out: scores by detector.
        choice: the detector shown first.
        album: where the pictures come from.
        cards: at most so many captions.
    """
    choices = [choice, *(other for other in held_out if other != choice)]
    shown = pick(captions, [held_out[c] for c in choices], cards)
    tested = {key.example_id for scores in held_out.values() for key in scores} & captions.keys()
    first, names = held_out[choice], _names(choices)
    marks: dict[str, Any] = {}
    articles = []
    for number, caption in enumerate(shown):
        articles.append(_card(number, caption, first, album))
        for m, mention in enumerate(caption.mentions):
            marks[f"{number}-{m}"] = {
                "text": caption.text[mention.start : mention.end],
                "before": _before(caption, mention),
                "after": _after(caption, mention),
                "kind": mention.kind,
                "category": mention.category,
                "scores": [_packed(mention, held_out[c].get(mention.key)) for c in choices],
            }
    data = {"mentions": marks, "signs": {v.name: SIGNS[v] for v in Verdict}, "doubts": DOUBTS}
    options = [tag("option", name, value=str(i)) for i, name in enumerate(names)]
    filters = [tag("option", "all", value="")]
    filters += [tag("option", f"with a {v.value}", value=v.name) for v in _FILTERS]
    controls = tag(
        "div",
        tag("label", "Detector ", tag("select", *options, id="gallery-detector", autocomplete="off")),
        tag("label", "Captions ", tag("select", *filters, id="gallery-filter", autocomplete="off")),
        tag("span", "", id="gallery-count", role="status"),
        class_="controls",
        id="gallery-controls",
        hidden=True,
    )
    lead = tag(
        "p",
        f"{len(shown):,} of {len(tested):,} captions of held-out pictures, most doubtful first. Each mention "
        "shows the score of a detector that was fitted on other pictures: the deeper the colour, the larger "
        "the share of test mentions with a lower score. The sign says what became of it. "
        "Numbers: scores.csv, made by ",
        tag("code", "probekit evaluate"),
        f"; detectors as trained with mix {choice.mix}." if choice.mix != "none" else ".",
    )
    body = join(
        lead,
        _legend(),
        controls,
        tag("noscript", tag("p", f"Shown: {names[0]}. Other detectors need scripts.", class_="note")),
        tag("h3", "Mentions to doubt"),
        tag(
            "p",
            "Among the captions below, ordered by the share of test mentions with a lower score: scores of "
            "different seeds do not compare.",
            class_="note",
        ),
        _doubts(shown, first),
        tag("h3", "Captions"),
        tag("div", *articles, class_="cards", id="gallery-cards"),
        data_block("gallery-data", data),
    )
    return Section("Pictures and their captions", body, script=template("gallery.js"))


def pick(
    captions: Mapping[str, Caption], scores: Sequence[Mapping[RowKey, Score]], limit: int
) -> list[Caption]:
    """Captions for the page: most doubtful first by the first detector, which fills at least half of it;
    the rest goes in turns to what each of the other detectors doubts most."""
    ranked = []
    for one in scores:
        doubt = {example: _doubt(caption, one) for example, caption in captions.items()}
        known = [example for example, value in doubt.items() if not math.isnan(value)]
        ranked.append(sorted(known, key=lambda example: -doubt[example]))
    kept = dict.fromkeys(ranked[0][: max(limit // 2, limit - 4 * (len(scores) - 1))] if ranked else ())
    for turn in range(max(map(len, ranked), default=0)):
        for order in ranked[1:]:
            if turn < len(order) and len(kept) < limit:
                kept[order[turn]] = None
    for example in ranked[0] if ranked else ():
        if len(kept) < limit:
            kept[example] = None
    place = {example: i for i, example in enumerate(ranked[0])} if ranked else {}
    return [captions[example] for example in sorted(kept, key=lambda e: place.get(e, len(place)))]


def _doubt(caption: Caption, scores: Mapping[RowKey, Score]) -> float:
    above = [scores[m.key].above for m in caption.mentions if m.key in scores]
    return max((value for value in above if not math.isnan(value)), default=math.nan)


def _packed(mention: Mention, score: Score | None) -> list[Any]:
    """What the script needs: verdict, level, order, score, threshold, share below, seed."""
    if score is None or math.isnan(score.value):
        return [Verdict.UNSCORED.name, -1, -1, "n/a", "n/a", "", ""]
    own = verdict(mention.label, True, score.flagged)
    return [
        own.name,
        level(score.above),
        round(score.above, 6),
        f"{score.value:.3g}",
        "n/a" if math.isnan(score.threshold) else f"{score.threshold:.3g}",
        f"{100 * score.above:.0f} %",
        str(score.seed),
    ]


def level(above: float) -> int:
    """Depth of colour, 0 to 4."""
    return sum(above >= edge for edge in LEVELS)


def _sentence(mention: Mention, packed: Sequence[Any]) -> str:
    name, _, _, score, threshold, below, seed = packed
    what = f"{mention.category}, {mention.kind}: {Verdict[name].value}"
    if name == Verdict.UNSCORED.name:
        return what
    return f"{what}. Score {score}, threshold {threshold}, above {below} of the test mentions, seed {seed}"


def _card(number: int, caption: Caption, scores: Mapping[RowKey, Score], album: Album) -> Html:
    thumbnail = album.thumbnail(caption.image)
    if thumbnail.uri:
        small = "pixel" if max(thumbnail.width, thumbnail.height) <= 128 else None
        picture = tag(
            "img",
            src=thumbnail.uri,
            width=thumbnail.width,
            height=thumbnail.height,
            alt=f"Picture {caption.image}, which the caption describes",
            class_=small,
        )
    else:
        picture = tag("p", thumbnail.reason, class_="nopicture")
    written, rows, at = [], [], 0
    for m, mention in enumerate(caption.mentions):
        packed = _packed(mention, scores.get(mention.key))
        identifier = f"{number}-{m}"
        surface = caption.text[mention.start : mention.end]
        if mention.start >= at:  # an overlapping mention is in the list only
            sign = tag("sup", SIGNS[Verdict[packed[0]]])
            mark = tag(
                "mark",
                surface,
                sign,
                class_=_classes(packed),
                data_m=identifier,
                title=_sentence(mention, packed),
            )
            written += [caption.text[at : mention.start], mark]
            at = mention.end
        cells = (surface, mention.kind, packed[3], packed[4], _outcome(packed[0]))
        rows.append(tag("tr", *(tag("td", cell) for cell in cells), data_m=identifier))
    written.append(caption.text[at:])
    head = tag(
        "tr", *(tag("th", h, scope="col") for h in ("mention", "label", "score", "threshold", "verdict"))
    )
    grid = tag("table", tag("thead", head), tag("tbody", *rows))
    return tag(
        "article",
        tag("div", picture, class_="picture"),
        tag("p", *written, class_="caption"),
        tag(
            "details",
            tag("summary", f"{len(rows)} {'mention' if len(rows) == 1 else 'mentions'}"),
            tag("div", grid, class_="box", tabindex="0", role="region", aria_label="Scores of this caption"),
        ),
        tag("p", f"{caption.example_id} · {caption.image}", class_="source"),
        class_="card",
        id=f"caption-{number}",
    )


def _classes(packed: Sequence[Any]) -> str:
    return f"m d{packed[1]} v-{packed[0].lower()}".replace("d-1", "d0")


def _outcome(name: str) -> str:
    return f"{SIGNS[Verdict[name]]} {Verdict[name].value}"


def _doubts(shown: Sequence[Caption], scores: Mapping[RowKey, Score]) -> Html:
    found = []
    for number, caption in enumerate(shown):
        for m, mention in enumerate(caption.mentions):
            packed = _packed(mention, scores.get(mention.key))
            if packed[0] != Verdict.UNSCORED.name:
                found.append((-packed[2], number, m, caption, mention, packed))
    rows = []
    for _, number, _, caption, mention, packed in sorted(found, key=lambda item: item[:3])[:DOUBTS]:
        words = tag("strong", caption.text[mention.start : mention.end])
        link = tag("a", _before(caption, mention), words, _after(caption, mention), href=f"#caption-{number}")
        cells = (link, mention.kind, packed[3], packed[5], _outcome(packed[0]))
        rows.append(tag("tr", *(tag("td", cell) for cell in cells)))
    heads = ("mention", "label", "score", "above", "verdict")
    head = tag("tr", *(tag("th", heading, scope="col") for heading in heads))
    grid = tag("table", tag("thead", head), tag("tbody", *rows, id="gallery-doubts"))
    return tag("div", grid, class_="box tall", tabindex="0", role="region", aria_label="Mentions to doubt")


def _before(caption: Caption, mention: Mention) -> str:
    start = max(0, mention.start - 36)
    if start:
        space = caption.text.find(" ", start, mention.start - 1)
        start = start if space < 0 else space + 1
    return ("…" if start else "") + caption.text[start : mention.start]


def _after(caption: Caption, mention: Mention) -> str:
    end = min(len(caption.text), mention.end + 24)
    if end < len(caption.text):
        space = caption.text.rfind(" ", mention.end + 1, end)
        end = end if space < 0 else space
    return caption.text[mention.end : end] + ("…" if end < len(caption.text) else "")


def _names(choices: Sequence[Choice]) -> list[str]:
    """Detector names, with what tells two variants of one apart, and the mix of trained ones."""
    named = []
    for choice in choices:
        several = sum(other.detector == choice.detector for other in choices) > 1
        more = [choice.variant[:8]] if several else []
        more += [] if choice.mix == "none" else [f"mix {choice.mix}"]
        named.append(f"{choice.detector} ({', '.join(more)})" if more else choice.detector)
    return named


def _legend() -> Html:
    entries = [
        tag("li", tag("mark", "word", tag("sup", SIGNS[v]), class_=f"m d0 v-{v.name.lower()}"), f" {v.value}")
        for v in Verdict
    ]
    steps = [tag("mark", "word", class_=f"m d{i}") for i in range(len(LEVELS) + 1)]
    edges = ", ".join(f"{100 * edge:.0f}" for edge in LEVELS)
    scale = tag("li", *steps, f" deeper from {edges} % of test mentions below")
    return tag("ul", *entries, scale, class_="legend", aria_label="Signs and colours")
