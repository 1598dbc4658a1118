"""Validation of Ghost sets: files, quality, compliance, separability, from recorded verdicts."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter

from probekit.benchmarks.ghost import GhostCategory, GhostImage, Manifest, load_manifest
from probekit.benchmarks.ghost_records import (
    load_assignments,
    load_clusters,
    load_compliance,
    load_quality,
    unread,
)
from probekit.benchmarks.ghost_report import validate
from probekit.benchmarks.ghost_validate import (
    DIMENSIONS,
    check_files,
    regeneration_warnings,
    sharpness,
    stage1,
    stage2,
    stage3,
)
from probekit.errors import InputError
from probekit.files import write_jsonl

NOISE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 40, 3), dtype=np.uint8))


def test_sharpness_is_the_variance_of_the_laplacian() -> None:
    grey = np.asarray(NOISE.convert("L"), dtype=float)
    padded = np.pad(grey, 1, mode="reflect")
    by_hand = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:] - 4 * grey
    assert sharpness(NOISE) == pytest.approx(by_hand[1:-1, 1:-1].var(), rel=0.1)
    assert sharpness(Image.new("RGB", (20, 20), (90, 90, 90))) == 0
    assert sharpness(NOISE.filter(ImageFilter.GaussianBlur(3))) < sharpness(NOISE) / 50


def scores(**changed: int) -> dict[str, int]:
    return {name: changed.get(name, 4) for name in DIMENSIONS}


def test_the_weakest_dimension_decides_alone() -> None:
    found = stage1([scores(realism=2)] * 3 + [scores(realism=3)] * 2)
    assert not found.passes
    assert (found.weakest, found.reasons) == ("realism", ("realism 2.4 < 3.0",))
    assert found.deviations["realism"] == pytest.approx(np.std([2, 2, 2, 3, 3]))
    assert np.mean(list(found.means.values())) > 3, "the mean over dimensions would have let it pass"
    assert stage1([scores()] * 5).passes


def test_thresholds_and_sharpness_can_be_set() -> None:
    assert not stage1([scores()] * 5, thresholds={"integrity": 4.5}).passes
    assert not stage1([scores()] * 5, measured=10.0, least_sharpness=50.0).passes
    assert not stage1([scores()] * 5, measured=math.nan, least_sharpness=50.0).passes
    assert stage1([scores()] * 5, measured=60.0, least_sharpness=50.0).passes


@pytest.mark.parametrize("bad", [{}, {"realism": 6}, {"realism": True}])
def test_scores_out_of_range_are_refused(bad: dict[str, int]) -> None:
    rounds = [{**scores(), **bad}] if bad else [{}]
    with pytest.raises(InputError, match="round 1"):
        stage1(rounds)
    with pytest.raises(InputError):
        stage1([])


BADGE = GhostImage("b.png", GhostCategory.TEXT_BLUR, "the name on the badge", ("STAFF",))
OTHER = GhostImage("c.png", GhostCategory.TEXT_BLUR, "the name on the badge")
DIAL = GhostImage("d.png", GhostCategory.TIME_FIX, "the time on the clock")
PEN = GhostImage("p.png", GhostCategory.HUMAN_INTENT, "a pen")


def test_compliance_is_the_conjunction_and_whitelists_grow_for_text_only() -> None:
    manifest = Manifest(Path(), (BADGE, OTHER, DIAL, PEN))
    found = stage2(
        manifest,
        {
            "b": {"q1": True, "q2": True, "allowed_words": ["HALL", "STAFF"], "passes": False},
            "c": {"q1": True, "q2": False},
            "d": {"q1": True, "q2": True, "allowed_words": ["QUARTZ"]},
        },
    )
    # The program decides, not the verifier's own "passes".
    assert found.passes == {"b": True, "c": False, "d": True}
    assert found.whitelist == {"b": ("STAFF", "HALL"), "c": (), "d": (), "p": ()}
    assert (found.total, found.n, found.unjudged) == (2, 3, 1)
    assert found.rate[GhostCategory.TEXT_BLUR] == 0.5
    assert math.isnan(found.rate[GhostCategory.HUMAN_INTENT])


def test_verdicts_must_be_true_or_false_on_known_images() -> None:
    manifest = Manifest(Path(), (BADGE,))
    with pytest.raises(InputError, match="'z'"):
        stage2(manifest, {"z": {"q1": True, "q2": True}})
    with pytest.raises(InputError, match="verdict on b"):
        stage2(manifest, {"b": {"q1": "yes", "q2": True}})


def test_separability_counts_recall_and_confusion() -> None:
    blur, pen = GhostCategory.TEXT_BLUR, GhostCategory.HUMAN_INTENT
    found = stage3([blur, blur, blur, blur, pen], ["1", "1", "1", "8", "?"], {"1": blur, "8": pen})
    assert found.recall[blur] == 0.75
    assert found.recall[pen] == 0.0
    assert math.isnan(found.recall[GhostCategory.TIME_FIX])
    assert (found.overall, found.macro, found.n) == (3 / 5, 0.375, 5)
    assert found.confusion[0, 0] == 3
    assert found.confusion[0, 7] == 1
    assert found.confusion[7, 8] == 1


def test_warning_after_more_than_fifty_attempts() -> None:
    blur = GhostCategory.TEXT_BLUR
    assert regeneration_warnings({blur: 50}, {blur: 10}) == []
    (warning,) = regeneration_warnings({blur: 51}, {blur: 10})
    assert "text_blur: 10 of 100" in warning
    assert regeneration_warnings({blur: 120}, {blur: 100}) == []


def test_files_that_are_missing_damaged_or_contradict_their_line(tmp_path: Path) -> None:
    NOISE.save(tmp_path / "b.png")
    (tmp_path / "d.png").write_bytes(b"no picture")
    self_listed = GhostImage("b.png", GhostCategory.HUMAN_INTENT, "a pen", ("PEN",))
    no_article = GhostImage("b.png", GhostCategory.TIME_FIX, "clock")
    faults = check_files(Manifest(tmp_path, (BADGE, DIAL, PEN, self_listed, no_article)))
    assert [(f.image, f.what.split(":")[0].split(" ")[0]) for f in faults] == [
        ("d.png", "does"),
        ("p.png", "no"),
        ("b.png", "the"),
        ("b.png", "target"),
    ]
    png = (tmp_path / "b.png").read_bytes()
    at = png.index(b"IDAT")
    # the piece of pixels says it is shorter than it is, so that no other begins where it ends
    (tmp_path / "d.png").write_bytes(png[: at - 4] + (200).to_bytes(4, "big") + png[at:])
    (broken,) = check_files(Manifest(tmp_path, (DIAL,)))
    assert broken.what.startswith("does not open: ")
    short = check_files(Manifest(tmp_path, (BADGE,)), per_category=1)
    assert len(short) == 7


def test_words_of_a_badge_that_does_not_comply_grow_no_whitelist(tmp_path: Path) -> None:
    """Q1 is no where a name can be read; the word allowed may be that name."""
    said = {"allowed_words": ["JOHN SMITH"]}
    for q1, q2, grown in ((False, True, False), (True, False, False), (True, True, True)):
        found = stage2(Manifest(tmp_path, (BADGE,)), {"b": {"q1": q1, "q2": q2, **said}})
        assert ("JOHN SMITH" in found.whitelist["b"]) == grown


def test_one_asking_is_not_five(tmp_path: Path) -> None:
    for name in ("b.png", "c.png"):
        NOISE.save(tmp_path / name)
    lines = [{"image_id": "b", "rounds": [scores()]}, {"image_id": "c", "rounds": [scores()] * 5}]
    write_jsonl(tmp_path / "q.jsonl", lines)
    text = validate(Manifest(tmp_path, (BADGE, OTHER)), quality=tmp_path / "q.jsonl").lines()
    assert "stage 1: 1 of 1 pass, 0 not judged, 1 scored fewer than 5 times and left out" in text


def test_the_whole_workflow_from_recorded_verdicts(tmp_path: Path) -> None:
    for name in ("b.png", "c.png"):
        NOISE.save(tmp_path / name)
    manifest = Manifest(tmp_path, (BADGE, OTHER))
    write_jsonl(tmp_path / "q.jsonl", [{"image_id": "b", "rounds": [scores(realism=1)] * 5}])
    write_jsonl(tmp_path / "v.jsonl", [{"image_id": "b", "q1": True, "q2": True}])
    write_jsonl(tmp_path / "a.jsonl", [{"image_id": "b", "cluster": 1}, {"image_id": "c", "cluster": 2}])
    (tmp_path / "k.json").write_text(json.dumps({"1": "text_blur", "2": "time_fix"}))
    found = validate(
        manifest,
        quality=tmp_path / "q.jsonl",
        compliance=tmp_path / "v.jsonl",
        assignments=tmp_path / "a.jsonl",
        clusters=tmp_path / "k.json",
    )
    text = "\n".join(found.lines())
    assert "stage 1: 0 of 1 pass" in text
    assert "realism 1.0 < 3.0" in text
    assert "stage 2: 1 of 1 comply, 1 not judged" in text
    assert "stage 3: recall 50.0% over all 2" in text
    assert found.sharpness["b"] > 0
    json.dumps(found.record(), default=str)


def test_records_name_file_and_line(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path, (BADGE,))
    path = tmp_path / "v.jsonl"
    write_jsonl(path, [{"image_id": "b", "q1": True, "q2": True}, {"image_id": "b", "q1": True, "q2": True}])
    with pytest.raises(InputError, match=r"line 2.*second record"):
        load_compliance(path, manifest)
    write_jsonl(path, [{"image_id": "z", "cluster": 1}])
    with pytest.raises(InputError, match=r"line 1.*'z'"):
        load_assignments(path, manifest)
    (tmp_path / "k.json").write_text('{"1": "nothing"}')
    with pytest.raises(InputError, match="cluster -> category"):
        load_clusters(tmp_path / "k.json")
    write_jsonl(path, [{"image_id": "b", "rounds": [scores(), scores(realism=7)]}])
    with pytest.raises(InputError, match=r"line 1 \(image b\): round 2: realism is 7"):
        load_quality(path, manifest)
    write_jsonl(path, [{"image_id": "b", "rounds": [scores()], "unread": -7}])
    with pytest.raises(InputError, match=r"line 1: 'unread' is -7"):
        unread(path)


def test_what_could_not_be_read_gives_way_to_a_later_verdict_and_is_not_counted(tmp_path: Path) -> None:
    """Three files that were appended to: of each picture the last line counts, and nothing else."""
    manifest = Manifest(tmp_path, (BADGE, OTHER))
    path = tmp_path / "v.jsonl"
    write_jsonl(
        path,
        [
            {"image_id": "b", "unread": "no JSON object"},
            {"image_id": "c", "q1": True, "q2": True},
            {"image_id": "b", "q1": True, "q2": False},
            {"image_id": "c", "unread": "q1 must be true or false"},
        ],
    )
    assert {key: value["q2"] for key, value in load_compliance(path, manifest).items()} == {"b": False}
    assert unread(path) == 1
    write_jsonl(path, [{"image_id": "b", "unread": "of an earlier judge", "q1": True, "q2": True}])
    assert set(load_compliance(path, manifest)) == {"b"}
    assert unread(path) == 0
    write_jsonl(path, [{"image_id": "b", "unread": "no number"}, {"image_id": "b", "cluster": 1}])
    assert load_assignments(path, manifest) == {"b": "1"}
    assert unread(path) == 0
    again = [
        {"image_id": "b", "rounds": [], "unread": 5},
        {"image_id": "b", "rounds": [scores()] * 4, "unread": 1},
    ]
    write_jsonl(path, again)
    assert len(load_quality(path, manifest)["b"]) == 4
    assert unread(path) == 1


@pytest.mark.parametrize("words", ["STAFF", {"STAFF": 1}, 3, ["STAFF", 3], None])
def test_words_that_are_no_list_are_named_and_not_ignored(tmp_path: Path, words: object) -> None:
    manifest = Manifest(tmp_path, (BADGE, DIAL))
    path = tmp_path / "v.jsonl"
    given = {"q1": True, "q2": True, "allowed_words": words}
    write_jsonl(path, [{"image_id": "d", "q1": True, "q2": True}, {"image_id": "b", **given}])
    with pytest.raises(InputError, match=r"v\.jsonl, line 2 \(image b\): 'allowed_words' must be a list"):
        load_compliance(path, manifest)
    with pytest.raises(InputError, match="verdict on b"):
        stage2(manifest, {"b": given})
    write_jsonl(tmp_path / "m.jsonl", [{"image": "x/b.png", "category": "text_blur", "target": "the name",
                                        "whitelist": words}])  # fmt: skip
    with pytest.raises(InputError, match=r"m\.jsonl, line 1 \(image b\): 'whitelist' must be a list"):
        load_manifest(tmp_path / "m.jsonl")


def test_answers_that_are_neither_true_nor_false_name_file_line_and_image(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    write_jsonl(path, [{"image_id": "b", "q1": 1, "q2": True}])
    with pytest.raises(InputError, match=r"v\.jsonl, line 1 \(image b\): q1 and q2 must be true or false"):
        load_compliance(path, Manifest(tmp_path, (BADGE,)))


def test_a_picture_without_a_cluster_is_left_out_of_separability_and_counted(tmp_path: Path) -> None:
    """Two sorted rightly, one not sorted: the recall is 2 of 2, as if the third were not in the file."""
    for name in ("b.png", "c.png", "d.png"):
        NOISE.save(tmp_path / name)
    manifest = Manifest(tmp_path, (BADGE, OTHER, DIAL))
    write_jsonl(tmp_path / "a.jsonl", [{"image_id": "b", "cluster": 1}, {"image_id": "c", "cluster": None},
                                       {"image_id": "d", "cluster": 2}])  # fmt: skip
    (tmp_path / "k.json").write_text(json.dumps({"1": "text_blur", "2": "time_fix"}))
    found = validate(manifest, assignments=tmp_path / "a.jsonl", clusters=tmp_path / "k.json")
    held = found.separability
    assert held is not None
    assert (held.overall, held.macro, held.n, held.unassigned) == (1.0, 1.0, 2, 1)
    assert held.confusion.sum() == 2
    assert "stage 3: recall 100.0% over all 2, 100.0% over categories, 1 without a cluster left out" in (
        found.lines()
    )
    assert found.record()["separability"]["unassigned"] == 1
    write_jsonl(tmp_path / "a.jsonl", [{"image_id": "b", "cluster": [1]}])
    with pytest.raises(InputError, match=r"line 1 \(image b\): 'cluster' is \[1\]"):
        load_assignments(tmp_path / "a.jsonl", manifest)
