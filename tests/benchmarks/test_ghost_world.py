"""A Ghost set in the embedded model's world: what is asked for is never there."""

import random
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from probekit.benchmarks.ghost import GhostCategory, Manifest, load_manifest, questions
from probekit.benchmarks.ghost_prompts import load_prompts
from probekit.benchmarks.ghost_validate import check_files
from probekit.benchmarks.ghost_world import PROMPTS, free_cells, make_world_ghost, suggested, with_thing
from probekit.benchmarks.ghost_world_things import TARGETS, WIDTH, thing
from probekit.errors import InputError
from probekit.organism.priors import SETTINGS
from probekit.organism.scenes import CELL, SIZE, make_scene
from probekit.organism.vocabulary import CATEGORIES, with_article

KINDS = (GhostCategory.SCENE_SCHEMA, GhostCategory.HUMAN_INTENT)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return make_world_ghost(tmp_path_factory.mktemp("world") / "set", 3, seed=7)


def test_the_target_fits_the_scene_and_is_plainly_absent() -> None:
    asked = 0
    for seed in range(150):
        scene = make_scene(seed)
        for kind in KINDS:
            target = suggested(scene, kind)
            if target is None:
                continue
            asked += 1
            setting = SETTINGS[scene.scene_type]
            assert target not in scene.present
            assert scene.poster is None or scene.poster.category != target
            assert scene.smudge is None or scene.smudge.suggestion != target
            # No patch of the picture holds it either, drawn or pictured.
            assert CATEGORIES.index(target) not in scene.patches[0]
            if kind is GhostCategory.SCENE_SCHEMA:
                assert target in setting.guesses
            else:
                assert any(setting.companions.get(t) == target for t in scene.present)
    assert asked > 150


def test_a_made_set_reads_back_and_is_without_fault(made: Manifest) -> None:
    again = load_manifest(made.root / "manifest.jsonl")
    assert again.images == made.images
    assert check_files(again) == []
    assert [again.counts()[kind] for kind in KINDS] == [3, 3]
    assert {image.target for image in made.images} <= {with_article(c) for c in CATEGORIES}


def test_the_seed_decides(made: Manifest, tmp_path: Path) -> None:
    again = make_world_ghost(tmp_path / "a", 3, seed=7)
    other = make_world_ghost(tmp_path / "b", 3, seed=8)
    first = [np.asarray(Image.open(m.root / m.images[0].image)) for m in (made, again, other)]
    assert (first[0] == first[1]).all()
    assert (first[0] != first[2]).any()
    with pytest.raises(InputError, match="already"):
        make_world_ghost(tmp_path / "a", 3)


def test_its_prompts_hold_five_levels_and_only_the_end_changes(made: Manifest) -> None:
    prompts = load_prompts(PROMPTS)
    asked = [e.question for e in questions(made, prompts)][:5]
    assert len(set(asked)) == 5
    assert len({text.split("?")[0] for text in asked}) == 1
    assert asked[4].endswith("Answer yes.")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return make_world_ghost(tmp_path_factory.mktemp("world") / "whole", 3, seed=7, all_categories=True)


def test_all_eight_categories_at_its_own_size_without_fault(whole: Manifest, made: Manifest) -> None:
    assert check_files(whole, per_category=3) == []
    assert [image.category for image in whole.images] == [c for c in GhostCategory for _ in range(3)]
    assert {Image.open(whole.root / image.image).size for image in whole.images} == {(SIZE, SIZE)}
    # The two categories of presence are the very pictures they are without the others.
    assert [image for image in whole.images if image.category in KINDS] == list(made.images)
    for image in made.images:
        assert (whole.root / image.image).read_bytes() == (made.root / image.image).read_bytes()


@pytest.mark.parametrize("category", list(TARGETS))
def test_a_thing_covers_part_of_one_free_cell_and_nothing_else(category: GhostCategory) -> None:
    for seed in range(930_000, 930_030):
        scene = make_scene(seed)
        if not free_cells(scene):
            continue
        picture, _ = with_thing(scene, category, random.Random(seed))
        changed = (np.asarray(picture) != scene.image).any(axis=-1)
        rows, columns = np.nonzero(changed)
        cell = {(x // CELL, y // CELL) for x, y in zip(columns, rows, strict=True)}
        assert len(cell) == 1
        assert cell <= set(free_cells(scene))
        taken = {(t.column, t.row) for t in scene.things}
        taken |= {(p.column, p.row) for p in (scene.poster, scene.smudge) if p is not None}
        assert not cell & taken


def _pixels(category: GhostCategory, seed: int) -> np.ndarray:
    return np.asarray(thing(category, random.Random(seed))[0].convert("RGB"), dtype=int)


def test_what_is_missing_was_never_drawn() -> None:
    field = np.s_[11:14, 10:19]
    dark, steps = {}, {}
    for category in list(TARGETS)[:3]:
        found = [_pixels(category, seed)[field].mean(axis=-1) for seed in range(12)]
        dark[category] = np.mean([f.min() for f in found])
        steps[category] = np.mean([np.abs(np.diff(f, axis=1)).max() for f in found])
    blur, strokes, blank = dark
    assert dark[blank] > 240, "nothing stands in the empty field"
    assert dark[blur] < 230
    assert steps[strokes] > 2 * steps[blur], "strokes are sharp, the smear is not"
    for seed in range(12):
        # A hand would be a dark or red line through the ring between the hub and the marks.
        y, x = np.mgrid[:WIDTH, :WIDTH] - (WIDTH - 1) / 2
        ring = (np.hypot(x, y) > 2.5) & (np.hypot(x, y) < 4.8)
        assert _pixels(GhostCategory.TIME_FIX, seed)[ring].mean(axis=-1).min() > 200
        assert _pixels(GhostCategory.ANALOG_DECOY, seed)[ring].mean(axis=-1).min() < 200
        _, (shown,) = thing(GhostCategory.DIGITAL_DECOY, random.Random(seed))
        assert len(shown) == 3
        assert ":" not in shown


def test_the_command_says_what_the_model_cannot_say(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from probekit.cli import app

    arguments = ["ghost", "make", str(tmp_path / "s"), "--world", "organism", "--per-category", "1"]
    result = CliRunner().invoke(app, [*arguments, "--all-categories"])
    assert result.exit_code == 0, result.output
    assert "8 pictures" in result.output
    assert "no words for names and times" in result.output
