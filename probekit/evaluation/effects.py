"""How far two groups of rows lie apart: effect sizes and tests, from values or from printed moments.

First minus second throughout: with correct answers first, a negative value says that wrong answers have
more of the quantity, as in POPE-audit. SPEC 7 compares the conventions; all are reported side by side,
because a printed d without its convention cannot be checked.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import ndtr, ndtri, stdtr

from probekit.errors import InputError
from probekit.metrics.estimates import DRAWS, FEWEST, Estimate, group_index, percentile_interval, resamples


@dataclass(frozen=True, slots=True)
class Moments:
    """Size, mean and sample standard deviation (n - 1) of one group.

    Attributes:
        n: values.
        mean: their mean; NaN without values.
        sd: sample standard deviation; NaN below two values.
    """

    n: int | float
    mean: float
    sd: float

    @classmethod
    def of(cls, values: Float[np.ndarray, "row"]) -> "Moments":
        """Moments of the values that are there; NaN is left out."""
        kept = values[~np.isnan(values)].astype(np.float64)
        return cls(
            len(kept),
            float(kept.mean()) if len(kept) else math.nan,
            float(kept.std(ddof=1)) if len(kept) > 1 else math.nan,
        )


@dataclass(frozen=True, slots=True)
class TTest:
    """A t statistic, its degrees of freedom, and the two-sided p-value."""

    t: float
    df: int | float
    p: float


@dataclass(frozen=True, slots=True)
class RankTest:
    """Mann-Whitney by the normal approximation, two-sided.

    Attributes:
        u: U of the first group.
        z: standardised U; its sign is that of the shift.
        p: two-sided p-value.
        auc: share of pairs in which the first group's value is larger, ties half: U / (n1 n2).
    """

    u: float
    z: float
    p: float
    auc: float

    @property
    def rank_biserial(self) -> float:
        """2 auc - 1: 1 when every value of the first group is larger, -1 when every one is smaller."""
        return 2 * self.auc - 1


@dataclass(frozen=True)
class EffectSizes:
    """One comparison of two groups.

    Attributes:
        first: moments of the first group.
        second: moments of the second group.
        excluded: rows of either group without a value.
        d_pooled: Cohen's d with the pooled SD, with its interval.
        d_rms: difference over the root mean square of the two SDs, with its interval.
        glass_first: difference over the first group's SD.
        glass_second: difference over the second group's SD.
        welch: t test with unequal variances.
        student: t test with equal variances.
        rank: Mann-Whitney; from moments alone, what it would be if both groups were normal.
        auc: the rank test's auc, with its interval.
    """

    first: Moments
    second: Moments
    excluded: int
    d_pooled: Estimate
    d_rms: Estimate
    glass_first: float
    glass_second: float
    welch: TTest
    student: TTest
    rank: RankTest
    auc: Estimate


def pooled_sd(first: Moments, second: Moments) -> float:
    """sqrt(((n1 - 1) s1^2 + (n2 - 1) s2^2) / (n1 + n2 - 2)). SPEC 7."""
    weight = first.n + second.n - 2
    total = (first.n - 1) * first.sd**2 + (second.n - 1) * second.sd**2
    return math.sqrt(total / weight) if weight > 0 else math.nan


def cohens_d(first: Moments, second: Moments) -> float:
    """Difference of means over the pooled SD."""
    return _over(first.mean - second.mean, pooled_sd(first, second))


def d_rms(first: Moments, second: Moments) -> float:
    """Difference of means over sqrt((s1^2 + s2^2) / 2): both groups weigh the same."""
    return _over(first.mean - second.mean, math.sqrt((first.sd**2 + second.sd**2) / 2))


def glass_delta(first: Moments, second: Moments) -> tuple[float, float]:
    """Difference of means over the first group's SD, and over the second's."""
    gap = first.mean - second.mean
    return _over(gap, first.sd), _over(gap, second.sd)


def welch(first: Moments, second: Moments) -> TTest:
    """t test that lets the variances differ, with Satterthwaite's degrees of freedom."""
    if min(first.n, second.n) < 2:
        return TTest(math.nan, math.nan, math.nan)
    one, two = first.sd**2 / first.n, second.sd**2 / second.n
    t = _over(first.mean - second.mean, math.sqrt(one + two))
    df = _over((one + two) ** 2, one**2 / (first.n - 1) + two**2 / (second.n - 1))
    return TTest(t, df, _two_sided_t(t, df))


def student(first: Moments, second: Moments) -> TTest:
    """t test with one pooled variance."""
    if min(first.n, second.n) < 2:
        return TTest(math.nan, math.nan, math.nan)
    df = first.n + second.n - 2
    t = _over(first.mean - second.mean, pooled_sd(first, second) * math.sqrt(1 / first.n + 1 / second.n))
    return TTest(t, df, _two_sided_t(t, df))


def mann_whitney(
    first: Float[np.ndarray, "row"],
    second: Float[np.ndarray, "other"],
    *,
    ties: bool = False,
    continuity: bool = False,
) -> RankTest:
    """Mann-Whitney U, two-sided, by the normal approximation. NaN is left out.

    Args:
        ties: lower the variance for tied values.
        continuity: move U half a step towards its mean.
    """
    one, two = first[~np.isnan(first)], second[~np.isnan(second)]
    if not len(one) or not len(two):
        return RankTest(math.nan, math.nan, math.nan, math.nan)
    _, place, size = np.unique(np.concatenate([one, two]), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(size) - (size - 1) / 2)[place]
    u = float(ranks[: len(one)].sum() - len(one) * (len(one) + 1) / 2)
    tied = float((size.astype(np.float64) ** 3 - size).sum()) if ties else 0.0
    return _rank_test(u, len(one), len(two), tied, continuity)


def normal_rank_test(first: Moments, second: Moments) -> RankTest:
    """The Mann-Whitney test expected of two normal groups with these moments. SPEC 7."""
    auc = float(ndtr(_over(first.mean - second.mean, math.hypot(first.sd, second.sd))))
    return _rank_test(auc * first.n * second.n, first.n, second.n, 0.0, False)


def rank_test_of_p(p: float, first: int, second: int) -> RankTest:
    """The Mann-Whitney test that a printed two-sided p-value implies, first group larger. SPEC 7."""
    z = float(-ndtri(p / 2))
    u = first * second / 2 + z * math.sqrt(first * second * (first + second + 1) / 12)
    return RankTest(u, z, p, u / (first * second))


def from_moments(first: Moments, second: Moments) -> EffectSizes:
    """All effect sizes that printed moments allow, without intervals."""

    def plain(value: float) -> Estimate:
        return Estimate(value, math.nan, math.nan, int(first.n + second.n))

    rank = normal_rank_test(first, second)
    return EffectSizes(
        first,
        second,
        0,
        plain(cohens_d(first, second)),
        plain(d_rms(first, second)),
        *glass_delta(first, second),
        welch(first, second),
        student(first, second),
        rank,
        plain(rank.auc),
    )


def compare(
    values: Float[np.ndarray, "row"],
    is_first: Bool[np.ndarray, "row"],
    images: Sequence[str],
    *,
    ties: bool = False,
    continuity: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
) -> EffectSizes:
    """Compare the rows of the first group with all others, with intervals over resampled pictures.

    Args:
        values: one number a row; NaN is missing, left out and counted.
        is_first: which rows are the first group.
        images: the picture of each row, drawn with all of its rows.
        ties: see `mann_whitney`.
        continuity: see `mann_whitney`.

    Raises:
        InputError: lengths differ.
    """
    if not len(values) == len(is_first) == len(images):
        raise InputError(f"{len(values)} values, {len(is_first)} group marks and {len(images)} pictures")
    there = ~np.isnan(values)
    kept, group = values[there].astype(np.float64), is_first[there]
    first, second = Moments.of(kept[group]), Moments.of(kept[~group])
    rank = mann_whitney(kept[group], kept[~group], ties=ties, continuity=continuity)
    index, count = group_index([image for image, keep in zip(images, there, strict=True) if keep])
    fewest = min(len(set(index[side])) for side in (group, ~group))
    drawn: list[tuple[float, float, float]] = []
    order = _ordered(kept)
    for block in resamples(count, draws if fewest >= FEWEST else 0, seed):
        for weight in block:
            rows = weight[index].astype(np.float64)
            one, two = _weighted(kept, rows * group), _weighted(kept, rows * ~group)
            drawn.append((cohens_d(one, two), d_rms(one, two), _weighted_auc(order, group, rows)))
    columns = list(zip(*drawn, strict=True)) or [(), (), ()]
    missing = int((~there).sum())

    def interval(value: float, column: int) -> Estimate:
        return Estimate(
            value, *percentile_interval(columns[column]), n=len(kept), excluded=missing, groups=count
        )

    return EffectSizes(
        first,
        second,
        missing,
        interval(cohens_d(first, second), 0),
        interval(d_rms(first, second), 1),
        *glass_delta(first, second),
        welch(first, second),
        student(first, second),
        rank,
        interval(rank.auc, 2),
    )


def _rank_test(u: float, n1: int | float, n2: int | float, tied: float, continuity: bool) -> RankTest:
    n = n1 + n2
    variance = n1 * n2 / 12 * ((n + 1) - (tied / (n * (n - 1)) if n > 1 else 0.0))
    shift = u - n1 * n2 / 2
    if continuity:
        shift = math.copysign(max(abs(shift) - 0.5, 0.0), shift)
    z = _over(shift, math.sqrt(max(variance, 0.0)))
    return RankTest(u, z, float(2 * ndtr(-abs(z))), u / (n1 * n2))


def _over(top: float, bottom: int | float) -> float:
    return top / bottom if bottom else math.nan


def _two_sided_t(t: float, df: int | float) -> float:
    return float(2 * stdtr(df, -abs(t)))


def _weighted(values: Float[np.ndarray, "row"], weight: Float[np.ndarray, "row"]) -> Moments:
    """Moments of rows that count several times, as if they were repeated."""
    n = float(weight.sum())
    if n == 0:
        return Moments(0, math.nan, math.nan)
    mean = float(weight @ values) / n
    variance = float(weight @ (values - mean) ** 2) / (n - 1) if n > 1 else math.nan
    return Moments(n, mean, math.sqrt(variance))


@dataclass(frozen=True)
class _Order:
    """Rows sorted by value, and where each distinct value begins."""

    rows: Int[np.ndarray, "row"]
    starts: Int[np.ndarray, "distinct"]


def _ordered(values: Float[np.ndarray, "row"]) -> _Order:
    rows = np.argsort(values, kind="stable")
    ranked = values[rows]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]]) if len(rows) else rows
    return _Order(rows, starts)


def _weighted_auc(
    order: _Order, is_first: Bool[np.ndarray, "row"], weight: Float[np.ndarray, "row"]
) -> float:
    """Share of pairs in which the first group's value is larger, rows counting ``weight`` times."""
    if not len(order.rows):
        return math.nan
    sorted_weight, sorted_first = weight[order.rows], is_first[order.rows]
    one = np.add.reduceat(sorted_weight * sorted_first, order.starts)
    two = np.add.reduceat(sorted_weight * ~sorted_first, order.starts)
    below = np.cumsum(two) - two
    return _over(float(one @ (below + two / 2)), float(one.sum() * two.sum()))
