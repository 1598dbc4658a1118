"""Logistic regression with scikit-learn's objective: L2, C = 1, intercept free, no standardisation.

SPEC 1.1, 1.2: the published probes use scikit-learn's defaults with ``max_iter=1000``. Fits over the
same rows are solved together (`sweep`); ``solver="sklearn"`` runs the reference itself, one by one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from probekit.detectors.heads.base import Problem, Solution, Weights, require_two_classes, sigmoid
from probekit.detectors.heads.sweep import solve

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Logistic:
    """L2-penalised logistic regression.

    Attributes:
        c: inverse strength of the penalty.
        max_iter: iterations at most.
        tol: largest component of the gradient of the mean objective at which the solver stops.
        scale: z-score with the mean and deviation of the fit rows, a named variant.
        balanced: weight rows by the inverse frequency of their class.
        solver: all fits together, or scikit-learn one by one.
    """

    c: float = 1.0
    max_iter: int = 1000
    tol: float = 1e-5
    scale: bool = False
    balanced: bool = False
    solver: Literal["sweep", "sklearn"] = "sweep"

    def fit(self, x: Float[np.ndarray, "row dim"], problems: Sequence[Problem]) -> Iterator[Solution]:
        """Solve all problems; `NotFittableError` when one has a single class."""
        for problem in problems:
            require_two_classes(problem)
        if not self.scale:
            yield from self._fit_unscaled(x, problems)
            return
        for problem in problems:
            part = x[problem.rows].astype(np.float64)
            mean, deviation = part.mean(axis=0), np.maximum(part.std(axis=0), 1e-8)
            everyone = Problem(np.arange(len(problem.rows)), problem.y, problem.seed)
            (solution,) = self._fit_unscaled((part - mean) / deviation, [everyone])
            scaling = {"mean": mean, "deviation": deviation}
            yield Solution({**solution.weights, **scaling}, solution.log)

    def score(self, weights: Weights, x: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " row"]:
        """P(hallucinated), float64."""
        values = x.astype(np.float64)
        if "mean" in weights:
            values = (values - weights["mean"]) / weights["deviation"]
        # One product a row: a blocked matrix product may round the same row differently by its place.
        return sigmoid(np.einsum("nd,d->n", values, weights["coef"]) + weights["intercept"][0])

    def _fit_unscaled(self, x: np.ndarray, problems: Sequence[Problem]) -> Iterator[Solution]:
        if self.solver == "sklearn":
            for problem in problems:
                yield self._fit_sklearn(x, problem)
            return
        weight = [self._row_weights(problem.y) for problem in problems]
        result = solve(
            x, [p.rows for p in problems], [p.y for p in problems], weight, self.c, self.tol, self.max_iter
        )
        for at in range(len(problems)):
            log = {
                "iterations": int(result.iterations[at]),
                "gradient": float(result.gradient[at]),
                "converged": bool(result.gradient[at] <= self.tol),
            }
            if not log["converged"]:
                LOG.warning("logistic regression stopped after %d iterations unconverged", log["iterations"])
            weights = {"coef": result.coef[at], "intercept": result.intercept[at : at + 1]}
            yield Solution(weights, log)

    def _row_weights(self, y: np.ndarray) -> np.ndarray:
        if not self.balanced:
            return np.ones(len(y))
        return np.asarray((len(y) / (2 * np.bincount(y, minlength=2)))[y])

    def _fit_sklearn(self, x: np.ndarray, problem: Problem) -> Solution:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(
            C=self.c,
            max_iter=self.max_iter,
            tol=self.tol,
            class_weight="balanced" if self.balanced else None,
        ).fit(x[problem.rows].astype(np.float64), problem.y)
        iterations = int(model.n_iter_[0])
        LOG.info("logistic regression: n_iter_ %d", iterations)
        log = {"iterations": iterations, "converged": iterations < self.max_iter}
        return Solution({"coef": model.coef_[0], "intercept": model.intercept_}, log)
