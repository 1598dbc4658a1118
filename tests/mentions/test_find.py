"""Finding object words: the traps, exact spans, categories, linear time."""

import json
import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.errors import InputError
from probekit.mentions import Vocabulary, find, other_senses
from probekit.mentions.coco import COCO_CATEGORIES

SHARED = Path(__file__).resolve().parents[3] / "shared"
COCO = Vocabulary.coco()


def pairs(text: str, vocabulary: Vocabulary = COCO) -> list[tuple[str, str]]:
    return [(hit.surface, hit.category) for hit in find(text, vocabulary)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("an orange cat", [("cat", "cat")]),
        ("an orange on a plate", []),
        ("a mouse pad", []),
        ("a mouse next to a mouse pad", [("mouse", "mouse")]),
        ("a pitcher of water", []),
        ("the bow of a boat", [("boat", "boat")]),
        ("a zebra crossing", []),
        ("a zebra crossing the road", [("zebra", "zebra")]),
        ("a train crossing", []),
        ("a train crossing a bridge", [("train", "train")]),
        ("a man skis down a slope", [("man", "person")]),
        ("a man on skis down a slope", [("man", "person"), ("skis", "skis")]),
        ("a kite flying in the sky", [("kite", "kite")]),
        ("the bus stops here, at the bus stop", [("bus", "bus")]),
        ("a bike stands by the bike rack", [("bike", "bicycle")]),
        ("a baby bottle", [("bottle", "bottle")]),
        ("a remote village", []),
        ("a remote and a remote control", [("remote", "remote"), ("remote control", "remote")]),
        ("a hot dog", [("hot dog", "hot dog")]),
        ("two hot-dogs", [("hot-dogs", "hot dog")]),
        ("a teddy bear", [("teddy bear", "teddy bear")]),
        ("a man on a motor bike", [("man", "person"), ("motor bike", "motorcycle")]),
        ("a slice of cheesecake", [("cheesecake", "cake")]),
        ("an iPhone on the desk", [("iPhone", "cell phone")]),
        ("a cell phone", [("cell phone", "cell phone")]),
        ("the toilet seat", [("toilet", "toilet")]),
        ("a toilet with its seat up beside a dog", [("toilet", "toilet"), ("dog", "dog")]),
        ("a baby bird", [("bird", "bird")]),
        ("a baby and a bird", [("baby", "person"), ("bird", "bird")]),
        ("a slice of carrot cake", [("cake", "cake")]),
        ("a table, a seat and a container", []),
        ("a dining table", [("dining table", "dining table")]),
        ("a bird's eye view", []),
        ("it is five o'clock", []),
        ("the man wants to tie a tie", [("man", "person"), ("tie", "tie")]),
        ("a sink in the kitchen", [("sink", "sink")]),
        ("A cat walks by", [("cat", "cat")]),
        ("the BUS, the Bench", [("BUS", "bus"), ("Bench", "bench")]),
        ("a scarecrow, category, carpet, planet, boating", []),
        ("the dog's bowl", [("dog", "dog"), ("bowl", "bowl")]),
        ("a traffic\nlight", [("traffic\nlight", "traffic light")]),
        ("a glass of wine", [("glass of wine", "wine glass")]),
        ("a microwave oven", [("microwave oven", "microwave")]),
        ("", []),
    ],
)
def test_which_words_are_objects(text: str, expected: list[tuple[str, str]]) -> None:
    assert pairs(text) == expected


def test_another_sense_is_hidden_and_says_why() -> None:
    (hidden,) = other_senses("a zebra crossing near a school", COCO)
    assert (hidden.surface, hidden.category, hidden.expression) == ("zebra", "zebra", "zebra crossing")


@pytest.mark.parametrize(
    ("word", "category"),
    [
        ("people", "person"),
        ("knives", "knife"),
        ("mice", "mouse"),
        ("skis", "skis"),
        ("buses", "bus"),
        ("wine glasses", "wine glass"),
        ("men", "person"),
        ("benches", "bench"),
        ("puppies", "dog"),
        ("scissors", "scissors"),
        ("toothbrushes", "toothbrush"),
        ("teddy bears", "teddy bear"),
        ("sheep", "sheep"),
    ],
)
def test_plurals(word: str, category: str) -> None:
    assert pairs(f"There are {word}.") == [(word, category)]


def test_every_category_is_found_by_its_own_name_but_the_excluded_one() -> None:
    assert set(COCO.categories) == set(COCO_CATEGORIES) - {"orange"}
    assert set(COCO.exclusions) == {"orange"}
    for category in COCO.categories:
        assert pairs(f"Here is the {category}.") == [(category, category)], category


def test_every_occurrence_with_its_own_span() -> None:
    text = "A hot stove. A hot dog. A hot dog."
    assert [(hit.start, hit.end) for hit in find(text, COCO) if hit.category == "hot dog"] == [
        (15, 22),
        (26, 33),
    ]


@given(
    st.lists(st.sampled_from(["dog", "Hot dogs", "日本", "🐕", "İstanbul", "ẞ", "\u0301", "a", "\n", "bus."]))
)
def test_spans_are_spans_of_the_original_text(words: list[str]) -> None:
    text = " ".join(words)
    hits = find(text, COCO)
    assert all(text[hit.start : hit.end] == hit.surface for hit in hits)
    assert all(before.end <= after.start for before, after in pairwise(hits))
    single = re.findall(r"(?i)\bdog\b(?! s)|hot dogs|\bbus\b", text)
    assert len(hits) == len(single)


def test_time_is_linear() -> None:
    def seconds(text: str) -> float:
        start = time.perf_counter()
        find(text, COCO)
        return time.perf_counter() - start

    for unit in ("hot ", "the dog and a traffic light ", "baby baby bird ", "a" * 40, "( [ ", "-"):
        short, long = seconds(unit * (20_000 // len(unit))), seconds(unit * (200_000 // len(unit)))
        assert long < 40 * short + 0.5, unit


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("categories: {dog: [", "not YAML"),
        ("[1, 2]", "needs `categories`"),
        ("categories: {dog: [pup], cat: [pup]}", "'pup' already belongs to 'dog'"),
        ("categories: {dog: [3]}", "category 'dog'"),
        ("categories: {dog: ['dog (park']}", "not a form"),
        ("categories: {dog: []}\nwords: []", "unknown keys: words"),
    ],
)
def test_bad_vocabulary_files_are_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        Vocabulary.load(path)
    assert "mine.yaml" in str(caught.value)


def test_own_vocabulary_yaml_and_json_agree(tmp_path: Path) -> None:
    value = {"categories": {"wolf": ["wolf/wolves", "she-wolf/"]}, "blockers": ["wolf (spider|fish)+"]}
    (tmp_path / "mine.json").write_text(json.dumps(value))
    (tmp_path / "mine.yaml").write_text(json.dumps(value))
    text = "Wolves, a she-wolf, a wolf, wolf spiders and a wolf fish."
    for name in ("mine.json", "mine.yaml"):
        vocabulary = Vocabulary.of(str(tmp_path / name))
        assert pairs(text, vocabulary) == [("Wolves", "wolf"), ("she-wolf", "wolf"), ("wolf", "wolf")]
        assert len(other_senses(text, vocabulary)) == 2


def test_unknown_names_suggest_the_closest() -> None:
    with pytest.raises(InputError, match="Did you mean name-bench"):
        Vocabulary.of("namebench")


def test_digest_follows_the_words() -> None:
    assert Vocabulary.coco().digest == COCO.digest != Vocabulary.named("chair").digest


def test_agrees_with_labelled_mentions() -> None:
    """Each labelled mention whose words belong to the narrow list is found at its span."""
    path = SHARED / "data" / "real" / "usage_dev.jsonl"
    if not path.is_file():
        pytest.skip("no shared data")
    missed, checked = [], 0
    for line in path.read_text().splitlines():
        row = json.loads(line)
        surface = row["caption"][row["start"] : row["end"]].lower()
        if row["usage"] in ("not_object", "generic") or surface not in COCO.words:
            continue
        checked += 1
        hits = find(row["caption"], COCO)
        if not any(hit.start <= row["start"] < hit.end and hit.category == row["category"] for hit in hits):
            missed.append((row["id"], surface, row["caption"][max(0, row["start"] - 20) : row["end"] + 20]))
    assert missed == []
    assert checked == 339
