"""The two numbers the card needs: an area under a curve, and one under a cross-validated probe."""

import numpy as np
from jaxtyping import Bool, Float, Int

Matrix = Float[np.ndarray, "row feature"]


def auroc(scores: Float[np.ndarray, " row"], positive: Bool[np.ndarray, " row"]) -> float:
    """Return the chance that a positive outscores a negative, ties counted half.

    NaN when either class is empty.
    """
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if positives == 0 or negatives == 0:
        return float("nan")
    _, place, number = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(number)
    ranks = (last - (number - 1) / 2)[place]
    surplus = ranks[positive].sum() - positives * (positives + 1) / 2
    return float(surplus / (positives * negatives))


def _fit(x: Matrix, y: Bool[np.ndarray, " row"], ridge: float) -> Float[np.ndarray, " feature+1"]:
    """Return the weights of a ridge logistic regression, the intercept last, by Newton's method."""
    design = np.hstack([x, np.ones((len(x), 1))])
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = 1e-6
    weights = np.zeros(design.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (chance - y) + penalty * weights
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def probe_scores(
    x: Matrix,
    positive: Bool[np.ndarray, " row"],
    group: Int[np.ndarray, " row"],
    fit_on: Bool[np.ndarray, " row"],
    folds: int = 5,
    ridge: float = 50.0,
) -> Float[np.ndarray, " row"]:
    """Return out-of-fold scores of a logistic probe; a group is never on both sides.

    `fit_on` marks the rows a probe may learn from; every row is scored. Features are
    standardised on the rows that are learnt from.
    """
    names = np.unique(group)
    fold_of = dict(zip(names, np.random.default_rng(0).permutation(len(names)) % folds, strict=True))
    fold = np.array([fold_of[g] for g in group])
    scores = np.full(len(x), np.nan)
    for held in range(folds):
        learn = fit_on & (fold != held)
        mean, deviation = x[learn].mean(0), x[learn].std(0) + 1e-6
        weights = _fit((x[learn] - mean) / deviation, positive[learn], ridge)
        test = fold == held
        scores[test] = (x[test] - mean) / deviation @ weights[:-1] + weights[-1]
    return scores
