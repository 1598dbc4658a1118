"""The four conditions: black and noise images, and the choice of an unrelated image."""

import numpy as np
import pytest
from PIL import Image

from probekit.benchmarks.conditions import (
    Condition,
    blind_image,
    choose_conflict,
    lemma,
    noise_image,
    objects_named,
    pose,
    under,
)
from probekit.benchmarks.example import Example
from probekit.errors import InputError


def test_blind_is_black_224() -> None:
    image = blind_image()
    assert (image.size, image.mode) == ((224, 224), "RGB")
    assert np.asarray(image).max() == 0


def test_noise_has_the_stated_moments_and_the_size_of_blind() -> None:
    values = np.asarray(noise_image("a", seed=1)).astype(float)
    assert values.shape == (224, 224, 3)
    # N(128, 50^2) clipped to [0, 255] loses 0.5 % on either side; the clipped SD is 49.1.
    assert values.mean() == pytest.approx(128, abs=0.6)
    assert values.std() == pytest.approx(49.1, abs=0.5)
    assert (values == 0).mean() == pytest.approx(0.0052, abs=0.002)
    assert abs(np.corrcoef(values[:, :-1].ravel(), values[:, 1:].ravel())[0, 1]) < 0.02


def test_noise_depends_on_sample_and_seed_alone() -> None:
    first = np.asarray(noise_image("a", seed=1))
    assert (first == np.asarray(noise_image("a", seed=1))).all()
    assert (first != np.asarray(noise_image("b", seed=1))).any()
    assert (first != np.asarray(noise_image("a", seed=2))).any()


def test_under_gives_rgb_and_needs_a_conflict_image() -> None:
    grey = Image.new("L", (10, 12), 7)
    assert under(Condition.FULL, grey, "a").mode == "RGB"
    assert under(Condition.BLIND, grey, "a").size == (224, 224)
    assert under(Condition.CONFLICT, grey, "a", conflict=grey).size == (10, 12)
    with pytest.raises(InputError, match="sample a"):
        under(Condition.CONFLICT, grey, "a")


def test_posing_keeps_the_image_id_so_that_conditions_pair() -> None:
    example = Example.ask("q1", "pic", "pic.png", "What?", reference="x")
    blind = pose(example, Condition.BLIND, "blind.png")
    assert (blind.example_id, blind.image_id, blind.image, blind.condition) == (
        "q1:blind",
        "pic",
        "blind.png",
        "blind",
    )
    assert blind.question == "What?"
    assert pose(example, Condition.FULL).example_id == "q1"
    with pytest.raises(InputError):
        pose(example, Condition.NOISE)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Dogs", "dog"),
        ("buses", "bus"),
        ("bus", "bus"),
        ("wine glasses", "wine glass"),
        ("people", "person"),
        ("knives", "knife"),
        ("skis", "skis"),
        ("benches", "bench"),
        ("boxes", "box"),
        ("puppies", "puppy"),
        ("traffic lights", "traffic light"),
        ("tennis", "tennis"),
        ("mice", "mouse"),
        ("potatoes", "potato"),
    ],
)
def test_lemmas(word: str, expected: str) -> None:
    assert lemma(word) == expected


POOL = {"own": ["dog", "car"], "a": ["dogs"], "b": ["puppy", "tree"], "c": ["cat"], "d": ["boat"], "e": []}
SYNONYMS = {"puppy": "dog", "kitten": "cat"}


def test_conflict_image_shares_no_object_by_lemma_and_synonym() -> None:
    for seed in range(30):
        found = choose_conflict("s", "own", ["Dogs"], POOL, synonyms=SYNONYMS, seed=seed)
        assert found.image_id in ("c", "d")
        assert (found.reason, found.avoided, found.candidates) == ("no_shared_object", ("dog",), 2)
    without = {choose_conflict("s", "own", ["dog"], POOL, seed=s).image_id for s in range(60)}
    assert "b" in without, "without synonyms a puppy is no dog, or the test proves nothing"


def test_choice_is_seeded_per_sample_and_blind_to_the_order_of_the_pool() -> None:
    backwards = dict(reversed(POOL.items()))
    for sample in "abcdefgh":
        one = choose_conflict(sample, "own", ["dog"], POOL, seed=3)
        assert one == choose_conflict(sample, "own", ["dog"], backwards, seed=3)
    assert len({choose_conflict(str(i), "own", ["dog"], POOL).image_id for i in range(40)}) == 3


def test_a_question_without_objects_asks_only_for_another_picture() -> None:
    pool = {"own": ["dog"], "same": ["dogs"], "other": ["dog", "cat"]}
    found = choose_conflict("s", "own", [], pool)
    assert (found.image_id, found.reason) == ("other", "differs_in_an_object")


def test_nothing_left_is_a_result_with_a_reason() -> None:
    found = choose_conflict("s", "own", ["dog"], {"own": ["cat"], "a": ["dog"], "b": []})
    assert (found.image_id, found.reason, found.candidates) == (None, "no_candidate", 0)


def test_objects_named_in_a_question_longest_first() -> None:
    vocabulary = ("dog", "hot dog", "traffic light", "light")
    assert objects_named("How many hot dogs are near the traffic lights?", vocabulary) == (
        "hot dog",
        "traffic light",
    )
    assert objects_named("Is the dog left of the light, dog?", vocabulary) == ("dog", "light")
    assert objects_named("What time is it?", vocabulary) == ()
