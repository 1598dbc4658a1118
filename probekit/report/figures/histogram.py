"""Histograms of several classes on shared bins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from probekit.report.figures.canvas import (
    COLOURS,
    DASHES,
    HEIGHT,
    Figure,
    Frame,
    Real,
    legend_below,
    literal,
    no_data,
)


def histogram_figure(frame: Frame, values: Mapping[str, Iterable[Real]], bins: int = 20) -> Figure:
    """Outlines of the share of each class in each bin, so that classes of unlike size compare.

    Args:
        frame: ``frame.y`` should say that these are shares of a class.
        values: values by class name; NaN is left out; the legend gives what is counted.
        bins: number of bins over the common range; fewer when whole numbers span a smaller range.
    """
    finite = {name: _finite(list(column)) for name, column in values.items()}
    pooled = np.concatenate([np.zeros(0), *finite.values()])
    edges = _edges(pooled, bins)

    def draw(axes: Any) -> None:
        if len(pooled) == 0:
            no_data(axes)
            return
        for i, (name, column) in enumerate(finite.items()):
            counts, _ = np.histogram(column, edges)
            share = counts / max(len(column), 1)
            colour = COLOURS[i % len(COLOURS)]
            label = literal(f"{name} (n = {len(column):,})")
            axes.stairs(share, edges, fill=True, alpha=0.12, color=colour)
            axes.stairs(
                share, edges, linewidth=1.7, color=colour, linestyle=DASHES[i % len(DASHES)], label=label
            )
        axes.set_ylim(bottom=0)
        legend_below(axes, len(finite))

    return Figure(frame, draw, height=HEIGHT + 0.25)


def _finite(column: list[Real]) -> Float[np.ndarray, " value"]:
    array = np.asarray(column, dtype=np.float64)
    return array[np.isfinite(array)]


def _edges(pooled: Float[np.ndarray, " value"], bins: int) -> Float[np.ndarray, " edge"]:
    if len(pooled) == 0:
        return np.linspace(0.0, 1.0, bins + 1)
    low, high = float(pooled.min()), float(pooled.max())
    if np.array_equal(pooled, np.round(pooled)):
        # bins of a whole width: a bin with one integer more than its neighbour would look like a peak
        step = max(1, int(np.ceil((high - low + 1) / bins)))
        return np.arange(low, high + step + 1, step) - 0.5
    return np.linspace(low, high if high > low else low + 1.0, bins + 1)
