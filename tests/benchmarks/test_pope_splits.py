"""Generated POPE questions follow SPEC 3.3: positives in order, negatives by kind, balance, seeds."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probekit.benchmarks.pope import load_questions
from probekit.benchmarks.pope_splits import (
    KINDS,
    PopeSplit,
    generate_split,
    load_annotations,
    save_split,
    with_article,
)
from probekit.errors import InputError

# dog is in the most pictures; kite comes with dog twice, with bus once; oven with bus twice.
WORLD = {
    "1.png": ["dog", "kite", "cup"],
    "2.png": ["dog", "kite", "person"],
    "3.png": ["bus", "oven", "dog"],
    "4.png": ["bus", "oven", "kite"],
    "5.png": ["person", "dog", "umbrella"],
    "6.png": ["cup", "person"],
}


def asked(split: PopeSplit) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for row in split.rows:
        words = row["text"].removeprefix("Is there ").removesuffix(" in the image?").split(" ", 1)[1]
        found.setdefault(row["image"], []).append((words, row["label"]))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_positives_are_the_first_objects_and_labels_alternate(kind: str) -> None:
    split = generate_split(WORLD, kind, seed=4)
    assert [row["label"] for row in split.rows] == ["yes", "no"] * 15
    assert [row["question_id"] for row in split.rows] == list(range(1, 31))
    for image, questions in asked(split).items():
        assert [name for name, label in questions if label == "yes"] == WORLD[image]
        negatives = [name for name, label in questions if label == "no"]
        assert len(set(negatives)) == 3
        assert not set(negatives) & set(WORLD[image])
    assert split.skipped == ("6.png",)


def test_popular_negatives_are_the_most_frequent_absent_ones() -> None:
    # Pictures with each object, of the five used: dog 4, kite 3, then bus, oven, person 2, cup 1, umbrella 1.
    # Counts by hand: dog 1,2,3,5; kite 1,2,4; bus 3,4; oven 3,4; person 2,5; cup 1; umbrella 5.
    negatives = {
        image: [name for name, label in questions if label == "no"]
        for image, questions in asked(generate_split(WORLD, "popular")).items()
    }
    assert negatives["1.png"] == ["bus", "oven", "person"]
    assert negatives["3.png"] == ["kite", "person", "cup"]
    assert negatives["4.png"] == ["dog", "person", "cup"]


def test_adversarial_negatives_go_with_their_own_positive() -> None:
    pairs = {
        image: [(a[0], b[0]) for a, b in zip(found[::2], found[1::2], strict=True)]
        for image, found in asked(generate_split(WORLD, "adversarial")).items()
    }
    # With dog: kite 2, person 2, bus 1, cup 1, oven 1, umbrella 1. In 1.png kite and cup are there.
    assert pairs["1.png"][0] == ("dog", "person")
    # With kite: dog 2, then bus, cup, oven, person 1 each; dog, cup are there and person is asked: bus.
    assert pairs["1.png"][1] == ("kite", "bus")
    # With cup: dog and kite only, both there: any absent one that is not asked yet.
    assert pairs["1.png"][2][1] in {"oven", "umbrella"}
    # With bus: oven 2, dog 1, kite 1; in 4.png oven and kite are there.
    assert pairs["4.png"][0] == ("bus", "dog")


def test_the_same_seed_gives_the_same_questions_and_another_one_others() -> None:
    assert generate_split(WORLD, "random", seed=1) == generate_split(WORLD, "random", seed=1)
    assert generate_split(WORLD, "random", seed=1).rows != generate_split(WORLD, "random", seed=2).rows


def test_positives_and_pictures_are_the_same_for_every_kind() -> None:
    many = {f"{i}.png": WORLD[f"{i % 5 + 1}.png"] for i in range(40)}
    splits = [generate_split(many, kind, images=12, seed=3) for kind in KINDS]
    positives = [[r for q, r in enumerate(s.rows) if q % 2 == 0] for s in splits]
    assert positives[0] == positives[1] == positives[2]
    assert splits[0].images == 12


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.text("abcdef", min_size=1, max_size=3),
        st.lists(st.sampled_from(["ant", "bus", "cup", "dog", "egg", "fan", "gnu"]), max_size=7),
        max_size=8,
    ),
    st.sampled_from(KINDS),
    st.integers(1, 3),
)
def test_any_world_gives_balanced_true_questions_or_a_refusal(
    world: dict[str, list[str]], kind: str, pairs: int
) -> None:
    try:
        split = generate_split(world, kind, pairs=pairs)
    except InputError:
        known = {name for found in world.values() for name in found}
        assert all(not pairs <= len(set(found)) <= len(known) - pairs for found in world.values())
        return
    labels = Counter(row["label"] for row in split.rows)
    assert labels["yes"] == labels["no"] == pairs * split.images
    for image, questions in asked(split).items():
        assert len({name for name, _ in questions}) == 2 * pairs
        assert all((name in world[image]) == (label == "yes") for name, label in questions)


def test_more_pictures_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match="5 of 6 pictures"):
        generate_split(WORLD, "random", images=6)
    with pytest.raises(InputError, match="unknown kind"):
        generate_split(WORLD, "typical")


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("oven", "an"),
        ("umbrella", "an"),
        ("unicorn", "a"),
        ("uniform", "a"),
        ("unidentified object", "an"),
        ("utensil", "a"),
        ("hourglass", "an"),
        ("horse", "a"),
        ("one-way sign", "a"),
        ("orange", "an"),
        ("traffic light", "a"),
        ("airplane", "an"),
        ("European flag", "a"),
        ("egg", "an"),
    ],
)
def test_articles_go_by_sound(noun: str, expected: str) -> None:
    assert with_article(noun) == f"{expected} {noun}"


def test_a_saved_split_is_a_file_of_questions(tmp_path: Path) -> None:
    split = generate_split(WORLD, "popular", suffix=" Answer yes or no.")
    save_split(split, tmp_path / "popular.jsonl")
    questions = load_questions(tmp_path / "popular.jsonl")
    assert (len(questions), questions.yes) == (30, 15)
    assert questions.questions[0].object == "dog"
    assert questions.questions[0].text == "Is there a dog in the image? Answer yes or no."


def test_three_kinds_of_annotation_file_are_read(tmp_path: Path) -> None:
    lines = tmp_path / "references.jsonl"
    lines.write_text("".join(json.dumps({"image": i, "objects": o}) + "\n" for i, o in WORLD.items()))
    mapping = tmp_path / "objects.json"
    mapping.write_text(json.dumps(WORLD))
    names = sorted({name for found in WORLD.values() for name in found})
    coco = tmp_path / "instances.json"
    coco.write_text(
        json.dumps(
            {
                "images": [{"id": 10 + i, "file_name": image} for i, image in enumerate(WORLD)],
                "categories": [{"id": i, "name": name} for i, name in enumerate(names)],
                "annotations": [
                    {"image_id": 10 + i, "category_id": names.index(name)}
                    for i, found in enumerate(WORLD.values())
                    for name in (*found, found[0])
                ],
            }
        )
    )
    expected = {image: tuple(found) for image, found in WORLD.items()}
    assert load_annotations(lines) == load_annotations(mapping) == load_annotations(coco) == expected


def test_annotation_faults_are_named(tmp_path: Path) -> None:
    lines = tmp_path / "references.jsonl"
    lines.write_text('{"image": "a", "objects": ["dog"]}\n{"image": "a", "objects": ["dog"]}\n')
    with pytest.raises(InputError, match=r"line 2.*twice"):
        load_annotations(lines)
    lines.write_text('{"image": "a", "objects": "dog"}\n')
    with pytest.raises(InputError, match=r"line 1.*not a list of names"):
        load_annotations(lines)
    mapping = tmp_path / "objects.json"
    mapping.write_text('{"a.png": [1]}')
    with pytest.raises(InputError, match=r"picture 'a\.png'"):
        load_annotations(mapping)
    mapping.write_text("[]")
    with pytest.raises(InputError, match="found list"):
        load_annotations(mapping)
    mapping.write_text('{"images": [{}], "annotations": [], "categories": []}')
    with pytest.raises(InputError, match="COCO"):
        load_annotations(mapping)
