"""A Ghost set in the embedded model's world: what is asked for is never there."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from probekit.benchmarks.ghost import GhostCategory, Manifest, load_manifest, questions
from probekit.benchmarks.ghost_prompts import load_prompts
from probekit.benchmarks.ghost_validate import check_files
from probekit.benchmarks.ghost_world import PROMPTS, make_world_ghost, suggested
from probekit.errors import InputError
from probekit.organism.priors import SETTINGS
from probekit.organism.scenes import make_scene
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
