"""An estimate with its interval: pooled ratios whose uncertainty comes from resampling images.

Where every image says the same, resampling them gives one number again and again, and an interval without
width would claim certainty. A share then has Wilson's interval on the number of images, anything else none.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from jaxtyping import Float, Int, Shaped

from probekit.errors import InputError

DRAWS = 1000
"""Bootstrap draws behind an interval unless the caller asks for another number."""
FEWEST = 5
"""Fewest groups behind an interval: resampling fewer gives a handful of numbers, and no interval."""
BLOCK = 2_000_000
"""Most repetition counts held at once, which bounds memory."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number, with how sure it is and how much stands behind it.

    Attributes:
        value: the estimate on all rows that count; NaN when none do.
        low: lower end of the 95 % percentile interval over resampled groups; NaN below `FEWEST` groups. Where
            all draws agree: of `wilson`'s on the number of groups for a share, NaN for anything else.
        high: upper end of it.
        n: rows behind the value.
        excluded: rows left out because a value was missing.
        groups: groups with a row behind the value; ``None`` where that was not counted.
    """

    value: float
    low: float
    high: float
    n: int
    excluded: int = 0
    groups: int | None = None

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "n/a"
        if math.isnan(self.low):
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def group_index(groups: Sequence[str]) -> tuple[Int[np.ndarray, "row"], int]:
    """Number of each row's group in the order of their names, and how many groups there are.

    The order of the rows plays no part, so that the same data are resampled in the same way wherever they
    come from.
    """
    order = {group: number for number, group in enumerate(sorted(set(groups)))}
    return np.array([order[group] for group in groups], dtype=np.int64), len(order)


def resamples(groups: int, draws: int = DRAWS, seed: int = 0) -> Iterator[Int[np.ndarray, "draw group"]]:
    """How often each of ``groups`` groups was drawn, in blocks of bootstrap draws.

    A group is drawn with all of its rows, so rows of one image never count as independent.
    """
    generator = np.random.default_rng(seed)
    share = np.full(groups, 1.0 / groups) if groups else np.empty(0)
    block = max(1, BLOCK // max(1, groups))
    for start in range(0, draws, block):
        yield generator.multinomial(groups, share, size=min(block, draws - start))


def percentile_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Central percentile interval of bootstrap values; draws without a value (NaN) do not count.

    NaN when there is none, and when both ends agree: no width is no certainty.
    """
    kept = np.asarray([value for value in values if math.isfinite(value)])
    if kept.size == 0:
        return math.nan, math.nan
    low, high = (float(end) for end in np.quantile(kept, [(1 - level) / 2, (1 + level) / 2]))
    return (math.nan, math.nan) if _equal(low, high) else (low, high)


def wilson(share: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share of ``n`` independent draws; NaN without any. Wilson 1927."""
    if n < 1 or math.isnan(share):
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return 0.0 if share == 0 else max(0.0, centre - half), 1.0 if share == 1 else min(1.0, centre + half)


def share_interval(share: float, drawn: Sequence[float], groups: int) -> tuple[float, float]:
    """Interval of a share from its bootstrap values; `wilson`'s on ``groups`` where all of them agree.

    Where they do not, and yet both ends of the interval agree, there is none (NaN): a few groups decide.

    Args:
        groups: groups with a row that the share is taken over; NaN comes back below `FEWEST`.
    """
    if groups < FEWEST:
        return math.nan, math.nan
    known = [value for value in drawn if math.isfinite(value)]
    return wilson(share, groups) if known and _equal(min(known), max(known)) else percentile_interval(known)


def difference_interval(difference: float, groups: int) -> tuple[float, float]:
    """Interval of a paired difference of two shares that is the same in all ``groups`` groups.

    As for a share that nothing was seen to break, a part of the groups up to `wilson`'s upper end for none
    of them may be otherwise, and would have any difference from -1 to 1. NaN below `FEWEST` groups.
    """
    if groups < FEWEST or math.isnan(difference):
        return math.nan, math.nan
    other = wilson(0.0, groups)[1]
    return difference - other * (difference + 1), difference + other * (1 - difference)


def ratio(
    numerator: Float[np.ndarray, "row"],
    denominator: Float[np.ndarray, "row"],
    groups: Sequence[str],
    *,
    share: bool = True,
    draws: int = DRAWS,
    seed: int = 0,
) -> Estimate:
    """Sum of numerators over sum of denominators, with an interval over resampled groups.

    Args:
        numerator: one number a row; NaN marks a row whose value is missing.
        denominator: one number a row; 0 for a row that does not belong to the base.
        groups: the image, or other unit of sampling, of each row.
        share: whether numerators count part of what the denominators count, see `share_interval`.

    Returns:
        An estimate whose ``n`` counts the rows with a value and a denominator other than 0.
    """
    if not len(numerator) == len(denominator) == len(groups):
        raise InputError(
            f"{len(numerator)} numerators, {len(denominator)} denominators and {len(groups)} groups",
            hint="One of each is needed for every row.",
        )
    missing = np.isnan(numerator) | np.isnan(denominator)
    kept = ~missing
    index, _ = group_index([group for group, keep in zip(groups, kept, strict=True) if keep])
    count = int(index.max()) + 1 if index.size else 0
    top = np.bincount(index, weights=numerator[kept], minlength=count)
    bottom = np.bincount(index, weights=denominator[kept], minlength=count)
    value = _divide(float(top.sum()), float(bottom.sum()))
    low = high = math.nan
    behind = int(np.count_nonzero(bottom))
    if behind >= FEWEST and draws > 0:
        drawn: list[float] = []
        for weight in resamples(count, draws, seed):
            with np.errstate(divide="ignore", invalid="ignore"):
                drawn += list((weight @ top) / (weight @ bottom))
        low, high = share_interval(value, drawn, behind) if share else percentile_interval(drawn)
    n = int(np.count_nonzero(denominator[kept]))
    return Estimate(value, low, high, n, int(missing.sum()), behind)


def mean(
    values: Shaped[np.ndarray, "row"],
    groups: Sequence[str],
    *,
    share: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
) -> Estimate:
    """Mean of the values that are there, with an interval over resampled groups; NaN is excluded.

    Args:
        share: whether the values are yes (1) or no (0), see `share_interval`.
    """
    numbers = np.asarray(values, dtype=np.float64)
    return ratio(numbers, np.ones_like(numbers), groups, share=share, draws=draws, seed=seed)


def statistics(
    compute: Callable[[Int[np.ndarray, "row"]], Sequence[float]],
    groups: Sequence[str],
    *,
    shares: Sequence[tuple[int, int] | None] = (),
    draws: int = DRAWS,
    seed: int = 0,
    excluded: int = 0,
) -> tuple[Estimate, ...]:
    """Estimates of several statistics that can be computed together from rows with repetition counts.

    Args:
        compute: takes how often each row counts (all ones for the values themselves), gives the
            statistics in a fixed order.
        groups: the unit of sampling of each row.
        shares: for each statistic that is a share, the rows and the groups that it is taken over, none of
            either for an empty base; ``None`` for others, which are taken over all rows.
    """
    index, count = group_index(groups)
    values = compute(np.ones(len(groups), dtype=np.int64))
    drawn: list[Sequence[float]] = []
    if count >= FEWEST and draws > 0:
        drawn = [compute(one[index]) for block in resamples(count, draws, seed) for one in block]
    behind = [*shares, *[None] * (len(values) - len(shares))]
    found = []
    for i, (value, over) in enumerate(zip(values, behind, strict=True)):
        column = [one[i] for one in drawn]
        ends = percentile_interval(column) if over is None else share_interval(value, column, over[1])
        rows, units = (len(groups), count) if over is None else over
        found.append(Estimate(value, *ends, rows, excluded, units))
    return tuple(found)


def statistic(
    compute: Callable[[Int[np.ndarray, "row"]], float],
    groups: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    excluded: int = 0,
) -> Estimate:
    """An estimate of one statistic, see `statistics`."""
    return statistics(lambda counts: (compute(counts),), groups, draws=draws, seed=seed, excluded=excluded)[0]


def _equal(low: float, high: float) -> bool:
    # what is left between equal sums is rounding
    return bool(high - low <= 1e-12 * max(abs(low), abs(high)))


def _divide(top: float, bottom: float) -> float:
    return top / bottom if bottom else math.nan
