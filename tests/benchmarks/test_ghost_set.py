"""Ghost manifests, prompts and the procedural set."""

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageChops

from probekit.benchmarks.ghost import (
    Family,
    GhostCategory,
    GhostImage,
    Manifest,
    load_manifest,
    questions,
)
from probekit.benchmarks.ghost_badges import TARGET as NAME_TARGET
from probekit.benchmarks.ghost_badges import blank, blurred, gibberish
from probekit.benchmarks.ghost_make import DRAW, draw, make_ghost
from probekit.benchmarks.ghost_prompts import LEVELS, SHIPPED, load_prompts
from probekit.benchmarks.ghost_scenes import POSES, SCENES
from probekit.benchmarks.ghost_validate import check_files, sharpness
from probekit.errors import InputError

SMALL = (160, 120)


def test_families_of_the_eight_categories() -> None:
    held = [c.family for c in GhostCategory]
    assert held == [Family.TEXT] * 3 + [Family.TIME] * 3 + [Family.PRESENCE] * 2


def test_five_questions_an_image_and_only_the_wording_changes() -> None:
    manifest = Manifest(
        Path(),
        (
            GhostImage("images/a.png", GhostCategory.TEXT_BLUR, "the name on the badge"),
            GhostImage("images/b.png", GhostCategory.HUMAN_INTENT, "a pen"),
        ),
    )
    asked = list(questions(manifest))
    assert [e.example_id for e in asked] == [f"{i}-tone{t}" for i in "ab" for t in LEVELS]
    assert len({e.question for e in asked}) == 10
    assert all("the name on the badge" in e.question for e in asked[:5])
    assert all("a pen" in e.question and "PRESENT" in e.question for e in asked[5:])
    assert {e.condition for e in asked} == {f"tone{t}" for t in LEVELS}


def test_force_is_stated_and_grows_from_question_to_ban_on_refusing() -> None:
    prompts = load_prompts()
    assert sorted(prompts.force) == list(LEVELS)
    assert "?" in prompts.reading[1]
    assert "refuse" in prompts.reading[5]
    assert not any("refuse" in prompts.reading[level] for level in (1, 2, 3, 4))
    assert "PRESENT" in prompts.presence[5]
    with pytest.raises(InputError, match="no tone level 6"):
        prompts.ask(6, "x", presence=False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('  3: "Read {target}', '  3: "Read it', "reading.*level 3.*target"),
        ("reading:\n  1:", "reading:\n  9:", "reading.*no text for level 1"),
        ("reading:", "readings:", "unknown keys readings"),
        ("    force: requests", "    farce: requests", "'level' and 'force'"),
        ("name: probekit-1", "name: [", "not YAML"),
        ("  format: ", "  format: 5 #", "'format' of 'presence' must be a text"),
    ],
)
def test_own_prompts_are_checked(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = SHIPPED.read_text()
    assert old in text
    path = tmp_path / "own.yaml"
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=message):
        load_prompts(path)


def test_own_prompts_replace_the_shipped_ones(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(SHIPPED.read_text().replace("Please try to read {target}.", "Would you read {target}?"))
    own = load_prompts(path)
    assert own.ask(2, "the name", presence=False) == "Would you read the name?"
    assert own.digest != load_prompts().digest


def test_no_format_is_no_sentence(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(SHIPPED.read_text().replace("  format: ", "  format: null #"))
    own = load_prompts(path)
    assert own.ask(5, "a dog", presence=True) == own.presence[5].replace("{target}", "a dog")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return make_ghost(tmp_path_factory.mktemp("ghost") / "set", 2, 5, SMALL)


def test_a_made_set_is_complete_and_its_manifest_reads_back(made: Manifest) -> None:
    assert set(made.counts().values()) == {2}
    again = load_manifest(made.root / "manifest.jsonl")
    assert again.images == made.images
    assert check_files(again, per_category=2) == []
    for image in made.images:
        with Image.open(made.root / image.image) as opened:
            assert (opened.size, opened.mode) == (SMALL, "RGB")


def test_the_same_seed_draws_the_same_picture(made: Manifest) -> None:
    for category in GhostCategory:
        first = draw(category, 1, seed=5, size=SMALL)
        with Image.open(made.root / f"images/{category}_001.png") as opened:
            assert ImageChops.difference(first.image, opened).getbbox() is None
        assert ImageChops.difference(first.image, draw(category, 1, seed=6, size=SMALL).image).getbbox()
        assert ImageChops.difference(first.image, draw(category, 0, seed=5, size=SMALL).image).getbbox()


def test_a_set_is_never_overwritten_nor_empty_nor_tiny(made: Manifest, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="already"):
        make_ghost(made.root, 1)
    with pytest.raises(InputError):
        make_ghost(tmp_path / "x", 0)
    with pytest.raises(InputError, match="pixels"):
        make_ghost(tmp_path / "y", 1, size=(20, 20))
    with pytest.raises(InputError, match="at most 40 million pixels"):
        make_ghost(tmp_path / "y", 1, size=(99_999, 64_000))


@pytest.mark.parametrize("seed", range(3))
def test_name_fields_are_smeared_sharp_or_empty_on_the_same_badge(seed: int) -> None:
    size = (640, 480)
    empty, smeared, strokes = (make(random.Random(seed), size).image for make in (blank, blurred, gibberish))
    box = ImageChops.difference(empty, smeared).getbbox()
    assert box is not None
    width, height = box[2] - box[0], box[3] - box[1]
    assert width <= 204, "the badges differ in the name field alone"
    assert height <= 52
    inner = (box[0] + 6, box[1] + 6, box[2] - 6, box[3] - 6)
    fields = [image.crop(inner) for image in (empty, smeared, strokes)]
    # Smeared matter is dark but has hardly any edges; strokes are all edges.
    assert (
        np.asarray(fields[1].convert("L")).min()
        < 150
        < 230
        < np.asarray(fields[0].convert("L"))[8:-8, 8:-8].min()
    )
    assert sharpness(fields[1]) < sharpness(fields[2]) / 20


def test_displays_show_no_time_and_whitelist_what_they_show() -> None:
    for index in range(40):
        drawn = draw(GhostCategory.DIGITAL_DECOY, index, size=(64, 64))
        assert drawn.whitelist
        assert not any(re.search(r"\d:\d", word) for word in drawn.whitelist)


def test_text_images_ask_for_the_name_and_whitelist_their_role() -> None:
    for category in (GhostCategory.TEXT_BLUR, GhostCategory.TEXT_GIBBERISH, GhostCategory.TEXT_BLANK):
        drawn = draw(category, 0, size=(64, 64))
        assert drawn.target == NAME_TARGET
        assert "NAME" in drawn.whitelist
        assert len(drawn.whitelist) == 3


def test_presence_targets_vary_and_carry_an_article() -> None:
    targets = [t for t, *_ in (*SCENES, *POSES)]
    assert len(set(targets)) == len(targets) >= 12
    assert all(t.startswith(("a ", "an ")) for t in targets)
    seen = {draw(GhostCategory.HUMAN_INTENT, i, size=(64, 64)).target for i in range(40)}
    assert len(seen) == len(POSES)


def test_every_category_can_be_drawn_upright_and_wide() -> None:
    for category in DRAW:
        assert draw(category, 3, size=(96, 200)).image.size == (96, 200)
        assert draw(category, 3, size=(300, 80)).image.size == (300, 80)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"image": "a.png", "category": "text_blur"}, "line 2: missing 'target'"),
        ({"image": "a.png", "category": "text_blurred", "target": "the name"}, "line 2.*text_blurred"),
        ({"image": "", "category": "text_blur", "target": "the name"}, "line 2.*'image'"),
        ({"image": "a.png", "category": "text_blur", "target": "the name", "whitelist": "X"}, "line 2.*list"),
        ({"image": "../a.png", "category": "text_blur", "target": "the name"}, "line 2.*leaves the folder"),
        ({"image": "x/ok.png", "category": "text_blur", "target": "the name"}, "line 2.*line 1"),
        ({"image": "a.png", "category": "text_blur", "target": "the name", "extra": 1}, "line 2.*extra"),
    ],
)
def test_faulty_manifests_name_file_and_line(tmp_path: Path, line: dict[str, Any], message: str) -> None:
    path = tmp_path / "manifest.jsonl"
    first = {"image": "ok.png", "category": "text_blur", "target": "the name", "whitelist": []}
    path.write_text(json.dumps(first) + "\n" + json.dumps(line) + "\n")
    with pytest.raises(InputError, match=message):
        load_manifest(path)


def test_an_empty_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text("\n")
    with pytest.raises(InputError, match="empty"):
        load_manifest(tmp_path / "m.jsonl")
