"""An estimate with its interval: pooled ratios whose uncertainty comes from resampling images."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from probekit.errors import InputError

DRAWS = 1000
"""Bootstrap draws behind an interval unless the caller asks for another number."""
BLOCK = 2_000_000
"""Most repetition counts held at once, which bounds memory."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number, with how sure it is and how much stands behind it.

    Attributes:
        value: the estimate on all rows that count; NaN when none do.
        low: lower end of the 95 % percentile interval over resampled groups; NaN below two groups.
        high: upper end of it.
        n: rows behind the value.
        excluded: rows left out because a value was missing.
    """

    value: float
    low: float
    high: float
    n: int
    excluded: int = 0

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "n/a"
        if math.isnan(self.low):
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def group_index(groups: Sequence[str]) -> tuple[Int[np.ndarray, "row"], int]:
    """Number of each row's group in order of first appearance, and how many groups there are."""
    order: dict[str, int] = {}
    index = np.array([order.setdefault(group, len(order)) for group in groups], dtype=np.int64)
    return index, len(order)


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
    """Central percentile interval of bootstrap values; draws without a value (NaN) do not count."""
    kept = np.asarray([value for value in values if math.isfinite(value)])
    if kept.size == 0:
        return math.nan, math.nan
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def ratio(
    numerator: Float[np.ndarray, "row"],
    denominator: Float[np.ndarray, "row"],
    groups: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> Estimate:
    """Sum of numerators over sum of denominators, with an interval over resampled groups.

    Args:
        numerator: one number a row; NaN marks a row whose value is missing.
        denominator: one number a row; 0 for a row that does not belong to the base.
        groups: the image, or other unit of sampling, of each row.

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
    if count > 1 and draws > 0:
        drawn: list[float] = []
        for weight in resamples(count, draws, seed):
            with np.errstate(divide="ignore", invalid="ignore"):
                drawn += list((weight @ top) / (weight @ bottom))
        low, high = percentile_interval(drawn)
    return Estimate(value, low, high, int(np.count_nonzero(denominator[kept])), int(missing.sum()))


def mean(
    values: Shaped[np.ndarray, "row"], groups: Sequence[str], *, draws: int = DRAWS, seed: int = 0
) -> Estimate:
    """Mean of the values that are there, with an interval over resampled groups; NaN is excluded."""
    numbers = np.asarray(values, dtype=np.float64)
    return ratio(numbers, np.ones_like(numbers), groups, draws=draws, seed=seed)


def statistics(
    compute: Callable[[Int[np.ndarray, "row"]], Sequence[float]],
    groups: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    excluded: int = 0,
) -> tuple[Estimate, ...]:
    """Estimates of several statistics that can be computed together from rows with repetition counts.

    Args:
        compute: takes how often each row counts (all ones for the values themselves), gives the
            statistics in a fixed order.
        groups: the unit of sampling of each row.
    """
    index, count = group_index(groups)
    values = compute(np.ones(len(groups), dtype=np.int64))
    drawn: list[Sequence[float]] = []
    if count > 1 and draws > 0:
        drawn = [compute(one[index]) for block in resamples(count, draws, seed) for one in block]
    return tuple(
        Estimate(value, *percentile_interval([one[i] for one in drawn]), len(groups), excluded)
        for i, value in enumerate(values)
    )


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


def _divide(top: float, bottom: float) -> float:
    return top / bottom if bottom else math.nan
