"""Many logistic regressions over the same rows, solved together.

A sweep is layers x seeds x budgets; at one layer every fit reads the same matrix and differs only in
which rows it uses. The matrix is rotated to its principal axes and whitened once, which leaves the
L2-penalised objective what it was and makes it round; then all fits run L-BFGS side by side, so one
matrix product serves them all. With more columns than rows the rotation also drops to the rows' span,
where the solution lies. Objective, penalty and stopping rule are scikit-learn's:
``mean(w_i * log-loss_i) + |coef|^2 / (2 C sum w)``, intercept free, largest gradient component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

MEMORY = 12
ARMIJO = 1e-4


@dataclass(frozen=True)
class Sweep:
    """Solutions of many problems, one along the leading axis each.

    Attributes:
        coef: weights in the columns of the given matrix.
        intercept: free terms.
        iterations: L-BFGS steps taken.
        gradient: largest component of the mean objective's gradient where it stopped.
    """

    coef: Float[np.ndarray, "problem dim"]
    intercept: Float[np.ndarray, " problem"]
    iterations: Int[np.ndarray, " problem"]
    gradient: Float[np.ndarray, " problem"]


def solve(
    x: Float[np.ndarray, "row dim"],
    rows: Sequence[Int[np.ndarray, " _"]],
    y: Sequence[Int[np.ndarray, " _"]],
    weight: Sequence[Float[np.ndarray, " _"]],
    c: float = 1.0,
    tol: float = 1e-4,
    max_iter: int = 1000,
) -> Sweep:
    """Fit every problem ``(rows[k], y[k], weight[k])`` over the rows of ``x``.

    Args:
        x: features; computed in float64.
        rows: indices of the fit rows of each problem.
        y: 0 or 1 for each of them.
        weight: row weights, ones unless classes are balanced.
        c: inverse strength of the penalty.
        tol: stop when no component of the gradient of the mean objective exceeds it.
        max_iter: L-BFGS steps at most.
    """
    used = np.unique(np.concatenate(list(rows)))
    # The basis comes from all rows, fitted on or not, so that a problem's path to its optimum does not
    # depend on which other problems are solved with it; the optimum does not depend on the basis.
    everyone = x[np.isfinite(x).all(axis=1)].astype(np.float64)
    place = np.full(len(x), -1)
    place[used] = np.arange(len(used))
    target = np.zeros((len(used), len(rows)))
    mass = np.zeros((len(used), len(rows)))
    for k, (chosen, labels, weights) in enumerate(zip(rows, y, weight, strict=True)):
        target[place[chosen], k] = labels
        mass[place[chosen], k] = weights
    total = mass.sum(axis=0)
    penalty = 1.0 / (c * total)
    basis = _Basis.of(everyone, x[used].astype(np.float64), 1.0 / (c * len(everyone)))
    problem = _Objective(basis, target, mass / total, penalty)
    state, iterations, gradient = _lbfgs(problem, tol, max_iter)
    coef = basis.to_columns(state[1:])
    return Sweep(coef.T.copy(), state[0] - basis.mean @ coef, iterations, gradient)


@dataclass(frozen=True)
class _Basis:
    """Centred rows in whitened principal axes: ``z = (x - mean) @ axes / scale``."""

    z: np.ndarray
    mean: np.ndarray
    axes: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray, used: np.ndarray, penalty: float) -> _Basis:
        count, dim = x.shape
        mean = x.mean(axis=0)
        centred = x - mean
        if dim <= count:
            values, axes = np.linalg.eigh(centred.T @ centred)
            values = np.maximum(values, 0.0)
        else:
            values, left = np.linalg.eigh(centred @ centred.T)
            keep = values > values[-1] * 1e-14 if values[-1] > 0 else values > np.inf
            values = values[keep]
            axes = centred.T @ (left[:, keep] / np.sqrt(values))
        # Curvature along each axis where the log-loss is steepest, plus the penalty: the scale that
        # makes the first Newton step a plain gradient step.
        scale = np.sqrt(values / (4 * count) + penalty)
        return cls((used - mean) @ axes / scale, mean, axes, scale)

    def to_columns(self, inner: np.ndarray) -> np.ndarray:
        """Whitened weights as weights of the given columns, (dim, problem)."""
        return np.asarray(self.axes @ (inner / self.scale[:, None]))


@dataclass(frozen=True)
class _Objective:
    """Mean penalised log-loss of all problems at once; row 0 of a state is the intercept."""

    basis: _Basis
    target: np.ndarray
    weight: np.ndarray
    penalty: np.ndarray

    def logits(self, state: np.ndarray) -> np.ndarray:
        """(row, problem); linear in ``state``, so a line search needs it once a direction."""
        return np.asarray(self.basis.z @ state[1:] + state[0])

    def value(self, state: np.ndarray, logits: np.ndarray) -> np.ndarray:
        """Objective of each problem."""
        loss = np.logaddexp(0.0, logits) - self.target * logits
        inner = state[1:] / self.basis.scale[:, None]
        return np.asarray((self.weight * loss).sum(axis=0) + 0.5 * self.penalty * (inner**2).sum(axis=0))

    def gradient(self, state: np.ndarray, logits: np.ndarray) -> np.ndarray:
        """Gradient in whitened coordinates, intercept first."""
        residual = self.weight * (_sigmoid(logits) - self.target)
        inner = self.basis.z.T @ residual + self.penalty * state[1:] / (self.basis.scale**2)[:, None]
        return np.concatenate([residual.sum(axis=0, keepdims=True), inner])

    def largest(self, gradient: np.ndarray) -> np.ndarray:
        """Largest gradient component of each problem in the columns of the given matrix."""
        columns = self.basis.axes @ (gradient[1:] * self.basis.scale[:, None])
        columns += self.basis.mean[:, None] * gradient[0]
        return np.asarray(np.maximum(np.abs(columns).max(axis=0), np.abs(gradient[0])))


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logits)))


def _lbfgs(problem: _Objective, tol: float, max_iter: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minimise all problems side by side; a problem that has converged stands still."""
    size, count = problem.basis.z.shape[1] + 1, problem.target.shape[1]
    state = np.zeros((size, count))
    logits = np.zeros_like(problem.target)
    value, gradient = problem.value(state, logits), problem.gradient(state, logits)
    steps: list[np.ndarray] = []
    changes: list[np.ndarray] = []
    iterations = np.zeros(count, dtype=np.int64)
    largest = problem.largest(gradient)
    active = largest > tol
    for _ in range(max_iter):
        if not active.any():
            break
        direction = _direction(gradient, steps, changes) * active
        moved = problem.logits(direction)
        slope = (direction * gradient).sum(axis=0)
        length = np.ones(count)
        for _ in range(30):
            trial = state + length * direction
            trial_logits = logits + length * moved
            trial_value = problem.value(trial, trial_logits)
            bad = active & (trial_value > value + ARMIJO * length * slope + 1e-14 * np.abs(value))
            if not bad.any():
                break
            length = np.where(bad, 0.5 * length, length)
        else:
            # No step lowers the objective any more: the end of float64, not of the descent.
            active &= ~bad
            length = np.where(bad, 0.0, length)
            trial, trial_logits = state + length * direction, logits + length * moved
            trial_value = problem.value(trial, trial_logits)
        new = problem.gradient(trial, trial_logits)
        steps.append(trial - state)
        changes.append(new - gradient)
        del steps[:-MEMORY], changes[:-MEMORY]
        state, logits, value, gradient = trial, trial_logits, trial_value, new
        iterations += active
        largest = problem.largest(gradient)
        active &= largest > tol
    return state, iterations, largest


def _direction(gradient: np.ndarray, steps: list[np.ndarray], changes: list[np.ndarray]) -> np.ndarray:
    """Two-loop recursion, per problem; a pair without curvature (it stood still) counts for nothing."""
    q = gradient.copy()
    memory = []
    for step, change in zip(reversed(steps), reversed(changes), strict=True):
        curvature = (step * change).sum(axis=0)
        rho = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=curvature > 1e-300)
        alpha = rho * (step * q).sum(axis=0)
        q -= alpha * change
        memory.append((step, change, rho, alpha))
    if changes:
        step, change = steps[-1], changes[-1]
        over, under = (step * change).sum(axis=0), (change**2).sum(axis=0)
        q *= np.divide(over, under, out=np.ones_like(over), where=under > 1e-300)
    for step, change, rho, alpha in reversed(memory):
        q += (alpha - rho * (change * q).sum(axis=0)) * step
    return -q
