"""Readouts of the written answer."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from probekit.benchmarks.yesno import Answer
from probekit.errors import InputError
from probekit.readouts.answers import official_answer, parse_answer
from probekit.readouts.readings import Readings

TextReadout = Callable[..., Readings]


def string_parse(
    answers: Sequence[str], objects: Sequence[str | None] | None = None, *, allow_uncovered: bool = False
) -> Readings:
    """Read each answer with `parse_answer`; an answer that is neither stays unknown.

    Coverage is the share of answers that say yes or no. It is reported and never refused: nothing is
    guessed about the others, they are counted as unknown.

    Args:
        answers: what the model wrote.
        objects: the object each question asks about, where it is known.
    """
    del allow_uncovered
    about = _aligned(answers, objects)
    found = [parse_answer(text, thing) for text, thing in zip(answers, about, strict=True)]
    return _readings("string_parse", found, [answer is not Answer.UNKNOWN for answer in found])


def pope_official(
    answers: Sequence[str], objects: Sequence[str | None] | None = None, *, allow_uncovered: bool = False
) -> Readings:
    """Read each answer with POPE's own rule, which takes everything that is not a no for a yes.

    Coverage is the share of answers in which `parse_answer` finds a yes or a no.

    Raises:
        InputError: coverage is below 0.99 and not allowed.
    """
    about = _aligned(answers, objects)
    said = [
        parse_answer(text, thing) is not Answer.UNKNOWN for text, thing in zip(answers, about, strict=True)
    ]
    readings = _readings("pope_official", [official_answer(text) for text in answers], said)
    return readings if allow_uncovered else readings.require_coverage()


TEXT_READOUTS: Mapping[str, TextReadout] = MappingProxyType(
    {"string_parse": string_parse, "pope_official": pope_official}
)
"""The readouts that need no more than the text, the default first."""


def _aligned(answers: Sequence[str], objects: Sequence[str | None] | None) -> Sequence[str | None]:
    if objects is None:
        return [None] * len(answers)
    if len(objects) != len(answers):
        raise InputError(f"{len(objects)} objects for {len(answers)} answers")
    return objects


def _readings(name: str, answers: Sequence[Answer], covered: Sequence[bool]) -> Readings:
    decisions = np.array([answer.code for answer in answers], dtype=np.int8)
    return Readings(name, decisions, np.array(covered, dtype=bool))
