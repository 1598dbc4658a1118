"""Verdicts on responses, one column at a time: severity, outcome, correctness, invention, shortcut.

Rules decide first, elsewhere; what a model says here becomes a column beside the responses, and only
that column goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from probekit.errors import InputError
from probekit.judges.base import Judge, MalformedError, Question, Unread, read_answers
from probekit.judges.prompts import fill

Value = int | bool | str


@dataclass(frozen=True)
class Asked:
    """What one column asks.

    Attributes:
        needs: fields of an item.
        answer: field of the answer.
        choices: what it may be.
    """

    needs: tuple[str, ...]
    answer: str
    choices: tuple[Value, ...]


class Column(StrEnum):
    """What is judged; the value names the prompt."""

    SEVERITY = "severity"
    OUTCOME = "outcome"
    CORRECTNESS = "correctness"
    INVENTED = "invented"
    SHORTCUT = "shortcut"


ASKED: Mapping[Column, Asked] = {
    Column.SEVERITY: Asked(("task", "response"), "level", (1, 2, 3, 4, 5)),
    Column.OUTCOME: Asked(
        ("question", "answers", "response"), "outcome", ("correct", "incorrect", "not_attempted")
    ),
    Column.CORRECTNESS: Asked(("question", "answers", "response"), "correct", (True, False)),
    Column.INVENTED: Asked(("question", "response"), "shortcut", (True, False)),
    Column.SHORTCUT: Asked(("question", "shown", "response"), "shortcut", (True, False)),
}
"""Ghost-100's H-Score; DeflectionBench's outcome; the Tri-Layer paper's three response labels."""


def questions(column: Column, items: Sequence[Mapping[str, Any]], *, per_call: int = 1) -> list[Question]:
    """The questions of a column; ids restart at 1 in each, so that equal items are equal questions.

    Args:
        items: one mapping a response, with the fields that `ASKED` names.
        per_call: responses in one question. One keeps them from colouring each other.

    Raises:
        InputError: an item lacks a field.
    """
    if per_call < 1:
        raise InputError(f"{per_call} responses in one question")
    for number, item in enumerate(items):
        missing = [name for name in ASKED[column].needs if name not in item]
        if missing:
            raise InputError(f"missing {', '.join(map(repr, missing))}", where=f"response {number}")
    found = []
    for first in range(0, len(items), per_call):
        group = items[first : first + per_call]
        entries = [
            {"id": place, **{name: item[name] for name in ASKED[column].needs}}
            for place, item in enumerate(group, start=1)
        ]
        found.append(Question(str(column), fill(str(column), entries)))
    return found


def judge_column(
    judge: Judge,
    column: Column,
    items: Sequence[Mapping[str, Any]],
    *,
    per_call: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Value | Unread]:
    """One verdict for each item, in order; an answer that cannot be read twice is `Unread`, never guessed.

    Args:
        advance: told how many items are done.
    """
    asked = questions(column, items, per_call=per_call)
    sizes = [min(per_call, len(items) - first) for first in range(0, len(items), per_call)]

    def read(position: int, text: str) -> list[Value]:
        return _read(text, sizes[position], ASKED[column])

    found: list[Value | Unread] = []
    for size, answer in zip(
        sizes, read_answers(judge, asked, read, lambda n: advance(n * per_call)), strict=True
    ):
        found += [answer] * size if isinstance(answer, Unread) else answer
    return found


def _read(text: str, count: int, asked: Asked) -> list[Value]:
    first, last = text.find("["), text.rfind("]")
    try:
        values = json.loads(text[first : last + 1]) if 0 <= first < last else None
    except (json.JSONDecodeError, RecursionError) as error:
        raise MalformedError(f"not JSON: {error}") from None
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise MalformedError("no JSON array of objects")
    by_id = {value.get("id"): value for value in values if type(value.get("id")) is int}
    if len(values) != count or sorted(by_id) != list(range(1, count + 1)):
        raise MalformedError(f"ids 1 to {count} are needed once each")
    found: list[Value] = []
    for place in range(1, count + 1):
        given = by_id[place].get(asked.answer)
        # 1 == True in Python: the kind must agree as well.
        match = [choice for choice in asked.choices if type(choice) is type(given) and choice == given]
        if not match:
            raise MalformedError(f"{asked.answer} must be one of {', '.join(map(str, asked.choices))}")
        found += match
    return found
