"""VLM-DeflectionBench: one question under four states of the evidence. SPEC 6.

Without evidence the model can only remember; with gold evidence it should answer; with gold among
distractors it should still answer; with distractors alone it should say that it cannot.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from probekit.benchmarks.conditions import seed_of
from probekit.benchmarks.deflection_wording import Wording
from probekit.benchmarks.example import Example, Message, Part, Picture, Text
from probekit.errors import InputError
from probekit.files import read_jsonl

LEAST_DISTRACTORS = 5
"""Distractors each sample needs (the paper's stage II)."""
ALONE = "distractor"
"""Field of a response that was given one distractor alone: the distractor's number from 0."""
ALL = "all"
"""Name of all samples together, which is no kind."""


class Scenario(StrEnum):
    """What evidence is given."""

    PARAMETRIC = "parametric"
    ORACLE = "oracle"
    REALISTIC = "realistic"
    ADVERSARIAL = "adversarial"

    @property
    def answerable(self) -> bool:
        """Whether the gold evidence is given."""
        return self in (Scenario.ORACLE, Scenario.REALISTIC)

    @property
    def distracts(self) -> bool:
        """Whether distractors are given."""
        return self in (Scenario.REALISTIC, Scenario.ADVERSARIAL)

    @classmethod
    def chosen(cls, names: Collection[str]) -> "tuple[Scenario, ...]":
        """The scenarios of these names in the benchmark's order; all of them for none.

        Raises:
            InputError: a name is unknown.
        """
        if strange := [name for name in names if name not in tuple(cls)]:
            raise InputError(f"unknown scenario {strange[0]!r}", hint=f"Known: {', '.join(cls)}.")
        return tuple(scenario for scenario in cls if not names or scenario in names)


class Outcome(StrEnum):
    """What a response did."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NOT_ATTEMPTED = "not_attempted"


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence: a text, or an image named by its path relative to the image root.

    Attributes:
        asked: the question that the text was the answer to; the piece is then shown as an earlier turn of
            the conversation, this question and the text as its answer.
    """

    text: str | None = None
    image: str | None = None
    source: str = ""
    asked: str | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.image is None):
            raise InputError("a piece of evidence is either a text or an image")
        if self.asked is not None and self.text is None:
            raise InputError("only a text is the answer to what was asked")


@dataclass(frozen=True)
class Sample:
    """One question with everything that may be shown for it.

    Attributes:
        kind: results are also given by kind, where there are several.
        choices: the answers among which a model that may not decline chooses; it writes its own when empty.
    """

    sample_id: str
    question: str
    image: str | None
    answers: tuple[str, ...]
    gold: tuple[Evidence, ...]
    distractors: tuple[Evidence, ...]
    kind: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Posed:
    """A sample under one scenario.

    Attributes:
        example: what is asked; its messages hold one `Picture` for each of ``images``, in their order.
        scenario: the state of the evidence.
        images: the question's image, when there is one, then the images among the evidence.
        evidence: the pieces in the order given, earlier turns first.
        gold_at: places of the gold pieces in that order.
    """

    example: Example
    scenario: Scenario
    images: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    gold_at: tuple[int, ...]


def pose(
    sample: Sample,
    scenario: Scenario,
    *,
    seed: int = 0,
    wording: Wording | None = None,
    forced: bool = False,
) -> Posed:
    """Turn a sample into the prompt of one scenario; the order of the evidence is seeded per sample.

    Pieces that were answers to something come first, each as an earlier turn. The others stand in the last
    turn, before the question. The question's image is shown in the first turn.

    Args:
        forced: declining is not offered; the evidence and its order are the same.

    Raises:
        InputError: the scenario needs gold evidence or distractors that the sample lacks.
    """
    texts = wording or Wording()
    where = f"sample {sample.sample_id}"
    if scenario.answerable and not sample.gold:
        raise InputError("no gold evidence", where=where)
    if scenario.distracts and not sample.distractors:
        raise InputError("no distractors", where=where, hint=f"Mine at least {LEAST_DISTRACTORS}.")
    pieces: list[tuple[Evidence, bool]] = []
    if scenario.answerable:
        pieces += [(piece, True) for piece in sample.gold]
    if scenario.distracts:
        pieces += [(piece, False) for piece in sample.distractors]
    random.Random(seed_of(seed, f"{sample.sample_id}/{scenario}")).shuffle(pieces)
    pieces.sort(key=lambda pair: pair[0].asked is None)
    messages: list[Message] = []
    first: tuple[Part, ...] = () if sample.image is None else (Picture(),)
    for piece, _ in pieces:
        if piece.asked is not None:
            messages.append(Message("user", (*first, Text(piece.asked))))
            messages.append(Message("assistant", (Text(str(piece.text)),)))
            first = ()
    shown = [piece for piece, _ in pieces if piece.asked is None]
    lines = [texts.lead(evidence=bool(shown), forced=forced)]
    parts: list[Part] = list(first)
    for number, piece in enumerate(shown, start=1):
        if piece.image is None:
            lines.append(texts.item.format(number=number, text=piece.text))
            continue
        lines.append(texts.image_item.format(number=number))
        parts += [*_text(lines, texts.between), Picture()]
        lines = []
    lines.append(texts.question.format(question=sample.question))
    messages.append(Message("user", (*parts, *_text(lines, texts.between))))
    images = [] if sample.image is None else [sample.image]
    example = Example(
        f"{sample.sample_id}-{scenario}",
        sample.sample_id if sample.image is None else Path(sample.image).stem,
        sample.image,
        tuple(messages),
        str(scenario),
        sample.answers,
    )
    return Posed(
        example,
        scenario,
        (*images, *(piece.image for piece in shown if piece.image is not None)),
        tuple(piece for piece, _ in pieces),
        tuple(i for i, (_, gold) in enumerate(pieces) if gold),
    )


def pose_alone(sample: Sample, number: int, *, seed: int = 0, wording: Wording | None = None) -> Posed:
    """The prompt in which one distractor is all the evidence, for stage III; named ``ID-distractorN``."""
    one = replace(sample, distractors=(sample.distractors[number],))
    posed = pose(one, Scenario.ADVERSARIAL, seed=seed, wording=wording)
    name = f"{sample.sample_id}-{ALONE}{number}"
    return replace(posed, example=replace(posed.example, example_id=name))


def _text(lines: Sequence[str], between: str) -> tuple[Part, ...]:
    text = between.join(line for line in lines if line)
    return (Text(text),) if text else ()


def load_samples(path: Path, *, least_distractors: int = LEAST_DISTRACTORS) -> tuple[Sample, ...]:
    """Read samples from JSON Lines.

    A line is ``{"id", "question", "image", "answers", "gold", "distractors"}``; ``image`` may be absent,
    ``kind`` and ``choices`` may be added; evidence is a list of ``{"text": ...}`` or ``{"image": ...}``,
    each with an optional ``source``, a text with an optional ``asked`` (see `Evidence`).

    Raises:
        InputError: a line has another shape, an id is repeated, there are too few distractors, or a
            distractor is a piece of the gold; file and line named.
    """
    samples: list[Sample] = []
    seen: dict[str, int] = {}
    for number, value in read_jsonl(path, required=("id", "question", "answers")):
        where = f"{path}, line {number}"
        key = _id(value["id"], where)
        if key in seen:
            raise InputError(f"id {key!r} is that of line {seen[key]}", where=where)
        seen[key] = number
        answers = value["answers"]
        if (
            not isinstance(answers, list)
            or not answers
            or not all(isinstance(a, str) and a.strip() for a in answers)
        ):
            raise InputError("'answers' must be a list of texts", where=where)
        if not isinstance(value["question"], str) or not value["question"].strip():
            raise InputError("'question' must be a text", where=where)
        image = value.get("image")
        if image is not None and not isinstance(image, str):
            raise InputError("'image' must be a path", where=where)
        gold, distractors = (
            _evidence(value.get("gold"), "gold", where),
            _evidence(value.get("distractors"), "distractors", where),
        )
        if len(distractors) < least_distractors:
            raise InputError(
                f"{len(distractors)} distractors, at least {least_distractors} are needed", where=where
            )
        shared = {(e.asked, e.text, e.image) for e in gold} & {
            (e.asked, e.text, e.image) for e in distractors
        }
        if shared:
            raise InputError("a distractor is a piece of the gold evidence", where=where)
        kind = value.get("kind", "")
        if not isinstance(kind, str) or not _plain(kind):
            raise InputError("'kind' must be a text of one line", where=where)
        if kind == ALL:
            raise InputError(f"'kind' {ALL!r} is the name of all samples together", where=where)
        choices = value.get("choices", [])
        if not isinstance(choices, list) or not all(isinstance(c, str) and c.strip() for c in choices):
            raise InputError("'choices' must be a list of texts", where=where)
        if len(choices) == 1 or len(set(choices)) < len(choices):
            raise InputError("'choices' must be at least two different texts", where=where)
        samples.append(
            Sample(key, value["question"], image, tuple(answers), gold, distractors, kind, tuple(choices))
        )
    if not samples:
        raise InputError("no samples", where=str(path))
    return tuple(samples)


def _id(value: Any, where: str) -> str:
    """An id as the text that stands in every file of a run."""
    if type(value) is int:
        return str(value)
    if not isinstance(value, str) or not value.strip() or not _plain(value):
        raise InputError("'id' must be a text of one line, or a whole number", where=where)
    return value


def _plain(text: str) -> bool:
    return not any(ord(character) < 32 for character in text)


def _evidence(value: Any, name: str, where: str) -> tuple[Evidence, ...]:
    pieces: Sequence[Any] = [] if value is None else value
    if not isinstance(pieces, list):
        raise InputError(f"{name!r} must be a list", where=where)
    found = []
    for piece in pieces:
        if not isinstance(piece, dict) or not {"text", "image", "source", "asked"} >= set(piece):
            raise InputError(f"{name!r} must hold objects with 'text' or 'image'", where=where)
        if not all(isinstance(item, str) for item in piece.values()):
            raise InputError(f"{name!r} must hold texts", where=where)
        try:
            found.append(
                Evidence(piece.get("text"), piece.get("image"), piece.get("source", ""), piece.get("asked"))
            )
        except InputError as error:
            raise InputError(f"{name!r}: {error.what}", where=where) from None
    return tuple(found)
