"""Estimates of several seeds made one, with an interval from resampling images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from probekit.evaluation.measures import interval
from probekit.metrics.estimates import FEWEST, share_interval


@dataclass(frozen=True)
class SeedEstimate:
    """One measure on one set of rows: value, bootstrap replicates, rows behind it.

    Attributes:
        sides: the rows' images; of each class apart where two are compared.
    """

    value: float
    replicates: np.ndarray
    n: int
    sides: tuple[np.ndarray, ...]


@dataclass(frozen=True, slots=True)
class Pooled:
    """Mean over seeds with its interval.

    Attributes:
        value: mean over the seeds that have a value; NaN when none has.
        low: lower end of the 95 % interval from resampling images; NaN below
            `probekit.metrics.estimates.FEWEST` images, of each class where two are compared.
        high: upper end of it.
        n: rows behind it, mean over seeds.
        images: images behind it in any seed.
    """

    value: float
    low: float
    high: float
    n: int
    images: int = 0

    @classmethod
    def of(cls, by_seed: Mapping[int, Sequence[SeedEstimate]]) -> Pooled:
        """Mean over draws of a seed, then over seeds; the interval is of that mean."""
        if not by_seed:
            return cls(float("nan"), float("nan"), float("nan"), 0)
        replicates = mean([mean([e.replicates for e in found]) for found in by_seed.values()])
        value = float(mean([mean([e.value for e in found]) for found in by_seed.values()]))
        n = round(float(np.mean([np.mean([e.n for e in found]) for found in by_seed.values()])))
        sides = [
            np.unique(np.concatenate(side))
            for side in zip(*(e.sides for found in by_seed.values() for e in found), strict=True)
        ]
        images = len(np.unique(np.concatenate(sides)))
        ends = (float("nan"), float("nan"))
        if min(map(len, sides)) >= FEWEST:
            alone = len(sides) == 1
            ends = share_interval(value, replicates.tolist(), images) if alone else interval(replicates)
        return cls(value, *ends, n, images)


def mean(values: Sequence[Any]) -> Any:
    """Mean over the first axis that leaves NaN out; NaN where nothing is left. No warning for that."""
    stacked = np.asarray(values, dtype=np.float64)
    valid = np.isfinite(stacked)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(valid, stacked, 0.0).sum(axis=0) / valid.sum(axis=0)
