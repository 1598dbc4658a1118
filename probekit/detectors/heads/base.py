"""What every head shares: fitting gives weights, weights score rows. Fitting and using are two types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from probekit.errors import InputError

Weights = Mapping[str, np.ndarray]


class NotFittableError(InputError):
    """The fit set cannot train a classifier; the evaluation reports n/a with the reason."""


@dataclass(frozen=True)
class Problem:
    """One fit over rows of a shared matrix.

    Attributes:
        rows: indices of the fit rows.
        y: 1 for hallucinated, 0 for the rest, one per fit row.
        seed: seeds initialisation and batch order, where there are any.
    """

    rows: Int[np.ndarray, " fit"]
    y: Int[np.ndarray, " fit"]
    seed: int = 0


@dataclass(frozen=True)
class Solution:
    """Weights of one fit, and what the solver said (iterations, gradient, loss)."""

    weights: Weights
    log: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Head(Protocol):
    """A recipe for a classifier. Implementations are frozen dataclasses."""

    def fit(self, x: Float[np.ndarray, "row dim"], problems: Sequence[Problem]) -> Iterator[Solution]:
        """Solve all problems over the rows of ``x``; one solution each, in order, as soon as it is there."""
        ...

    def score(self, weights: Weights, x: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " row"]:
        """Probability of class 1 for every row."""
        ...


def require_two_classes(problem: Problem) -> None:
    """Refuse a fit set with one class.

    Raises:
        NotFittableError: fewer than one row of each class; the message counts them.
    """
    positives = int(problem.y.sum())
    negatives = len(problem.y) - positives
    if positives == 0 or negatives == 0:
        raise NotFittableError(
            f"a classifier needs both classes, found {positives} hallucinated and {negatives} other rows",
            hint="Use more images, or other labels.",
        )


def sigmoid(logits: Float[np.ndarray, " row"]) -> Float[np.ndarray, " row"]:
    """Logistic function that overflows on neither side."""
    small = np.exp(-np.abs(logits))
    return np.asarray(np.where(logits >= 0, 1.0, small) / (1.0 + small))


def dense(weights: Weights, name: str, x: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, "row out"]:
    """One linear layer of a stored network, float64.

    In float64 a row's place in the batch moves its result by less than float32 can show, so that equal
    rows get equal scores.
    """
    return np.asarray(x @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"])
