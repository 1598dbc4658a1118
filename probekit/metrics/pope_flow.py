"""What the answers look like before any metric: first tokens, the yes-rate as it runs, groups by outcome."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Int8, Shaped

from probekit.benchmarks.yesno import NO, UNKNOWN, YES
from probekit.errors import InputError

OUTCOMES: tuple[str, ...] = ("tp", "tn", "fp", "fn")
"""Right and wrong answers by kind, in the order of POPE-audit's Table 9."""


@dataclass(frozen=True, slots=True)
class FirstToken:
    """One token that opened answers.

    Attributes:
        token: its id.
        label_yes: answers it opened where the label is yes.
        label_no: answers it opened where the label is no.
    """

    token: int
    label_yes: int
    label_no: int

    @property
    def count(self) -> int:
        """Answers it opened."""
        return self.label_yes + self.label_no


@dataclass(frozen=True, slots=True)
class Group:
    """A quantity among the questions of one outcome.

    Attributes:
        n: questions with a value.
        excluded: questions of the outcome whose value is missing.
        mean: mean of the values; NaN without any.
        sd: sample standard deviation; NaN below two values.
    """

    n: int
    excluded: int
    mean: float
    sd: float


def first_tokens(
    labels: Int8[np.ndarray, "question"], tokens: Int[np.ndarray, "question"]
) -> tuple[FirstToken, ...]:
    """How often each token opened an answer, the most frequent first."""
    if len(labels) != len(tokens):
        raise InputError(f"{len(tokens)} first tokens for {len(labels)} labels")
    pairs = Counter(zip(tokens.tolist(), labels.tolist(), strict=True))
    found = [FirstToken(token, pairs[(token, YES)], pairs[(token, NO)]) for token in {t for t, _ in pairs}]
    return tuple(sorted(found, key=lambda first: (-first.count, first.token)))


def read_and_emitted(counts: Sequence[FirstToken], yes: Sequence[int], no: Sequence[int]) -> dict[str, int]:
    """How many answers opened with a token that a readout takes for yes, for no, or does not read."""
    totals = Counter({"yes": 0, "no": 0, "unread": 0})
    for first in counts:
        side = "yes" if first.token in yes else "no" if first.token in no else "unread"
        totals[side] += first.count
    return dict(totals)


def running_yes_rate(decisions: Int8[np.ndarray, "question"]) -> Float[np.ndarray, "question"]:
    """Share of yes among the first 1, 2, ... questions; unknown answers count as questions."""
    asked = np.arange(1, len(decisions) + 1)
    return np.asarray(np.cumsum(decisions == YES) / asked, dtype=np.float64)


def outcomes(
    labels: Int8[np.ndarray, "question"], decisions: Int8[np.ndarray, "question"]
) -> Shaped[np.ndarray, "question"]:
    """``tp``, ``tn``, ``fp`` or ``fn`` for every question; ``unknown`` for neither answer."""
    if len(labels) != len(decisions):
        raise InputError(f"{len(decisions)} decisions for {len(labels)} labels")
    names = np.full(len(labels), "unknown", dtype="<U7")
    for name, label, decision in (
        ("tp", YES, YES),
        ("tn", NO, NO),
        ("fp", NO, YES),
        ("fn", YES, NO),
    ):
        names[(labels == label) & (decisions == decision)] = name
    return names


def correct(
    labels: Int8[np.ndarray, "question"], decisions: Int8[np.ndarray, "question"]
) -> Int8[np.ndarray, "question"]:
    """1 where the answer is right, 0 where it is wrong, -1 where it is unknown."""
    right = np.where(labels == decisions, 1, 0).astype(np.int8)
    right[decisions == UNKNOWN] = UNKNOWN
    return right


def outcome_groups(
    labels: Int8[np.ndarray, "question"],
    decisions: Int8[np.ndarray, "question"],
    values: Float[np.ndarray, "question"],
) -> Mapping[str, Group]:
    """Mean and spread of a quantity for TP, TN, FP and FN, such as the absolute logit gap (Table 9)."""
    names = outcomes(labels, decisions)
    found = {}
    for name in OUTCOMES:
        of = values[names == name]
        kept = of[~np.isnan(of)].astype(np.float64)
        found[name] = Group(
            n=len(kept),
            excluded=len(of) - len(kept),
            mean=float(kept.mean()) if len(kept) else math.nan,
            sd=float(kept.std(ddof=1)) if len(kept) > 1 else math.nan,
        )
    return found
