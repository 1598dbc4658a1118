"""Does pressure raise it: Page's trend over tone levels, and paired changes between two levels."""

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

from probekit.errors import InputError

EXACT_IMAGES = 1000
"""Varying images up to which the distribution of Page's L is computed in full."""
EXACT_LEVELS = 7
"""Levels up to which it is: an image's values have at most 5,040 orders."""


@dataclass(frozen=True)
class Trend:
    """Page's test for a rise over ordered levels, images being the blocks.

    Attributes:
        statistic: Page's L, the sum over levels of level times rank sum.
        z: L standardised with its variance under the null hypothesis, ties within an image allowed for.
        p: one-sided p-value for a rise; NaN when nothing varies.
        n: images with a value at every level.
        excluded: images left out because a level is missing.
        varying: images whose values differ between levels; only these say anything of a trend.
        exact: whether p is that of the full distribution of L, and not of the normal approximation.
        p_two_sided: p-value for a rise or a fall.
    """

    statistic: float
    z: float
    p: float
    n: int
    excluded: int
    varying: int = 0
    exact: bool = True
    p_two_sided: float = math.nan


def page_trend(table: Float[np.ndarray, "image level"]) -> Trend:
    """Page's L test with mid-ranks. Page 1963; agrees with scipy's tests where nothing is tied.

    Yes/no outcomes are nearly all ties. Under the null hypothesis each image's values stand in any order
    with equal chance, so an image without variation adds nothing, and the distribution of L is the
    convolution of the other images' own. Above `EXACT_IMAGES` varying images the normal approximation
    with the same two moments takes its place; there the two differ by less than a twentieth of p.

    Args:
        table: value of each image at each level, levels in rising order; NaN marks a missing one.
    """
    if table.shape[1] < 2:
        raise InputError(f"{table.shape[1]} tone levels", hint="A trend needs at least two.")
    kept = table[~np.isnan(table).any(axis=1)]
    excluded = len(table) - len(kept)
    if len(kept) == 0:
        return Trend(math.nan, math.nan, math.nan, 0, excluded)
    levels = np.arange(1, table.shape[1] + 1, dtype=np.float64)
    ranks = stats.rankdata(kept, axis=1)
    statistic = float((ranks @ levels).sum())
    expected = len(kept) * levels.sum() * (len(levels) + 1) / 2
    spread = ((levels - levels.mean()) ** 2).sum()
    variance = spread * ((ranks - ranks.mean(axis=1, keepdims=True)) ** 2).sum() / (len(levels) - 1)
    if variance == 0:
        return Trend(statistic, math.nan, math.nan, len(kept), excluded)
    z = float((statistic - expected) / math.sqrt(variance))
    moving = ranks[ranks.min(axis=1) < ranks.max(axis=1)]
    exact = len(moving) <= EXACT_IMAGES and len(levels) <= EXACT_LEVELS
    if exact:
        rise, fall = _tails(moving)
    else:
        rise, fall = float(stats.norm.sf(z)), float(stats.norm.cdf(z))
    both = min(1.0, 2 * min(rise, fall))
    return Trend(statistic, z, rise, len(kept), excluded, len(moving), exact, both)


def _tails(ranks: Float[np.ndarray, "image level"]) -> tuple[float, float]:
    """P(L >= observed) and P(L <= observed) when every order of each image's ranks is as likely."""
    # mid-ranks are multiples of a half, so twice L is a whole number
    twice = np.rint(2 * ranks).astype(np.int64)
    levels = np.arange(1, ranks.shape[1] + 1)
    observed = int((twice @ levels).sum())
    total, lowest = np.ones(1), 0
    patterns, counts = np.unique(np.sort(twice, axis=1), axis=0, return_counts=True)
    for pattern, count in zip(patterns, counts, strict=True):
        own = np.array([np.dot(order, levels) for order in itertools.permutations(pattern)])
        weights = np.bincount(own - own.min()) / len(own)
        for _ in range(count):
            total = np.convolve(total, weights)
        lowest += int(own.min()) * int(count)
    at = observed - lowest
    return min(1.0, float(total[at:].sum())), min(1.0, float(total[: at + 1].sum()))


class Change(NamedTuple):
    """Levels compared, as tone numbers."""

    before: int
    after: int


@dataclass(frozen=True)
class PairedChange:
    """McNemar's exact test between two tone levels, image by image.

    Attributes:
        levels: the two tone levels.
        up: images that hallucinate at the second level only.
        down: images that hallucinate at the first level only.
        p: two-sided exact p-value; 1 when no image changes.
        n: images with a verdict at both levels.
        excluded: images left out because one is missing.
    """

    levels: Change
    up: int
    down: int
    p: float
    n: int
    excluded: int


def mcnemar(
    before: Float[np.ndarray, "image"], after: Float[np.ndarray, "image"], levels: Change
) -> PairedChange:
    """Exact McNemar test of paired yes/no outcomes (1 and 0; NaN is missing)."""
    kept = ~(np.isnan(before) | np.isnan(after))
    up = int(((before[kept] == 0) & (after[kept] == 1)).sum())
    down = int(((before[kept] == 1) & (after[kept] == 0)).sum())
    p = 1.0 if up + down == 0 else float(stats.binomtest(up, up + down, 0.5).pvalue)
    return PairedChange(levels, up, down, p, int(kept.sum()), int((~kept).sum()))
