"""Effect sizes for every layer and head at once, with correction for looking at so many."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Shaped
from scipy.special import ndtr, stdtr
from scipy.stats import rankdata

from probekit.errors import InputError


@dataclass(frozen=True)
class EffectMap:
    """Two groups compared in every cell of a grid, such as layer by head; first minus second.

    Attributes:
        d_pooled: Cohen's d with the pooled SD; NaN where a cell does not vary.
        auc: share of pairs in which the first group's value is larger, ties half.
        p_welch: two-sided p of Welch's t, uncorrected.
        p_rank: two-sided p of Mann-Whitney by the normal approximation, ties corrected, uncorrected.
        n_first: rows of the first group with a value in each cell.
        n_second: rows of the second group with a value in each cell.
    """

    d_pooled: Float[np.ndarray, "layer head"]
    auc: Float[np.ndarray, "layer head"]
    p_welch: Float[np.ndarray, "layer head"]
    p_rank: Float[np.ndarray, "layer head"]
    n_first: Shaped[np.ndarray, "layer head"]
    n_second: Shaped[np.ndarray, "layer head"]

    @property
    def tests(self) -> int:
        """Cells that could be tested; the corrections count these."""
        return int((~np.isnan(self.p_rank)).sum())


def effect_map(values: Float[np.ndarray, "row layer head"], is_first: Bool[np.ndarray, "row"]) -> EffectMap:
    """Compare two groups of rows in every layer and head.

    Args:
        values: one number for each row, layer and head; NaN is missing and left out of its cell.
        is_first: which rows are the first group.

    Raises:
        InputError: lengths differ.
    """
    if len(values) != len(is_first):
        raise InputError(f"{len(values)} rows of values for {len(is_first)} group marks")
    data = values.astype(np.float64)
    first, second = _moments(data[is_first]), _moments(data[~is_first])
    (n1, m1, v1), (n2, m2, v2) = first, second
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = np.sqrt(((n1 - 1) * v1 + (n2 - 1) * v2) / (n1 + n2 - 2))
        d = np.where(pooled > 0, (m1 - m2) / pooled, np.nan)
        error = v1 / n1 + v2 / n2
        df = error**2 / ((v1 / n1) ** 2 / (n1 - 1) + (v2 / n2) ** 2 / (n2 - 1))
        t = np.where(error > 0, (m1 - m2) / np.sqrt(error), np.nan)
        p_welch = 2 * stdtr(df, -np.abs(t))
        auc, p_rank = _ranks(data, is_first, n1, n2)
    return EffectMap(d, auc, np.asarray(p_welch), p_rank, n1.astype(np.int64), n2.astype(np.int64))


def holm(p: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Holm's adjusted p-values: the chance of any false finding stays below the level. NaN stays NaN."""
    return _adjust(p, step_up=False)


def benjamini_hochberg(p: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Benjamini and Hochberg's adjusted p-values: the expected share of false findings. NaN stays NaN."""
    return _adjust(p, step_up=True)


def _adjust(p: np.ndarray, *, step_up: bool) -> np.ndarray:
    flat = p.ravel().astype(np.float64)
    tested = np.flatnonzero(~np.isnan(flat))
    order = tested[np.argsort(flat[tested], kind="stable")]
    n, ranks = len(order), np.arange(1, len(order) + 1)
    result = np.full(flat.shape, np.nan)
    if step_up:
        scaled = flat[order] * n / ranks
        result[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    else:
        scaled = flat[order] * (n - ranks + 1)
        result[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return result.reshape(p.shape)


def _moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count, mean and sample variance over rows, missing values left out."""
    there = ~np.isnan(values)
    n = there.sum(axis=0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(there, values, 0.0).sum(axis=0) / n
        squares = np.where(there, values - mean, 0.0) ** 2
        variance = squares.sum(axis=0) / (n - 1)
    return n, mean, variance


def _ranks(
    values: np.ndarray, is_first: np.ndarray, n1: np.ndarray, n2: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """AUC and tie-corrected Mann-Whitney p of every cell."""
    ranks = rankdata(values, axis=0, nan_policy="omit")
    u = np.nansum(ranks[is_first], axis=0) - n1 * (n1 + 1) / 2
    ordered = np.sort(ranks, axis=0)
    n = n1 + n2
    # A group of t tied values shares one rank; the sum of t^2 - 1 over its members is t^3 - t.
    tied = np.stack([_tie_sum(column) for column in ordered.reshape(len(ordered), n1.size).T])
    variance = n1 * n2 / 12 * ((n + 1) - tied.reshape(n.shape) / (n * (n - 1)))
    z = np.where(variance > 0, (u - n1 * n2 / 2) / np.sqrt(np.maximum(variance, 0)), np.nan)
    empty = (n1 == 0) | (n2 == 0)
    auc = np.where(empty, np.nan, u / (n1 * n2))
    return auc, np.where(empty, np.nan, 2 * ndtr(-np.abs(z)))


def _tie_sum(ranks: np.ndarray) -> float:
    sizes = np.unique(ranks[~np.isnan(ranks)], return_counts=True)[1].astype(np.float64)
    return float((sizes**3 - sizes).sum())
