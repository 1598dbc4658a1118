"""AUROC, average precision and shares, and their intervals from resampling images. SPEC 0.9, 3.4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

REPLICATES = 1000
COVERAGE = 0.95
PAIRS = 4_000_000
"""Pairs of a positive and a negative row above which AUROC is resampled row by row."""


def auroc(scores: Float[np.ndarray, " row"], positive: Bool[np.ndarray, " row"]) -> float:
    """Probability that a positive scores above a negative, ties counted half; NaN without both classes."""
    ones = np.ones((1, len(scores)))
    return float(weighted_auroc(scores, positive, ones)[0])


def weighted_auroc(
    scores: Float[np.ndarray, " row"],
    positive: Bool[np.ndarray, " row"],
    weight: Float[np.ndarray, "replicate row"],
) -> Float[np.ndarray, " replicate"]:
    """AUROC under each row of weights; NaN where a class has no weight."""
    order = np.argsort(scores, kind="stable")
    ranked, is_positive = scores[order], positive[order]
    weights = weight[:, order]
    below = np.cumsum(weights * ~is_positive, axis=1)
    below = np.concatenate([np.zeros((len(weights), 1)), below], axis=1)
    first = np.searchsorted(ranked, ranked[is_positive], side="left")
    last = np.searchsorted(ranked, ranked[is_positive], side="right")
    positives = weights[:, is_positive]
    wins = (positives * (below[:, first] + below[:, last])).sum(axis=1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(wins / (positives.sum(axis=1) * below[:, -1]))


def aupr(scores: Float[np.ndarray, " row"], positive: Bool[np.ndarray, " row"]) -> float:
    """Average precision with hallucinated as the positive class; NaN without positives."""
    if not positive.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(positive[order])
    last = np.append(scores[order][1:] != scores[order][:-1], True)
    precision = hits[last] / (np.flatnonzero(last) + 1)
    recall = hits[last] / hits[-1]
    return float((np.diff(recall, prepend=0.0) * precision).sum())


@dataclass(frozen=True)
class Resamples:
    """Bootstrap draws of images: how often each image is in each replicate.

    Attributes:
        images: distinct image ids, sorted.
        counts: draws of each image; every row sums to the number of images.
    """

    images: tuple[str, ...]
    counts: Float[np.ndarray, "replicate image"]

    @classmethod
    def of(cls, images: np.ndarray, replicates: int = REPLICATES, seed: int = 0) -> Resamples:
        """Draw images with replacement, as many as there are distinct ones."""
        names = tuple(sorted(set(images.tolist())))
        if not names:
            return cls(names, np.zeros((replicates, 0)))
        random = np.random.default_rng([seed, 47])
        draws = random.multinomial(len(names), np.full(len(names), 1 / len(names)), size=replicates)
        return cls(names, draws.astype(np.float64))

    def codes(self, images: np.ndarray) -> Int[np.ndarray, " row"]:
        """Column of `counts` for each row."""
        place = {name: at for at, name in enumerate(self.images)}
        return np.fromiter((place[name] for name in images), np.int64, len(images))

    def weights(self, codes: Int[np.ndarray, " row"]) -> Float[np.ndarray, "replicate row"]:
        """Weight of each row in each replicate: the draws of its image."""
        return np.asarray(self.counts[:, codes])

    def auroc(
        self,
        codes: Int[np.ndarray, " row"],
        scores: Float[np.ndarray, " row"],
        positive: Bool[np.ndarray, " row"],
    ) -> Float[np.ndarray, " replicate"]:
        """AUROC in each replicate; NaN where a class was not drawn.

        Wins are counted once for each pair of images: a replicate weighs the pair by the draws of both.
        """
        if int(positive.sum()) * int((~positive).sum()) > PAIRS:
            return weighted_auroc(scores, positive, self.weights(codes))
        above, one = _by_image(codes[positive], scores[positive])
        below, two = _by_image(codes[~positive], scores[~positive])
        if len(above) == 0 or len(below) == 0:
            return np.full(len(self.counts), np.nan)
        pairs = np.where(above[:, None] > below, 1.0, np.where(above[:, None] == below, 0.5, 0.0))
        wins = np.add.reduceat(np.add.reduceat(pairs, one.starts, axis=0), two.starts, axis=1)
        left, right = self.counts[:, one.images], self.counts[:, two.images]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(
                ((left @ wins) * right).sum(axis=1) / ((left @ one.sizes) * (right @ two.sizes))
            )

    def share(
        self, codes: Int[np.ndarray, " row"], flagged: Bool[np.ndarray, " row"]
    ) -> Float[np.ndarray, " replicate"]:
        """Share of flagged rows in each replicate; NaN where none of the rows was drawn."""
        size = len(self.images)
        hits = self.counts @ np.bincount(codes[flagged], minlength=size).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(hits / (self.counts @ np.bincount(codes, minlength=size).astype(np.float64)))


@dataclass(frozen=True)
class _Runs:
    """Rows sorted by image: where each image begins, which it is, and how many rows it has."""

    starts: np.ndarray
    images: np.ndarray
    sizes: np.ndarray


def _by_image(codes: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, _Runs]:
    order = np.argsort(codes, kind="stable")
    images, starts, sizes = np.unique(codes[order], return_index=True, return_counts=True)
    return values[order], _Runs(starts, images, sizes.astype(np.float64))


def interval(replicates: Float[np.ndarray, " replicate"]) -> tuple[float, float]:
    """Percentile interval; replicates without a value are left out, none left gives NaN."""
    valid = replicates[np.isfinite(replicates)]
    if len(valid) == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(valid, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)
