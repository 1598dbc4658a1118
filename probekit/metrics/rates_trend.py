"""Does pressure raise it: Page's trend over tone levels, and paired changes between two levels."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import stats

from probekit.errors import InputError


@dataclass(frozen=True)
class Trend:
    """Page's test for a rise over ordered levels, images being the blocks.

    Attributes:
        statistic: Page's L, the sum over levels of level times rank sum.
        z: L standardised with its variance under the null hypothesis, ties within an image allowed for.
        p: one-sided p-value for a rise, normal approximation; NaN when nothing varies.
        n: images with a value at every level.
        excluded: images left out because a level is missing.
    """

    statistic: float
    z: float
    p: float
    n: int
    excluded: int


def page_trend(table: Float[np.ndarray, "image level"]) -> Trend:
    """Page's L test with mid-ranks. Page 1963; agrees with scipy's asymptotic test where nothing is tied.

    scipy's variance ignores ties. Yes/no outcomes are nearly all ties, so here each image's variance
    is that of its own ranks under permutation, which makes the test exact in its first two moments.

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
    return Trend(statistic, z, float(stats.norm.sf(z)), len(kept), excluded)


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
