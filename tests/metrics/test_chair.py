"""CHAIR: the published counts on real captions, its quirks, and the assertion-aware rates."""

import json
import math
from collections.abc import Iterable
from pathlib import Path

import pytest

from probekit.labels import Usage
from probekit.mentions import Vocabulary, find
from probekit.mentions.captions import Caption, read_captions
from probekit.mentions.references import References, presence
from probekit.metrics.chair import CaptionCounts, chair, count

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"
CHAIR = Vocabulary.named("chair")


def found(text: str, vocabulary: Vocabulary = CHAIR) -> list[tuple[str, str]]:
    return [(hit.surface, hit.category) for hit in find(text, vocabulary)]


def captions(*texts: str) -> list[Caption]:
    return [Caption(str(n), str(n), text, None, n) for n, text in enumerate(texts, start=1)]


def references(*objects: Iterable[str]) -> References:
    return References({str(n): frozenset(one) for n, one in enumerate(objects, start=1)})


def test_the_list_has_the_published_sizes() -> None:
    import yaml

    import probekit.mentions

    path = Path(probekit.mentions.__file__).parent / "vocabularies" / "chair.yaml"
    lines = yaml.safe_load(path.read_text())["lines"]
    entries = [entry for line in lines for entry in line]
    assert (len(lines), len(entries), len(set(entries))) == (80, 416, 403)
    assert sum(len(set(line)) for line in lines) == 403
    assert [entry for entry in entries if entry != entry.strip().lower()] == [
        " motor bike",
        " cheesecake",
        "iPhone",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a train track", []),
        ("a hot dog", [("hot dog", "hot dog")]),
        ("a toilet seat", [("toilet", "toilet")]),
        ("a baby bird", [("bird", "bird")]),
        ("a slice of cheesecake", []),
        ("a man on a motor bike", [("man", "person")]),
        ("an iPhone on the desk", [("desk", "dining table")]),
        ("a toilet with its seat up beside a dog", [("toilet", "toilet"), ("dog", "dog")]),
        ("a seat and a toilet and a seat", [("toilet", "toilet")]),
        ("a seat", [("seat", "chair")]),
        ("an adult elephant", [("elephant", "elephant")]),
        ("a passenger train", [("train", "train")]),
        ("a passenger plane", [("passenger", "person"), ("plane", "airplane")]),
        ("two wine glasses", [("wine glasses", "wine glass")]),
        ("a bow tie", [("bow tie", "tie")]),
        ("the home plate", []),
        ("a dining table", [("table", "dining table")]),
        ("a stove top oven", [("stove", "oven"), ("oven", "oven")]),
        ("a hair dryer", []),
        ("hairdryers", [("hairdryers", "hair drier")]),
        ("a pitcher of water", [("pitcher", "person")]),
        ("the bow of a boat", [("bow", "tie"), ("boat", "boat")]),
        ("knives and people", [("knives", "knife"), ("people", "person")]),
        ("a bus and two buses", [("buses", "bus")]),
        ("A dog. A cat.", [("cat", "cat")]),
    ],
)
def test_quirks_of_the_published_matcher(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


def test_sentence_split_variant_finds_words_before_a_full_stop() -> None:
    sentences = Vocabulary.named("chair-sentences")
    assert found("A dog. A cat.", sentences) == [("dog", "dog"), ("cat", "cat")]
    assert sentences.digest != CHAIR.digest


def test_spans_are_the_words_own_also_after_a_dropped_seat() -> None:
    text = 'Near "the" toilet\'s seat,  İ a   DOG\n\nsat.'
    hits = find(text, CHAIR)
    assert [text[hit.start : hit.end] for hit in hits] == ["toilet", "DOG"]


def test_rates_and_counts() -> None:
    data = captions("a dog and a cat", "a dog and a dog", "nothing here", "a bird")
    result = chair(count(data, references({"dog"}, set(), {"cat"}), CHAIR), CHAIR)
    assert (result.mentions, result.hallucinated) == (4, 3)
    assert result.chair_i.estimate.value == 3 / 4
    assert result.chair_s.estimate.value == 2 / 3
    assert (result.captions, result.unknown_images, result.all_mentions) == (3, 1, 5)
    assert result.aware is None
    assert result.chair_i.estimate.groups == 2
    assert math.isnan(result.chair_i.estimate.low)


def test_only_claims_count_when_usage_is_known() -> None:
    usage = {"dog": Usage.EXISTENTIAL, "cat": Usage.NEGATION, "bird": Usage.DEPICTIVE, "cow": Usage.GENERIC}

    def judge(caption: str, start: int, end: int, category: str) -> Usage:
        assert caption[start:end] == category
        return usage[category]

    data = captions("a dog, a cat, a bird and a cow", "a dog", "a cow")
    result = chair(count(data, references(set(), {"dog"}, set()), CHAIR, judge), CHAIR)
    assert result.aware is not None
    assert (result.aware.chair_i.count, result.aware.chair_i.out_of) == (1, 2)
    assert (result.aware.chair_s.count, result.aware.chair_s.out_of) == (1, 3)
    assert (result.aware.non_assertive_share.count, result.aware.non_assertive_share.out_of) == (2, 4)
    among = result.aware.non_assertive_among_hallucinated
    assert (among.count, among.out_of) == (2, 5)
    assert result.aware.usages["generic"] == 2
    assert (result.mentions, result.hallucinated) == (6, 5)


def test_without_objects_the_rates_are_not_available() -> None:
    nothing = chair(
        count(captions("a wall", "a floor"), references(set(), set()), CHAIR, _existential), CHAIR
    )
    assert math.isnan(nothing.chair_i.estimate.value)
    assert nothing.to_json()["chair_i"] is None
    assert nothing.chair_s.estimate.value == 0
    unknown = chair(count(captions("a dog"), None, CHAIR, _existential), CHAIR)
    assert math.isnan(unknown.chair_s.estimate.value)
    assert unknown.unknown_images == 1
    empty = chair([], CHAIR)
    assert math.isnan(empty.chair_i.estimate.value)
    json.dumps([nothing.to_json(), unknown.to_json(), empty.to_json()], allow_nan=False)


def _existential(caption: str, start: int, end: int, category: str) -> Usage:
    return Usage.EXISTENTIAL


def test_interval_resamples_images_not_captions() -> None:
    """Ten copies of each caption of an image must not make the interval narrower."""
    texts = ["a dog", "a cat"] * 15
    truth = [{"dog"}] * 30
    once = chair(count(captions(*texts), references(*truth), CHAIR), CHAIR)
    copies = [
        Caption(f"{one.caption_id}-{k}", one.image_id, one.text, None, 1)
        for one in captions(*texts)
        for k in range(10)
    ]
    tenfold = chair(count(copies, references(*truth), CHAIR), CHAIR)
    assert tenfold.chair_i.estimate.low == pytest.approx(once.chair_i.estimate.low)
    assert tenfold.chair_i.estimate.high == pytest.approx(once.chair_i.estimate.high)
    assert once.chair_i.estimate.low < 0.4 < 0.6 < once.chair_i.estimate.high


def test_per_caption_line() -> None:
    (one,) = count(captions("a dog and a cat"), references({"dog"}), CHAIR)
    line = one.to_json()
    assert line["chair_i"] == 0.5
    assert line["chair_s"] == 1
    assert line["mentions"] == [
        {"start": 2, "end": 5, "surface": "dog", "category": "dog", "hallucinated": False, "usage": None},
        {"start": 12, "end": 15, "surface": "cat", "category": "cat", "hallucinated": True, "usage": None},
    ]
    unknown = CaptionCounts(one.caption, one.mentions, None, None).to_json()
    assert unknown["chair_i"] is None


@pytest.mark.skipif(not REAL.is_dir(), reason="no shared data")
def test_published_counts_on_real_captions() -> None:
    """LLaVA-1.5-7B, 500 greedy captions: no caption differs from the published rules."""
    truth = presence(REAL / "coco_objects.json", CHAIR)
    counts = list(count(read_captions(REAL / "llava-1.5-7b_greedy_captions.jsonl"), truth, CHAIR))
    result = chair(counts, CHAIR)
    assert (result.mentions, result.hallucinated, result.captions) == (3452, 439, 500)
    assert result.chair_s.estimate.value == 0.438
    assert round(result.chair_i.estimate.value, 4) == 0.1272
    for one in counts:
        text = one.caption.text
        assert all(text[hit.start : hit.end] == hit.surface for hit in one.mentions)


@pytest.mark.skipif(not REAL.is_dir(), reason="no shared data")
def test_what_the_narrow_list_changes_on_real_captions() -> None:
    """Same captions, narrow words: the glued words come back, broad words and roles go."""
    words = Vocabulary.coco()
    truth = presence(REAL / "coco_objects.json", words)
    assert truth.outside == {"orange": 48}
    result = chair(count(read_captions(REAL / "llava-1.5-7b_greedy_captions.jsonl"), truth, words), words)
    assert (result.mentions, result.hallucinated) == (3388, 433)
    by_sentence = Vocabulary.named("chair-sentences")
    split = chair(
        count(
            read_captions(REAL / "llava-1.5-7b_greedy_captions.jsonl"),
            presence(REAL / "coco_objects.json", by_sentence),
            by_sentence,
        ),
        by_sentence,
    )
    assert (split.mentions, split.hallucinated, split.chair_s.estimate.value) == (3739, 478, 0.45)
