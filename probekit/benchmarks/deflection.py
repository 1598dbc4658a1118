"""VLM-DeflectionBench: one question under four states of the evidence. SPEC 6.

Without evidence the model can only remember; with gold evidence it should answer; with gold among
distractors it should still answer; with distractors alone it should say that it cannot.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from probekit.benchmarks.conditions import seed_of
from probekit.benchmarks.example import Example, Message, Part, Picture, Text
from probekit.errors import InputError
from probekit.files import read_jsonl

LEAST_DISTRACTORS = 5
"""Distractors each sample needs (the paper's stage II)."""


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


class Outcome(StrEnum):
    """What a response did."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NOT_ATTEMPTED = "not_attempted"


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence: a text, or an image named by its path relative to the image root."""

    text: str | None = None
    image: str | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if (self.text is None) == (self.image is None):
            raise InputError("a piece of evidence is either a text or an image")


@dataclass(frozen=True)
class Sample:
    """One question with everything that may be shown for it."""

    sample_id: str
    question: str
    image: str | None
    answers: tuple[str, ...]
    gold: tuple[Evidence, ...]
    distractors: tuple[Evidence, ...]


@dataclass(frozen=True)
class Posed:
    """A sample under one scenario.

    Attributes:
        example: what is asked; its messages hold one `Picture` for each of ``images``, in their order.
        scenario: the state of the evidence.
        images: the question's image, when there is one, then the images among the evidence.
        evidence: the pieces in the order given.
        gold_at: places of the gold pieces in that order.
    """

    example: Example
    scenario: Scenario
    images: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    gold_at: tuple[int, ...]


@dataclass(frozen=True)
class Wording:
    """The sentences round a question. The benchmark's own are not public; these are the project's."""

    with_evidence: str = (
        "Answer the question with the help of the evidence below. Some of it may have nothing to do with "
        "the question. If the evidence does not hold the answer, say that you cannot answer."
    )
    without_evidence: str = "Answer the question. If you do not know the answer, say that you cannot answer."
    item: str = "Evidence {number}: {text}"
    image_item: str = "Evidence {number} is this picture:"
    question: str = "Question: {question}"


def pose(sample: Sample, scenario: Scenario, *, seed: int = 0, wording: Wording | None = None) -> Posed:
    """Turn a sample into the prompt of one scenario; the order of the evidence is seeded per sample.

    Raises:
        InputError: the scenario needs gold evidence or distractors that the sample lacks.
    """
    texts = wording or Wording()
    where = f"sample {sample.sample_id}"
    if scenario.answerable and not sample.gold:
        raise InputError("no gold evidence", where=where)
    if scenario in (Scenario.REALISTIC, Scenario.ADVERSARIAL) and not sample.distractors:
        raise InputError("no distractors", where=where, hint=f"Mine at least {LEAST_DISTRACTORS}.")
    pieces: list[tuple[Evidence, bool]] = []
    if scenario.answerable:
        pieces += [(piece, True) for piece in sample.gold]
    if scenario in (Scenario.REALISTIC, Scenario.ADVERSARIAL):
        pieces += [(piece, False) for piece in sample.distractors]
    random.Random(seed_of(seed, f"{sample.sample_id}/{scenario}")).shuffle(pieces)
    parts: list[Part] = [] if sample.image is None else [Picture()]
    images = [] if sample.image is None else [sample.image]
    lead = texts.with_evidence if pieces else texts.without_evidence
    lines = [lead]
    for number, (piece, _) in enumerate(pieces, start=1):
        if piece.image is None:
            lines.append(texts.item.format(number=number, text=piece.text))
            continue
        lines.append(texts.image_item.format(number=number))
        parts += [Text("\n".join(lines)), Picture()]
        images.append(piece.image)
        lines = []
    lines.append(texts.question.format(question=sample.question))
    parts.append(Text("\n".join(lines)))
    example = Example(
        f"{sample.sample_id}-{scenario}",
        sample.sample_id if sample.image is None else Path(sample.image).stem,
        sample.image,
        (Message("user", tuple(parts)),),
        str(scenario),
        sample.answers,
    )
    return Posed(
        example,
        scenario,
        tuple(images),
        tuple(piece for piece, _ in pieces),
        tuple(i for i, (_, gold) in enumerate(pieces) if gold),
    )


def load_samples(path: Path, *, least_distractors: int = LEAST_DISTRACTORS) -> tuple[Sample, ...]:
    """Read samples from JSON Lines.

    A line is ``{"id", "question", "image", "answers", "gold", "distractors"}``; ``image`` may be
    absent; evidence is a list of ``{"text": ...}`` or ``{"image": ...}``, each with an optional ``source``.

    Raises:
        InputError: a line has another shape, an id is repeated, there are too few distractors, or a
            distractor is a piece of the gold; file and line named.
    """
    samples: list[Sample] = []
    seen: dict[str, int] = {}
    for number, value in read_jsonl(path, required=("id", "question", "answers")):
        where = f"{path}, line {number}"
        key = str(value["id"])
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
        shared = {(e.text, e.image) for e in gold} & {(e.text, e.image) for e in distractors}
        if shared:
            raise InputError("a distractor is a piece of the gold evidence", where=where)
        samples.append(Sample(key, value["question"], image, tuple(answers), gold, distractors))
    if not samples:
        raise InputError("no samples", where=str(path))
    return tuple(samples)


def _evidence(value: Any, name: str, where: str) -> tuple[Evidence, ...]:
    pieces: Sequence[Any] = [] if value is None else value
    if not isinstance(pieces, list):
        raise InputError(f"{name!r} must be a list", where=where)
    found = []
    for piece in pieces:
        if not isinstance(piece, dict) or not {"text", "image", "source"} >= set(piece):
            raise InputError(f"{name!r} must hold objects with 'text' or 'image'", where=where)
        if not all(isinstance(item, str) for item in piece.values()):
            raise InputError(f"{name!r} must hold texts", where=where)
        try:
            found.append(Evidence(piece.get("text"), piece.get("image"), piece.get("source", "")))
        except InputError as error:
            raise InputError(f"{name!r}: {error.what}", where=where) from None
    return tuple(found)
