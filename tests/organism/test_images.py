"""The folder of images: whole files, resumable, never mixed."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from probekit.errors import InputError
from probekit.organism import make_scene, scene_seed, write_images
from probekit.organism.examples import TRAINING_SEEDS


def test_images_and_references(tmp_path: Path) -> None:
    references = write_images(tmp_path, 4, seed=7)
    lines = [json.loads(line) for line in references.read_text().splitlines()]
    assert [line["image"] for line in lines] == [f"{i:06d}.png" for i in range(4)]
    scene = make_scene(scene_seed(7, 2))
    assert np.array_equal(np.asarray(Image.open(tmp_path / "000002.png")), scene.image)
    assert lines[2] == {"image": "000002.png", "objects": sorted(scene.present)}


def test_second_call_keeps_what_is_there_and_adds_what_is_missing(tmp_path: Path) -> None:
    write_images(tmp_path, 3, seed=0)
    before = {p.name: p.stat().st_mtime_ns for p in tmp_path.glob("*.png")}
    (tmp_path / "000001.png").unlink()
    references = write_images(tmp_path, 5, seed=0)
    after = {p.name: p.stat().st_mtime_ns for p in tmp_path.glob("*.png")}
    assert len(after) == len(references.read_text().splitlines()) == 5
    assert after["000000.png"] == before["000000.png"]
    assert not list(tmp_path.glob("*.partial"))


def test_another_seed_is_refused(tmp_path: Path) -> None:
    write_images(tmp_path, 2, seed=0)
    with pytest.raises(InputError, match=r"000000\.png"):
        write_images(tmp_path, 2, seed=1)


def test_a_torn_image_is_named(tmp_path: Path) -> None:
    write_images(tmp_path, 2, seed=0)
    torn = tmp_path / "000001.png"
    torn.write_bytes(torn.read_bytes()[:200])
    with pytest.raises(InputError, match=r"000001\.png"):
        write_images(tmp_path, 2, seed=0)


def test_seeds_stay_clear_of_the_training_scenes() -> None:
    assert scene_seed(999_999, 999_999) < TRAINING_SEEDS
    with pytest.raises(InputError):
        scene_seed(1_000_000, 0)
