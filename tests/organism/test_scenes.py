"""A scene is a function of its seed."""

import hashlib
import subprocess
import sys
from collections import Counter

import numpy as np

from probekit.organism.priors import SCENE_TYPES
from probekit.organism.scenes import (
    KIND_OBJECT,
    KIND_POSTER,
    KIND_SMUDGE,
    NO_CATEGORY,
    black_image,
    make_scene,
    noise_image,
)
from probekit.organism.vocabulary import CATEGORIES

_DIGEST = """
import hashlib
from probekit.organism.scenes import make_scene
digest = hashlib.sha256()
for seed in range(40):
    scene = make_scene(seed)
    digest.update(scene.image.tobytes() + scene.patches.tobytes())
    digest.update(repr((scene.scene_type, scene.things, scene.poster, scene.smudge)).encode())
print(digest.hexdigest())
"""


def test_same_bytes_in_another_process() -> None:
    digest = hashlib.sha256()
    for seed in range(40):
        scene = make_scene(seed)
        digest.update(scene.image.tobytes() + scene.patches.tobytes())
        digest.update(repr((scene.scene_type, scene.things, scene.poster, scene.smudge)).encode())
    other = subprocess.run([sys.executable, "-c", _DIGEST], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest.hexdigest()


def test_neighbouring_seeds_differ() -> None:
    images = {make_scene(seed).image.tobytes() for seed in range(50)}
    assert len(images) == 50


def test_facts_of_many_scenes() -> None:
    scenes = [make_scene(seed) for seed in range(400)]
    assert {scene.scene_type for scene in scenes} == set(SCENE_TYPES)
    assert set().union(*(scene.present for scene in scenes)) == set(CATEGORIES)
    for scene in scenes:
        assert 1 <= len(scene.things) <= 5
        assert len(scene.present) == len(scene.things)
        places = [(thing.column, thing.row) for thing in scene.things if not thing.hidden]
        assert len(set(places)) == len(places)
    smudged = [scene for scene in scenes if scene.smudge is not None]
    empty = [s for s in smudged if s.smudge is not None and s.smudge.suggestion not in s.present]
    assert 0.25 < len(empty) / len(smudged) < 0.45
    flags = Counter(
        flag
        for scene in scenes
        for thing in scene.things
        for flag in ("faint", "hidden", "occluded")
        if getattr(thing, flag)
    )
    assert min(flags[flag] for flag in ("faint", "hidden", "occluded")) > 30


def test_a_poster_makes_nothing_present() -> None:
    scenes = [make_scene(seed) for seed in range(400)]
    posters = [scene for scene in scenes if scene.poster is not None]
    assert any(s.poster is not None and s.poster.category not in s.present for s in posters)
    assert all((s.patches[1] == KIND_POSTER).any() for s in posters)


def test_patch_labels_name_what_is_drawn() -> None:
    for scene in (make_scene(seed) for seed in range(200)):
        category, kind = scene.patches
        on_objects = category[kind == KIND_OBJECT]
        assert {CATEGORIES[i] for i in on_objects} <= scene.present
        assert (category[kind == KIND_SMUDGE] == NO_CATEGORY).all()
        assert (kind == KIND_SMUDGE).any() == (scene.smudge is not None)


def test_black_and_noise() -> None:
    assert not black_image().any()
    assert np.array_equal(noise_image(3), noise_image(3))
    assert not np.array_equal(noise_image(3), noise_image(4))
    assert abs(float(noise_image(0).mean()) - 128) < 2
