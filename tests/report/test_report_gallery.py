"""The gallery shows held-out scores only, judges them rightly, and puts the doubtful first."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from probekit.errors import InputError
from probekit.evaluation.scores import COLUMNS
from probekit.labels import Label, LabelSet, RowLabel, Usage
from probekit.report.captions import Caption, Mention, read_captions, read_mentions
from probekit.report.gallery import gallery_section, level, pick
from probekit.report.held_out import Choice, Score, read_held_out
from probekit.report.pictures import Album
from probekit.report.verdicts import SIGNS, Verdict, verdict
from probekit.rows import RowKey

SVAR = Choice("svar", "v", "none")


def write_scores(path: Path, rows: list[tuple[object, ...]]) -> Path:
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows([COLUMNS, *rows])
    return path


def row(seed: int, split: str, example: str, score: object, **other: object) -> tuple[object, ...]:
    values = {
        "detector": "svar", "variant": "v", "mix": "none", "seed": seed, "split": split,
        "example_id": example, "index": 0, "score": score, "threshold": 0.5, "flagged": "true", **other,
    }  # fmt: skip
    return tuple(values[name] for name in COLUMNS)


def caption(example: str, *kinds: Label, text: str = "a dog, a cat and a bus") -> Caption:
    spans = ((2, 5, "dog"), (9, 12, "cat"), (19, 22, "bus"))
    mentions = tuple(
        Mention(RowKey(example, i), start, end, category, i, kind, str(kind))
        for i, ((start, end, category), kind) in enumerate(zip(spans, kinds, strict=False))
    )
    return Caption(example, f"{example}.png", text, mentions)


def score(above: float, flagged: bool | None = False, seed: int = 0) -> Score:
    return Score(seed, math.nan if flagged is None else above, 0.5, flagged, above)


@pytest.mark.parametrize(
    ("label", "flagged", "expected"),
    [
        (Label.HALLUCINATED, True, Verdict.HIT),
        (Label.HALLUCINATED, False, Verdict.MISS),
        (Label.CONCRETE, True, Verdict.FALSE_ALARM),
        (Label.NON_ASSERTIVE, True, Verdict.FALSE_ALARM),
        (Label.CONCRETE, False, Verdict.FINE),
        (Label.NON_ASSERTIVE, False, Verdict.FINE),
        (Label.EXCLUDED, True, Verdict.OPEN),
        (Label.HALLUCINATED, None, Verdict.OPEN),
    ],
)
def test_verdicts(label: Label, flagged: bool | None, expected: Verdict) -> None:
    assert verdict(label, True, flagged) is expected
    assert verdict(label, False, None) is Verdict.UNSCORED


def test_signs_tell_verdicts_apart_without_colour() -> None:
    assert set(SIGNS) == set(Verdict)
    assert len(set(SIGNS.values())) == len(Verdict)


def test_only_test_rows_and_the_first_seed_that_holds_them_out(tmp_path: Path) -> None:
    path = write_scores(
        tmp_path / "s.csv",
        [
            row(0, "calibration", "a", 9.0),
            row(2, "test", "a", 0.25, flagged="false"),
            row(1, "test", "a", 0.75),
            row(1, "test", "b", 0.5, flagged="true"),
            row(1, "test", "c", ""),
            row(1, "test", "d", 0.6, mix="max"),
            row(1, "calibration", "e", 0.7),
        ],
    )
    found = read_held_out(path, {("svar", "v"): "none"})
    assert list(found) == [SVAR]
    scores = found[SVAR]
    assert set(scores) == {RowKey(example, 0) for example in "abc"}
    assert scores[RowKey("a", 0)] == Score(1, 0.75, 0.5, True, 0.5)
    assert scores[RowKey("b", 0)] == Score(1, 0.5, 0.5, True, 0.0)
    assert scores[RowKey("c", 0)].flagged is None
    assert math.isnan(scores[RowKey("c", 0)].value)


def test_share_below_equals_a_count(tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 20, 60) / 20
    rows = [row(0, "test", f"e{i}", float(v)) for i, v in enumerate(values)]
    found = read_held_out(write_scores(tmp_path / "s.csv", rows), {("svar", "v"): "none"})[SVAR]
    for i, value in enumerate(values):
        assert found[RowKey(f"e{i}", 0)].above == pytest.approx(np.mean(values < value))


@pytest.mark.parametrize(
    ("bad", "line"), [({"score": "high"}, 3), ({"flagged": "perhaps"}, 3), ({"index": "x"}, 3)]
)
def test_a_bad_row_is_named(tmp_path: Path, bad: dict[str, object], line: int) -> None:
    value = bad.pop("score", 0.5)
    path = write_scores(tmp_path / "s.csv", [row(0, "test", "a", 1.0), row(0, "test", "b", value, **bad)])
    with pytest.raises(InputError, match=f"s.csv, line {line}"):
        read_held_out(path, {("svar", "v"): "none"})


def test_missing_columns_are_named(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("detector,score\n")
    with pytest.raises(InputError, match="variant, mix, seed"):
        read_held_out(tmp_path / "s.csv", {})


def test_levels_deepen() -> None:
    assert [level(a) for a in (0.0, 0.49, 0.5, 0.8, 0.9, 0.969, 0.97, 1.0)] == [0, 0, 1, 2, 3, 3, 4, 4]


def test_the_most_doubtful_first_and_every_detector_gets_its_turn() -> None:
    captions = {f"e{i:02d}": caption(f"e{i:02d}", Label.CONCRETE) for i in range(40)}
    up = {RowKey(example, 0): score(i / 40) for i, example in enumerate(captions)}
    down = {RowKey(example, 0): score(1 - i / 40) for i, example in enumerate(captions)}
    assert [c.example_id for c in pick(captions, [up], 3)] == ["e39", "e38", "e37"]
    both = [c.example_id for c in pick(captions, [up, down], 10)]
    assert len(both) == 10
    assert both[:2] == ["e39", "e38"]
    assert "e00" in both
    places = [int(example[1:]) for example in both]
    assert places == sorted(places, reverse=True)


def test_captions_without_a_held_out_score_are_not_shown() -> None:
    captions = {"a": caption("a", Label.CONCRETE), "b": caption("b", Label.CONCRETE)}
    held = {RowKey("a", 0): score(0.3), RowKey("b", 0): score(math.nan, None)}
    assert [c.example_id for c in pick(captions, [held], 9)] == ["a"]


def test_marks_carry_score_threshold_label_and_sign(tmp_path: Path, parse: Any) -> None:
    captions = {"a": caption("a", Label.HALLUCINATED, Label.CONCRETE, Label.HALLUCINATED)}
    held = {
        SVAR: {
            RowKey("a", 0): Score(2, 0.81, 0.5, True, 0.98),
            RowKey("a", 1): Score(2, 0.7, 0.5, True, 0.6),
            RowKey("a", 2): Score(2, 0.2, 0.5, False, 0.1),
        }
    }
    section = gallery_section(captions, held, SVAR, Album(lambda name: tmp_path / name))
    seen = parse(section.html)
    marks = [m for m in seen.named("mark") if "data-m" in m]
    assert [m["class"] for m in marks] == ["m d4 v-hit", "m d1 v-false_alarm", "m d0 v-miss"]
    assert marks[0]["title"] == (
        "dog, hallucinated: flagged hallucination. Score 0.81, threshold 0.5, "
        "above 98 % of the test mentions, seed 2"
    )
    pieces = [text for path, text in seen.texts if path[:2] == ("div", "article") and "p" in path]
    written = "".join(p for p in pieces)
    assert "a dog▲✓, a cat▲✗ and a bus✗" in written


def test_the_script_gets_what_the_page_shows(tmp_path: Path, parse: Any) -> None:
    captions = {"a": caption("a", Label.HALLUCINATED, Label.CONCRETE)}
    other = Choice("nll", "w", "none")
    held = {
        SVAR: {RowKey("a", 0): Score(0, 0.81, 0.5, True, 0.98)},
        other: {
            RowKey("a", 0): Score(0, 3.0, 4.0, False, 0.2),
            RowKey("a", 1): Score(0, 5.0, 4.0, True, 0.9),
        },
    }
    section = gallery_section(captions, held, other, Album(lambda name: tmp_path / name))
    seen = parse(section.html)
    data = json.loads(next(text for path, text in seen.texts if path and path[-1] == "script"))
    assert data["mentions"]["0-1"]["scores"] == [
        ["FALSE_ALARM", 3, 0.9, "5", "4", "90 %", "0"],
        ["UNSCORED", -1, -1, "n/a", "n/a", "", ""],
    ]
    assert [data["mentions"]["0-0"][k] for k in ("before", "text", "after", "kind")] == [
        "a ", "dog", ", a cat and a bus", "hallucinated",
    ]  # fmt: skip
    options = [text for path, text in seen.texts if path and path[-1] == "option"]
    assert options[:2] == ["nll", "svar"]
    # a name the script looks up and the page lacks would stop it
    identifiers = {a["id"] for _, a in seen.elements if "id" in a}
    import re

    assert set(re.findall(r'getElementById\("([^"]+)"\)', section.script)) <= identifiers
    for name, value in re.findall(r'([A-Z_]+): "([^"]+)"', section.script):
        assert Verdict[name].value == value


def test_overlapping_mentions_keep_the_text_whole(tmp_path: Path, parse: Any) -> None:
    text = "a hot dog stand"
    mentions = tuple(
        Mention(RowKey("a", i), s, e, "x", i, Label.CONCRETE, "concrete")
        for i, (s, e) in enumerate([(2, 9), (6, 9)])
    )
    held = {SVAR: {m.key: score(0.5) for m in mentions}}
    captions = {"a": Caption("a", "a.png", text, mentions)}
    seen = parse(gallery_section(captions, held, SVAR, Album(lambda name: tmp_path / name)).html)
    shown = [
        t for path, t in seen.texts if path[:2] == ("div", "article") and "p" in path and "sup" not in path
    ]
    assert text in "".join(shown)
    assert len([m for m in seen.named("mark") if "data-m" in m]) == 1


def test_pictures_are_small_copies_within_the_budget(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        pixels = rng.integers(0, 255, (900, 1200, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    (tmp_path / "broken.png").write_bytes(b"\x89PNG not a picture <script>")
    album = Album(lambda name: tmp_path / name, budget=60_000)
    first = album.thumbnail("a.png")
    assert (first.width, first.height) == (360, 270)
    assert first.uri.startswith("data:image/jpeg;base64,")
    assert album.thumbnail("a.png") is first
    assert album.budget == 60_000 - len(first.uri)
    assert album.thumbnail("b.png").reason == "picture left out to keep the page small"
    assert album.thumbnail("none.png").reason == "picture not found"
    assert "cannot be read" in album.thumbnail("broken.png").reason


def test_drawn_pictures_stay_exact(tmp_path: Path) -> None:
    import base64

    picture = Image.new("RGB", (64, 48), (10, 20, 30))
    picture.putpixel((3, 4), (200, 0, 0))
    picture.save(tmp_path / "a.png")
    uri = Album(lambda name: tmp_path / name).thumbnail("a.png").uri
    with Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1]))) as again:
        assert again.convert("RGB").tobytes() == picture.tobytes()


def test_rows_and_captions_of_different_runs_are_refused(tmp_path: Path) -> None:
    rows, texts = tmp_path / "rows.jsonl", tmp_path / "generations.jsonl"
    rows.write_text('{"example_id": "a", "index": 0, "start": 2, "end": 50, "category": "dog"}\n')
    texts.write_text('{"example_id": "a", "image": "a.png", "text": "a dog"}\n')
    mentions = read_mentions(rows, LabelSet.of([RowLabel(RowKey("a", 0), Usage.HEDGED, True)]))
    assert mentions["a"][0].kind == "non-assertive, hedged"
    with pytest.raises(InputError, match=r"generations\.jsonl, line 1"):
        read_captions(texts, mentions)
    rows.write_text('{"example_id": "a", "index": 0, "start": 5, "end": 5, "category": "dog"}\n')
    with pytest.raises(InputError, match=r"rows\.jsonl, line 1"):
        read_mentions(rows, LabelSet())
