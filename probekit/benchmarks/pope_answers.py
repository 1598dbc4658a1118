"""A model's answers to yes/no questions, joined to them by question id."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from probekit.benchmarks.pope import PopeQuestions
from probekit.errors import InputError
from probekit.files import Json, read_jsonl, sha256

NAMED_IN_ERRORS = 8
"""How many ids an error lists before it only counts the rest."""


@dataclass(frozen=True)
class PopeAnswers:
    """One answer for every question, in the questions' order.

    Attributes:
        path: the file.
        sha256: digest of its bytes.
        texts: what the model wrote.
        token_ids: generated ids of each answer; ``None`` where the file has none.
        rows: answers in the file.
        places: place of each answer among them, from 0; arrays saved beside the file have a row for
            each answer in that order.
        numbers: further columns that were asked for, NaN where a line has null or nothing.
    """

    path: str
    sha256: str
    texts: tuple[str, ...]
    token_ids: tuple[tuple[int, ...] | None, ...]
    rows: int
    places: tuple[int, ...]
    numbers: Mapping[str, Float[np.ndarray, "question"]]

    def __len__(self) -> int:
        return len(self.texts)


def load_answers(path: Path, questions: PopeQuestions, columns: Sequence[str] = ()) -> PopeAnswers:
    """Read JSON Lines of ``question_id`` and ``answer`` (or ``text``), in any order.

    ``token_ids`` is kept; ``image`` and ``label`` are compared with the question's when given; answers
    to questions that the exclusion list took out are passed over.

    Args:
        columns: names of numbers to keep from each line, such as an external image-text score.

    Raises:
        InputError: a question has no answer or two, an answer has no question, or an answer was given
            to another picture or label, or a column is nowhere; ids, file and line are named.
    """
    wanted = {question.question_id: question for question in questions}
    passed_over = set(questions.excluded)
    found: dict[str, tuple[int, int, Json]] = {}
    strangers: list[tuple[int, str]] = []
    for place, (line, row) in enumerate(read_jsonl(path, required=("question_id",))):
        where = f"{path}, line {line}"
        question_id = str(row["question_id"])
        text = row.get("answer", row.get("text"))
        if not isinstance(text, str):
            raise InputError(
                "missing 'answer'" if text is None else f"answer {text!r} is not text", where=where
            )
        if question_id in found:
            raise InputError(
                f"question_id {question_id!r} was already answered in line {found[question_id][0]}",
                where=where,
            )
        found[question_id] = (line, place, {**row, "answer": text})
        if question_id in passed_over:
            continue
        if question_id not in wanted:
            strangers.append((line, question_id))
            continue
        question = wanted[question_id]
        for name, expected in (("image", question.image), ("label", question.label.value)):
            given = row.get(name)
            if given is not None and str(given).strip().casefold() != expected.casefold():
                raise InputError(
                    f"{name} {given!r} of question {question_id!r} is {expected!r} in {questions.path}",
                    where=where,
                    hint="The answers belong to another file of questions.",
                )
    if strangers:
        raise InputError(
            f"answers to {len(strangers)} unknown questions: {_some([i for _, i in strangers])}",
            where=f"{path}, line {strangers[0][0]}",
            hint=f"The questions are those of {questions.path}.",
        )
    missing = [question_id for question_id in wanted if question_id not in found]
    if missing:
        raise InputError(
            f"no answer to {len(missing)} of {len(wanted)} questions: {_some(missing)}", where=str(path)
        )
    rows = [found[question_id] for question_id in wanted]
    return PopeAnswers(
        path=str(path),
        sha256=sha256(path),
        texts=tuple(row["answer"] for _, _, row in rows),
        token_ids=tuple(_ids(row, f"{path}, line {line}") for line, _, row in rows),
        rows=len(found),
        places=tuple(place for _, place, _ in rows),
        numbers={name: _numbers(name, rows, str(path)) for name in columns},
    )


def _ids(row: Json, where: str) -> tuple[int, ...] | None:
    ids = row.get("token_ids")
    if ids is None:
        return None
    if not isinstance(ids, list) or not all(isinstance(i, int) and not isinstance(i, bool) for i in ids):
        raise InputError("token_ids is not a list of whole numbers", where=where)
    return tuple(ids)


def _numbers(name: str, rows: Sequence[tuple[int, int, Json]], path: str) -> Float[np.ndarray, "question"]:
    if not any(name in row for _, _, row in rows):
        raise InputError(f"no line has a column {name!r}", where=path)
    values = np.full(len(rows), np.nan)
    for at, (line, _, row) in enumerate(rows):
        value = row.get(name)
        if value is None:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise InputError(f"{name} {value!r} is not a number", where=f"{path}, line {line}")
        values[at] = value
    return values


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - NAMED_IN_ERRORS
    return ", ".join(ids[:NAMED_IN_ERRORS]) + (f" and {more} more" if more > 0 else "")
