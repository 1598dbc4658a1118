"""Tone curves: a measure at each level of pressure, its average over levels, its spread over levels."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probekit.errors import InputError
from probekit.metrics.estimates import DRAWS, Estimate, mean, statistic


@dataclass(frozen=True)
class ToneCurve:
    """One measure over the tone levels. Ghost-100 Table 2, Figure 4; SPEC 5.2.

    Attributes:
        points: tone level -> mean over valid responses, interval by image.
        average: mean of the levels' means; NaN when a level has no valid response.
        deviation: population SD (ddof = 0) of the levels' means, the paper's convention.
    """

    points: Mapping[int, Estimate]
    average: Estimate
    deviation: float


def tone_curve(
    values: Float[np.ndarray, "response"],
    tones: Sequence[int],
    images: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> ToneCurve:
    """Average a value per tone level; NaN marks an invalid response and is excluded and counted.

    Raises:
        InputError: lengths differ.
    """
    if not len(values) == len(tones) == len(images):
        raise InputError(f"{len(values)} values, {len(tones)} tones and {len(images)} images")
    levels = sorted(set(tones))
    where = np.asarray(tones, dtype=np.int64)
    points: dict[int, Estimate] = {}
    for level in levels:
        here = [int(i) for i in np.flatnonzero(where == level)]
        points[level] = mean(values[here], [images[i] for i in here], draws=draws, seed=seed)
    valid = [int(i) for i in np.flatnonzero(~np.isnan(values))]
    kept_values, kept_tones = values[valid], where[valid]

    def average(counts: Int[np.ndarray, "response"]) -> float:
        means = []
        for level in levels:
            weight = counts * (kept_tones == level)
            means.append(float((weight * kept_values).sum() / weight.sum()) if weight.sum() else math.nan)
        return float(np.mean(means)) if means else math.nan

    overall = statistic(
        average, [images[i] for i in valid], draws=draws, seed=seed, excluded=len(values) - len(valid)
    )
    return ToneCurve(points, overall, population_sd([point.value for point in points.values()]))


def population_sd(tone_means: Sequence[float]) -> float:
    """SD over the tone levels with ddof = 0: the only convention Table 2 of the paper allows."""
    return float(np.std(np.asarray(tone_means, dtype=np.float64))) if len(tone_means) else math.nan
