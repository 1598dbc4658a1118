"""A model's answers to yes/no questions, joined to them by question id."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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
        places: place of each answer among the lines of the file that hold one, from 0; rows of arrays
            saved beside the file are in that order.
    """

    path: str
    sha256: str
    texts: tuple[str, ...]
    token_ids: tuple[tuple[int, ...] | None, ...]
    places: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.texts)


def load_answers(path: Path, questions: PopeQuestions) -> PopeAnswers:
    """Read JSON Lines of ``question_id`` and ``answer`` (or ``text``), in any order.

    ``token_ids`` is kept; ``image`` and ``label`` are compared with the question's when given; answers
    to questions that the exclusion list took out are passed over.

    Raises:
        InputError: a question has no answer or two, an answer has no question, or an answer was given
            to another picture or label; ids, file and line are named.
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
        places=tuple(place for _, place, _ in rows),
    )


def _ids(row: Json, where: str) -> tuple[int, ...] | None:
    ids = row.get("token_ids")
    if ids is None:
        return None
    if not isinstance(ids, list) or not all(isinstance(i, int) and not isinstance(i, bool) for i in ids):
        raise InputError("token_ids is not a list of whole numbers", where=where)
    return tuple(ids)


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - NAMED_IN_ERRORS
    return ", ".join(ids[:NAMED_IN_ERRORS]) + (f" and {more} more" if more > 0 else "")
