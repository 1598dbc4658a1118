"""What every judged benchmark shares: a question, an opinion on it, and whoever gives one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, runtime_checkable

from probekit.errors import InputError
from probekit.judges.pictures import Picture

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """One thing asked of a judge.

    Attributes:
        kind: what is asked, such as ``usage`` or ``correctness``; names the prompt in errors and records.
        content: the whole text sent, instructions and data.
        pictures: what is shown with it, in order; most questions are about texts alone.
    """

    kind: str
    content: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judge's answer, as it was given.

    Attributes:
        text: the answer.
        failure: why there is no answer, when there is none.
    """

    text: str
    failure: str = ""


@runtime_checkable
class Judge(Protocol):
    """Answers questions. ``identity`` names all that an answer depends on besides the question."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Kind of judge, model, settings; part of the cache's key, never a secret."""
        ...

    def answer(self, questions: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
        """Yield ``(position in questions, opinion)`` once for each, in any order, as they come."""
        ...


@dataclass(frozen=True, slots=True)
class Unread:
    """A question whose answer could not be read, twice.

    Attributes:
        reason: what was wrong with the second answer.
    """

    reason: str


class MalformedError(ValueError):
    """Raised by a reader of answers: the answer is not of the asked form. Never escapes `read_answers`."""


REMINDER = (
    "\n\nAn earlier answer to this could not be read ({reason}). "
    "Answer again in exactly the form asked for, and nothing else.\n"
)


def read_answers(
    judge: Judge,
    questions: Sequence[Question],
    read: Callable[[int, str], T],
    advance: Callable[[int], None] = lambda _: None,
) -> list[T | Unread]:
    """Ask all questions and read the answers; what cannot be read is asked once more, then given up.

    Args:
        judge: who answers.
        questions: what is asked.
        read: takes the question's position and the answer's text; raises `MalformedError` when the text is
            not of the asked form. It never guesses.
        advance: told of each question that needs no more asking.
    """
    found: dict[int, T | Unread] = {}
    again: dict[int, str] = {}

    def take(position: int, opinion: Opinion) -> str | None:
        if opinion.failure:
            return opinion.failure
        try:
            found[position] = read(position, opinion.text)
        except MalformedError as error:
            return str(error)
        advance(1)
        return None

    for position, opinion in judge.answer(questions):
        if (reason := take(position, opinion)) is not None:
            again[position] = reason
    positions = sorted(again)
    second = [
        replace(questions[p], content=questions[p].content + REMINDER.format(reason=again[p]))
        for p in positions
    ]
    for number, opinion in judge.answer(second) if second else ():
        if (reason := take(positions[number], opinion)) is not None:
            found[positions[number]] = Unread(reason)
            advance(1)
    if len(found) != len(questions):
        raise InputError(
            f"the judge left {len(questions) - len(found)} of {len(questions)} questions unanswered"
        )
    return [found[position] for position in range(len(questions))]
