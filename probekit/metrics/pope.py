"""POPE's arithmetic on decisions and labels: F1, precision, recall, accuracy, yes-ratio, unknown share."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Int, Int8

from probekit.benchmarks.yesno import NO, UNKNOWN, YES
from probekit.errors import InputError
from probekit.metrics.estimates import (
    DRAWS,
    FEWEST,
    Estimate,
    group_index,
    percentile_interval,
    resamples,
    share_interval,
)

CELLS: tuple[str, ...] = ("tp", "fp", "fn", "tn", "unknown_yes", "unknown_no")
"""The cells of a table of decisions against labels, in the order of `Confusion`'s fields."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of decisions against labels; yes is the positive class.

    Attributes:
        tp: label yes, answered yes.
        fp: label no, answered yes.
        fn: label yes, answered no.
        tn: label no, answered no.
        unknown_yes: label yes, neither answer.
        unknown_no: label no, neither answer.
    """

    tp: int | float
    fp: int | float
    fn: int | float
    tn: int | float
    unknown_yes: int | float = 0
    unknown_no: int | float = 0

    @property
    def n(self) -> int | float:
        """All questions, unknown answers included."""
        return self.tp + self.fp + self.fn + self.tn + self.unknown_yes + self.unknown_no

    @property
    def precision(self) -> float:
        """Share of yes answers that are right; NaN when nothing was answered yes."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of questions with label yes that were answered yes; an unknown answer missed it."""
        return _share(self.tp, self.tp + self.fn + self.unknown_yes)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 without a true yes (SPEC 3.3), NaN without questions."""
        return (
            _share(2 * self.tp, 2 * self.tp + self.fp + self.fn + self.unknown_yes)
            if self.tp
            else (0.0 if self.n else math.nan)
        )

    @property
    def accuracy(self) -> float:
        """Share of questions answered right; an unknown answer is wrong."""
        return _share(self.tp + self.tn, self.n)

    @property
    def yes_ratio(self) -> float:
        """Share of questions answered yes; an unknown answer is neither yes nor no."""
        return _share(self.tp + self.fp, self.n)

    @property
    def unknown_share(self) -> float:
        """Share of questions answered neither way."""
        return _share(self.unknown_yes + self.unknown_no, self.n)

    @property
    def label_yes_ratio(self) -> float:
        """Share of questions whose label is yes, which the yes-ratio is to be compared with."""
        return _share(self.tp + self.fn + self.unknown_yes, self.n)


MEASURES: Mapping[str, Callable[[Confusion], float]] = MappingProxyType(
    {
        "f1": lambda c: c.f1,
        "precision": lambda c: c.precision,
        "recall": lambda c: c.recall,
        "accuracy": lambda c: c.accuracy,
        "yes_ratio": lambda c: c.yes_ratio,
        "unknown_share": lambda c: c.unknown_share,
    }
)
"""What `PopeScores` estimates, by name."""
_BASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "f1": ("tp", "fp", "fn", "unknown_yes"),
        "precision": ("tp", "fp"),
        "recall": ("tp", "fn", "unknown_yes"),
    }
)
"""Cells that a measure is a share of; all of them where none are named."""


@dataclass(frozen=True)
class PopeScores:
    """The metrics of one list of decisions, each with its 95 % interval over resampled pictures.

    Each estimate's ``n`` counts the questions that it is a share of, its ``groups`` their pictures.

    Attributes:
        confusion: the counts.
        images: pictures asked about.
        f1: harmonic mean of precision and recall; 0 without a true yes.
        precision: share of yes answers that are right.
        recall: share of objects present that were answered yes.
        accuracy: share of right answers; unknown ones are wrong.
        yes_ratio: share answered yes.
        unknown_share: share answered neither way.
    """

    confusion: Confusion
    images: int
    f1: Estimate
    precision: Estimate
    recall: Estimate
    accuracy: Estimate
    yes_ratio: Estimate
    unknown_share: Estimate

    def estimates(self) -> dict[str, Estimate]:
        """Name to estimate, in the order of the class."""
        return {name: getattr(self, name) for name in MEASURES}


def f1_of(precision: float, recall: float) -> float:
    """F1 from a precision and a recall, as a published table prints them; NaN when both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else math.nan


def confusion(labels: Int8[np.ndarray, "question"], decisions: Int8[np.ndarray, "question"]) -> Confusion:
    """Count decisions (1, 0, -1) against labels (1, 0).

    Raises:
        InputError: a label is not 0 or 1, or the lengths differ.
    """
    return Confusion(*(int(column.sum()) for column in _cells(labels, decisions)))


def score(
    labels: Int8[np.ndarray, "question"],
    decisions: Int8[np.ndarray, "question"],
    images: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> PopeScores:
    """All metrics with intervals; a picture is drawn with all of its questions.

    Draws in which a metric is undefined do not count for its interval.
    """
    per_image = counts_by_image(labels, decisions, images)
    whole = Confusion(*(int(count) for count in per_image.sum(axis=0)))
    drawn = [
        Confusion(*map(float, row))
        for block in resamples(len(per_image), draws if len(per_image) >= FEWEST else 0, seed)
        for row in block @ per_image
    ]
    estimates = {}
    for name, measure in MEASURES.items():
        base = [CELLS.index(cell) for cell in _BASES.get(name, CELLS)]
        over = per_image[:, base].sum(axis=1)
        behind = int((over > 0).sum())
        low, high = share_interval(measure(whole), [measure(table) for table in drawn], behind)
        estimates[name] = Estimate(measure(whole), low, high, int(over.sum()), groups=behind)
    return PopeScores(whole, len(per_image), **estimates)


def difference(
    labels: Int8[np.ndarray, "question"],
    first: Int8[np.ndarray, "question"],
    second: Int8[np.ndarray, "question"],
    images: Sequence[str],
    measure: str = "f1",
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Estimate:
    """``measure`` of the second list of decisions minus that of the first, paired by picture."""
    of = MEASURES[measure]
    one, two = counts_by_image(labels, first, images), counts_by_image(labels, second, images)

    def gain(before: np.ndarray, after: np.ndarray) -> float:
        return of(Confusion(*map(float, after))) - of(Confusion(*map(float, before)))

    drawn = [
        gain(before, after)
        for block in resamples(len(one), draws if len(one) >= FEWEST else 0, seed)
        for before, after in zip(block @ one, block @ two, strict=True)
    ]
    return Estimate(
        gain(one.sum(axis=0), two.sum(axis=0)), *percentile_interval(drawn), n=len(labels), groups=len(one)
    )


def counts_by_image(
    labels: Int8[np.ndarray, "question"],
    decisions: Int8[np.ndarray, "question"],
    images: Sequence[str],
) -> Int[np.ndarray, "image cell"]:
    """The table of `CELLS` of every picture, pictures in order of first appearance."""
    cells = _cells(labels, decisions)
    if len(images) != len(labels):
        raise InputError(f"{len(images)} pictures named for {len(labels)} questions")
    index, count = group_index(images)
    return np.stack([np.bincount(index[cell], minlength=count).astype(np.int64) for cell in cells], axis=1)


def _cells(labels: np.ndarray, decisions: np.ndarray) -> tuple[np.ndarray, ...]:
    if len(labels) != len(decisions):
        raise InputError(f"{len(decisions)} decisions for {len(labels)} labels")
    for name, values, known in (("label", labels, (YES, NO)), ("decision", decisions, (YES, NO, UNKNOWN))):
        wrong = ~np.isin(values, known)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise InputError(f"{name} {values[at]} is none of {known}", where=f"question number {at}")
    positive, yes, no, unknown = labels == YES, decisions == YES, decisions == NO, decisions == UNKNOWN
    return (
        positive & yes,
        ~positive & yes,
        positive & no,
        ~positive & no,
        positive & unknown,
        ~positive & unknown,
    )


def _share(part: int | float, whole: int | float) -> float:
    return part / whole if whole else math.nan
