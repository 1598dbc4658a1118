"""Readers of VQAv2, GQA, A-OKVQA and plain files in the shapes their publishers ship."""

import json
from pathlib import Path
from typing import Any

import pytest

from probekit.benchmarks.tri_layer import (
    COUNTING,
    SPATIAL,
    read_aokvqa,
    read_gqa_spatial,
    read_plain,
    read_vqa_counting,
)
from probekit.errors import InputError


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def vqa(tmp_path: Path) -> tuple[Path, Path]:
    questions = {
        "info": {},
        "task_type": "Open-Ended",
        "data_type": "mscoco",
        "data_subtype": "val2014",
        "questions": [
            {"image_id": 42, "question": "How many dogs are there?", "question_id": 42000},
            {"image_id": 42, "question": "What colour is the dog?", "question_id": 42001},
            {"image_id": 73, "question": "Count the cars.", "question_id": 73000},
        ],
    }
    annotations = {
        "annotations": [
            {
                "question_id": 42000,
                "image_id": 42,
                "multiple_choice_answer": "2",
                "answers": [
                    {"answer": a, "answer_id": i} for i, a in enumerate(["2"] * 6 + ["3"] * 3 + ["4"])
                ],
            },
            {
                "question_id": 73000,
                "image_id": 73,
                "multiple_choice_answer": "many",
                "answers": [{"answer": str(i), "answer_id": i} for i in range(10)],
            },
        ]
    }
    return write(tmp_path / "q.json", questions), write(tmp_path / "a.json", annotations)


def test_vqa_counting_keeps_counting_questions_with_agreed_answers(tmp_path: Path) -> None:
    dogs, cars = read_vqa_counting(*vqa(tmp_path))
    assert (dogs.example_id, dogs.image, dogs.image_id) == (
        "vqa-42000",
        "COCO_val2014_000000000042.jpg",
        "COCO_val2014_000000000042",
    )
    # An answer counts when three annotators gave it, as the VQA score gives it full marks.
    assert dogs.reference == ("2", "3")
    assert cars.reference == ("many",)


def test_vqa_without_annotation_names_the_question(tmp_path: Path) -> None:
    questions, annotations = vqa(tmp_path)
    write(annotations, {"annotations": []})
    with pytest.raises(InputError, match=r"questions\[0\].*question 42000"):
        list(read_vqa_counting(questions, annotations))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "object is needed"),
        ({"questions": {}}, "'questions'"),
        ({"questions": [3]}, r"questions\[0\]"),
        ({"questions": [{"question": "How many?", "image_id": "x", "question_id": 1}]}, "no annotation"),
        ({"questions": [{"question": "", "image_id": 1, "question_id": 1}]}, "'question' must be a text"),
        ({"questions": [{"question": "How many?", "image_id": 1}]}, "'question_id'"),
    ],
)
def test_faulty_vqa_files(tmp_path: Path, value: Any, message: str) -> None:
    questions = write(tmp_path / "q.json", value)
    with pytest.raises(InputError, match=message):
        list(read_vqa_counting(questions, write(tmp_path / "a.json", {"annotations": []})))


@pytest.mark.parametrize("answers", [[], None, [{"text": "2"}]])
def test_faulty_vqa_answers(tmp_path: Path, answers: Any) -> None:
    questions, _ = vqa(tmp_path)
    bad = write(tmp_path / "b.json", {"annotations": [{"question_id": 42000, "answers": answers}]})
    with pytest.raises(InputError, match=r"annotations\[0\]"):
        list(read_vqa_counting(questions, bad))


def test_gqa_keeps_spatial_questions(tmp_path: Path) -> None:
    path = write(
        tmp_path / "gqa.json",
        {
            "201307251": {
                "question": "Is the cup to the left of the plate?",
                "imageId": "2354786",
                "answer": "yes",
            },
            "201640614": {"question": "What colour is the cup?", "imageId": "1", "answer": "red"},
            "202225914": {"question": "Who is above the bench?", "imageId": "n3", "answer": "man"},
        },
    )
    left, above = read_gqa_spatial(path)
    assert (left.example_id, left.image, left.reference) == ("gqa-201307251", "2354786.jpg", ("yes",))
    assert above.image_id == "n3"


def test_faulty_gqa_names_the_question(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="question 7.*'imageId'"):
        list(read_gqa_spatial(write(tmp_path / "g.json", {"7": {"question": "Left of?", "answer": "x"}})))


AOKVQA = {
    "split": "val",
    "image_id": 299207,
    "question_id": "22MexNkBPpdZGX6sxbxVBH",
    "question": "What is the man by the bags awaiting?",
    "choices": ["skateboarder", "train", "delivery", "cab"],
    "correct_choice_idx": 3,
    "direct_answers": ["ride", "ride", "bus", "taxi", "travelling", "traffic", "taxi", "cab", "cab", "ride"],
    "difficult_direct_answer": False,
    "rationales": [],
}


def test_aokvqa_open_and_with_choices(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [AOKVQA])
    (open_,) = read_aokvqa(path)
    assert open_.image == "000000299207.jpg"
    assert open_.reference is not None
    assert open_.reference[0] == "ride"
    assert len(open_.reference) == 6
    (closed,) = read_aokvqa(path, choices=True)
    assert closed.reference == ("cab",)
    assert closed.question.endswith("skateboarder, train, delivery, cab.")


def test_aokvqa_test_split_has_no_answers(tmp_path: Path) -> None:
    entry = {k: v for k, v in AOKVQA.items() if k not in ("direct_answers", "correct_choice_idx")}
    path = write(tmp_path / "a.json", [entry])
    with pytest.raises(InputError, match=r"entry \[0\].*direct_answers"):
        list(read_aokvqa(path))
    with pytest.raises(InputError, match=r"entry \[0\]"):
        list(read_aokvqa(path, choices=True))


def test_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(
        '{"image": "x/1.png", "question": "How many?", "answer": 2}\n\n'
        '{"id": "b", "image": "2.png", "question": "Where?", "answer": ["left", "west"]}\n'
    )
    first, second = read_plain(path)
    assert (first.example_id, first.image_id, first.reference) == ("1", "1", ("2",))
    assert (second.example_id, second.reference) == ("b", ("left", "west"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"image": "1.png", "question": "Q"}', "line 2: missing 'answer'"),
        ('{"image": "", "question": "Q", "answer": "a"}', "line 2.*must be texts"),
        ('{"image": "1.png", "question": "Q", "answer": []}', "line 2.*'answer'"),
        ('{"image": "1.png", "question": "Q", "answer": true}', "line 2.*'answer'"),
        ('{"id": "1", "image": "1.png", "question": "Q", "answer": "a"}', "line 2.*line 1"),
        ("nonsense", "line 2: not JSON"),
    ],
)
def test_faulty_plain_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"image": "0.png", "question": "Q", "answer": "a"}\n' + line + "\n")
    with pytest.raises(InputError, match=message):
        list(read_plain(path))


def test_filters() -> None:
    assert COUNTING.search("HOW MANY dogs?")
    assert not COUNTING.search("Which country is it?")
    assert SPATIAL.search("What is behind the sofa?")
    assert not SPATIAL.search("Is the sky clear?")
