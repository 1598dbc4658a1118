"""Files of yes/no questions: released ones, arrays, one's own; and every fault named by line. TRAPS 5."""

import json
from pathlib import Path

import pytest

from probekit.benchmarks.pope import load_questions, object_of
from probekit.errors import InputError

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"


def rows(count: int = 4) -> list[dict]:
    return [
        {
            "question_id": i + 1,
            "image": f"{i // 2:06d}.png",
            "text": f"Is there a {'dog' if i % 2 else 'bus'} in the image?",
            "label": "no" if i % 2 else "yes",
        }
        for i in range(count)
    ]


def write(path: Path, values: list[dict]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


@pytest.mark.skipif(not REAL.exists(), reason="the shared data are not beside the checkout")
@pytest.mark.parametrize("kind", ["random", "popular", "adversarial"])
def test_released_files_are_whole_and_known_by_hash(kind: str) -> None:
    questions = load_questions(REAL / f"coco_pope_{kind}.json")
    source = questions.source()
    assert (len(questions), questions.yes, source["images"]) == (3000, 1500, 500)
    assert source["release"] == f"POPE coco {kind}, 3,000"
    assert source["without_object"] == 0
    assert [q.question_id for q in questions] == [str(i) for i in range(1, 3001)]
    assert [q.label.value for q in questions] == ["yes", "no"] * 1500
    # 79 of COCO's 80 categories are asked for; none is a leftover of article or template.
    assert all(len(q.object.split()) <= 3 and not q.object.startswith(("a ", "an ")) for q in questions)


@pytest.mark.skipif(not REAL.exists(), reason="the shared data are not beside the checkout")
def test_the_released_article_error_is_read_as_the_object() -> None:
    wrong = load_questions(REAL / "coco_pope_random.json").questions[2785]
    assert (wrong.question_id, wrong.object) == ("2786", "traffic light")
    assert "an traffic light" in wrong.text


@pytest.mark.skipif(not REAL.exists(), reason="the shared data are not beside the checkout")
def test_adversarial_labels_agree_with_the_annotations() -> None:
    objects = json.loads((REAL / "coco_objects.json").read_text())
    questions = load_questions(REAL / "coco_pope_adversarial.json")
    for q in questions:
        there = q.object in objects[str(int(q.image_id.rsplit("_", 1)[1]))]
        assert there == (q.label == "yes"), q


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is there a snowboard in the image?", "snowboard"),
        ("Is there an traffic light in the image?", "traffic light"),
        ("Is there a airplane in the image?", "airplane"),
        ("Is there a skis in the image?", "skis"),
        ("Is there an oven in the imange?", "oven in the imange"),
        ("Are there any people in this picture?", "people"),
        ("Is there snow in the image? Answer yes or no.", "snow"),
        ("Is there a bus?", "bus"),
        ("Can you see a dining table in the photo?", "dining table"),
        ("What is this?", None),
        ("Is the sky blue in the image?", None),
    ],
)
def test_the_object_is_read_whatever_the_article(text: str, expected: str | None) -> None:
    assert object_of(text) == expected


def test_an_array_is_read_like_lines(tmp_path: Path) -> None:
    lines = load_questions(write(tmp_path / "lines.json", rows()))
    array = tmp_path / "array.json"
    array.write_text(json.dumps(rows(), indent=1))
    again = load_questions(array)
    assert [(q.question_id, q.image, q.text, q.label) for q in lines] == [
        (q.question_id, q.image, q.text, q.label) for q in again
    ]
    assert [q.line for q in again] == [2, 8, 14, 20]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": None}, "missing 'label'"),
        ({"label": "maybe"}, "label 'maybe' is neither 'yes' nor 'no'"),
        ({"label": True}, "label True is neither"),
        ({"label": 1}, "label 1 is neither"),
        ({"text": None}, "missing 'text'"),
        ({"text": ""}, "is not a question"),
        ({"image": None}, "missing 'image'"),
        ({"image": ["a.png"]}, "is not a file name"),
        ({"question_id": 1}, "question_id '1' was already used in line 1"),
    ],
)
def test_faults_name_file_and_line(tmp_path: Path, change: dict, message: str) -> None:
    values = rows()
    values[2] = {key: value for key, value in {**values[2], **change}.items() if value is not None}
    with pytest.raises(InputError, match=r"own\.jsonl, line 3") as fault:
        load_questions(write(tmp_path / "own.jsonl", values))
    assert message in str(fault.value)
    array = tmp_path / "array.json"
    array.write_text(json.dumps(values, indent=1))
    # The array's first row begins in line 2 and each takes six lines.
    with pytest.raises(InputError, match=r"array\.json, line 14"):
        load_questions(array)


def test_labels_may_be_written_with_capitals(tmp_path: Path) -> None:
    values = rows()
    values[0]["label"] = "Yes "
    assert load_questions(write(tmp_path / "own.jsonl", values)).yes == 2


def test_broken_files_are_named(tmp_path: Path) -> None:
    for name, content in (
        ("cut.json", '[{"question_id": 1,\n "image": "a.png"'),
        ("comma.json", '[{"question_id": 1, "image": "a", "text": "t", "label": "no"}\n{}]'),
        ("number.json", "[1]"),
        ("words.jsonl", "hello\n"),
        ("empty.jsonl", ""),
        ("nothing.json", "[]"),
    ):
        path = tmp_path / name
        path.write_text(content)
        with pytest.raises(InputError, match=name):
            load_questions(path)
    with pytest.raises(InputError, match="no such file"):
        load_questions(tmp_path / "missing.json")
    with pytest.raises(InputError, match="folder"):
        load_questions(tmp_path)


def test_the_exclusion_list_is_off_by_default_and_reported_when_on(tmp_path: Path) -> None:
    path = write(tmp_path / "own.jsonl", rows())
    without = load_questions(path).source()
    assert (without["questions"], without["excluded"], without["exclusion_list"]) == (4, [], None)
    wrong = tmp_path / "wrong_labels.txt"
    wrong.write_text("# labels seen to be wrong\n2  # a dog behind the fence\n\n")
    source = load_questions(path, exclude=wrong).source()
    assert (source["rows"], source["questions"], source["excluded"]) == (4, 3, ["2"])
    assert str(source["exclusion_list"]).startswith("wrong_labels.txt sha256 ")
    wrong.write_text("1\n99\n")
    with pytest.raises(InputError, match=r"wrong_labels\.txt, line 2.*\n?.*'99'"):
        load_questions(path, exclude=wrong)


def test_questions_become_examples(tmp_path: Path) -> None:
    example = next(load_questions(write(tmp_path / "own.jsonl", rows())).examples())
    assert (example.example_id, example.image_id, example.image) == ("1", "000000", "000000.png")
    assert (example.question, example.reference) == ("Is there a bus in the image?", "yes")
