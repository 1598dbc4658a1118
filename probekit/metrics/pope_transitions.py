"""What changes when the same answers are read in another way: paired readouts. SPEC 3.3."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int8

from probekit.benchmarks.yesno import NO, UNKNOWN, YES
from probekit.errors import InputError
from probekit.metrics.pope import Confusion

Count = int | float
"""A number of questions; rates make it fractional."""


@dataclass(frozen=True, slots=True)
class Moves:
    """How the decisions about questions of one label move from a first to a second readout.

    Attributes:
        yes_yes: yes in both.
        no_yes: no became yes.
        no_no: no in both.
        yes_no: yes became no.
    """

    yes_yes: int
    no_yes: int
    no_no: int
    yes_no: int = 0

    @property
    def n(self) -> int:
        """Questions that both readouts decided."""
        return self.yes_yes + self.no_yes + self.no_no + self.yes_no

    @property
    def no_to_yes(self) -> float:
        """Share of the first readout's no that the second reads as yes; NaN without a no."""
        return _share(self.no_yes, self.no_yes + self.no_no)

    @property
    def yes_to_no(self) -> float:
        """Share of the first readout's yes that the second reads as no; NaN without a yes."""
        return _share(self.yes_no, self.yes_no + self.yes_yes)


@dataclass(frozen=True)
class Transitions:
    """Paired decisions of two readouts.

    Attributes:
        first: name of the readout the moves start from.
        second: name of the readout they end in.
        positive: moves where the label is yes.
        negative: moves where the label is no.
        dropped: questions that one of the two left unknown.
    """

    first: str
    second: str
    positive: Moves
    negative: Moves
    dropped: int = 0

    @property
    def phi(self) -> float:
        """Share of the first readout's wrong no (label yes) that the second reads as yes."""
        return self.positive.no_to_yes

    @property
    def rho_n(self) -> float:
        """Share of the first readout's right no (label no) that the second reads as yes."""
        return self.negative.no_to_yes

    def before(self) -> Confusion:
        """The first readout's table."""
        p, n = self.positive, self.negative
        return Confusion(p.yes_yes + p.yes_no, n.yes_yes + n.yes_no, p.no_yes + p.no_no, n.no_yes + n.no_no)

    def after(self) -> Confusion:
        """The second readout's table."""
        p, n = self.positive, self.negative
        return Confusion(p.yes_yes + p.no_yes, n.yes_yes + n.no_yes, p.no_no + p.yes_no, n.no_no + n.yes_no)

    @property
    def no_read_as_yes(self) -> int:
        """All no of the first readout that the second reads as yes."""
        return self.positive.no_yes + self.negative.no_yes


def transitions(
    labels: Int8[np.ndarray, "question"],
    first: Int8[np.ndarray, "question"],
    second: Int8[np.ndarray, "question"],
    names: tuple[str, str] = ("first", "second"),
) -> Transitions:
    """Count how decisions move between two readouts of the same answers."""
    if not len(labels) == len(first) == len(second):
        raise InputError(f"{len(labels)} labels for {len(first)} and {len(second)} decisions")
    known = (first != UNKNOWN) & (second != UNKNOWN)

    def moves(label: int) -> Moves:
        of = known & (labels == label)
        pairs = ((YES, YES), (NO, YES), (NO, NO), (YES, NO))
        return Moves(*(int((of & (first == a) & (second == b)).sum()) for a, b in pairs))

    return Transitions(*names, moves(YES), moves(NO), int((~known).sum()))


def closed_form(
    positives: Count, negatives: Count, true_yes: Count, true_no: Count, phi: float, rho_n: float
) -> Confusion:
    """The second readout's table from the first one's counts and the two rates. SPEC 3.3.

    Holds when no yes of the first readout becomes a no; `Transitions` counts those moves.

    Args:
        positives: questions with label yes, P.
        negatives: questions with label no, N.
        true_yes: the first readout's yes among P, T.
        true_no: the first readout's no among N, G.
    """
    tp = true_yes + phi * (positives - true_yes)
    fp = (negatives - true_no) + rho_n * true_no
    return Confusion(tp, fp, positives - tp, negatives - fp)


def closed_form_f1(
    positives: Count, negatives: Count, true_yes: Count, true_no: Count, phi: float, rho_n: float
) -> float:
    """2 TP2 / (TP2 + FP2 + P), the F1 of `closed_form`."""
    table = closed_form(positives, negatives, true_yes, true_no, phi, rho_n)
    return 2 * table.tp / (table.tp + table.fp + positives)


def _share(part: Count, whole: Count) -> float:
    return part / whole if whole else math.nan
