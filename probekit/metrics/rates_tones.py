"""Tone curves: a measure at each level of pressure, its average over levels, its spread over levels."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probekit.errors import InputError
from probekit.metrics.estimates import (
    DRAWS,
    FEWEST,
    Estimate,
    group_index,
    mean,
    percentile_interval,
    resamples,
    share_interval,
)


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
    share: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
) -> ToneCurve:
    """Average a value per tone level; NaN marks an invalid response and is excluded and counted.

    Args:
        share: whether the values are yes (1) or no (0), see `probekit.metrics.estimates.share_interval`.

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
        points[level] = mean(values[here], [images[i] for i in here], share=share, draws=draws, seed=seed)
    overall = _average(values, where, levels, images, draws, seed, share=share)
    return ToneCurve(points, overall, population_sd([point.value for point in points.values()]))


def _average(
    values: Float[np.ndarray, "response"],
    tones: Int[np.ndarray, "response"],
    levels: Sequence[int],
    images: Sequence[str],
    draws: int,
    seed: int,
    *,
    share: bool,
) -> Estimate:
    """Mean over levels of the levels' means; an image is drawn with its responses at every level."""
    index, count = group_index(images)
    there = ~np.isnan(values)
    top, bottom = np.zeros((count, len(levels))), np.zeros((count, len(levels)))
    for column, level in enumerate(levels):
        here = there & (tones == level)
        np.add.at(top[:, column], index[here], values[here])
        np.add.at(bottom[:, column], index[here], 1.0)
    behind = int((bottom.sum(axis=1) > 0).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float((top.sum(axis=0) / bottom.sum(axis=0)).mean()) if levels else math.nan
        drawn: list[float] = []
        if behind >= FEWEST and draws > 0:
            for weight in resamples(count, draws, seed):
                drawn += list(((weight @ top) / (weight @ bottom)).mean(axis=1))
    ends = share_interval(value, drawn, behind) if share else percentile_interval(drawn)
    return Estimate(value, *ends, int(there.sum()), int((~there).sum()), behind)


def population_sd(tone_means: Sequence[float]) -> float:
    """SD over the tone levels with ddof = 0: the only convention Table 2 of the paper allows."""
    return float(np.std(np.asarray(tone_means, dtype=np.float64))) if len(tone_means) else math.nan
