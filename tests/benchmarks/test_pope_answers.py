"""Answers joined to questions by id; ids that do not join are named."""

import json
from pathlib import Path

import pytest

from probekit.benchmarks.pope import PopeQuestions, load_questions
from probekit.benchmarks.pope_answers import load_answers
from probekit.errors import InputError


@pytest.fixture
def questions(tmp_path: Path) -> PopeQuestions:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {
                    "question_id": i,
                    "image": f"{i // 4}.png",
                    "text": "Is there a bus in the image?",
                    "label": ("no", "yes")[i % 2],
                }
            )
            + "\n"
            for i in range(1, 21)
        )
    )
    return load_questions(path)


def write(path: Path, values: list[dict]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def test_any_order_is_joined_and_places_are_kept(tmp_path: Path, questions: PopeQuestions) -> None:
    values = [{"question_id": i, "answer": f"a{i}", "token_ids": [i]} for i in range(20, 0, -1)]
    answers = load_answers(write(tmp_path / "answers.jsonl", values), questions)
    assert answers.texts == tuple(f"a{i}" for i in range(1, 21))
    assert answers.token_ids[4] == (5,)
    assert answers.places == tuple(range(19, -1, -1))


def test_ids_may_be_text_and_the_answer_may_be_called_text(tmp_path: Path, questions: PopeQuestions) -> None:
    values = [{"question_id": str(i), "text": "Yes"} for i in range(1, 21)]
    answers = load_answers(write(tmp_path / "answers.jsonl", values), questions)
    assert set(answers.texts) == {"Yes"}
    assert answers.token_ids == (None,) * 20


def test_missing_answers_are_named_and_counted(tmp_path: Path, questions: PopeQuestions) -> None:
    values = [{"question_id": i, "answer": "Yes"} for i in (1, 2, 3)]
    with pytest.raises(InputError, match="no answer to 17 of 20") as fault:
        load_answers(write(tmp_path / "answers.jsonl", values), questions)
    assert "4, 5, 6, 7, 8, 9, 10, 11 and 9 more" in str(fault.value)


@pytest.mark.parametrize(
    ("extra", "line", "message"),
    [
        ({"question_id": 3, "answer": "No"}, 21, "'3' was already answered in line 3"),
        ({"question_id": 99, "answer": "No"}, 21, "1 unknown questions: 99"),
        ({"question_id": 3}, 21, "missing 'answer'"),
        ({"question_id": 3, "answer": 1}, 21, "answer 1 is not text"),
        ({"answer": "No"}, 21, "missing 'question_id'"),
    ],
)
def test_faults_name_file_and_line(
    tmp_path: Path, questions: PopeQuestions, extra: dict, line: int, message: str
) -> None:
    values = [{"question_id": i, "answer": "Yes"} for i in range(1, 21)] + [extra]
    with pytest.raises(InputError, match=rf"answers\.jsonl, line {line}") as fault:
        load_answers(write(tmp_path / "answers.jsonl", values), questions)
    assert message in str(fault.value)


@pytest.mark.parametrize("wrong", [{"label": "no"}, {"image": "other.png"}])
def test_answers_to_another_file_are_refused(tmp_path: Path, questions: PopeQuestions, wrong: dict) -> None:
    values = [{"question_id": i, "answer": "Yes"} for i in range(1, 21)]
    values[4] |= wrong
    with pytest.raises(InputError, match=r"line 5.*\n?.*question '5'"):
        load_answers(write(tmp_path / "answers.jsonl", values), questions)


def test_answers_to_excluded_questions_are_passed_over(tmp_path: Path, questions: PopeQuestions) -> None:
    listed = tmp_path / "exclude.txt"
    listed.write_text("7\n")
    fewer = load_questions(Path(questions.path), exclude=listed)
    values = [{"question_id": i, "answer": f"a{i}"} for i in range(1, 21)]
    answers = load_answers(write(tmp_path / "answers.jsonl", values), fewer)
    assert len(answers) == 19
    assert "a7" not in answers.texts
    assert answers.places[6] == 7


def test_token_ids_are_whole_numbers(tmp_path: Path, questions: PopeQuestions) -> None:
    values = [{"question_id": i, "answer": "Yes", "token_ids": ["x"]} for i in range(1, 21)]
    with pytest.raises(InputError, match="token_ids"):
        load_answers(write(tmp_path / "answers.jsonl", values), questions)
