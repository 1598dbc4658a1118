"""Lines with intervals: mixing curves, risk against coverage, running rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from probekit.report.figures.canvas import (
    COLOURS,
    DASHES,
    HEIGHT,
    MARKERS,
    Figure,
    Frame,
    Real,
    legend_below,
    literal,
    no_data,
)


@dataclass(frozen=True)
class Series:
    """One line.

    Attributes:
        name: for the legend.
        x: positions; numbers, or names when the axis has categories.
        y: values; NaN leaves a gap.
        low: lower ends of the intervals; empty when there are none.
        high: upper ends of them.
    """

    name: str
    x: Sequence[Real] | Sequence[str]
    y: Sequence[Real]
    low: Sequence[Real] = ()
    high: Sequence[Real] = ()


def line_figure(
    frame: Frame,
    series: Sequence[Series],
    *,
    limits: tuple[float, float] | None = None,
    reference: float | None = None,
    markers: bool = True,
) -> Figure:
    """Lines told apart by colour, dash and marker.

    Args:
        frame: title, axis labels, caption.
        series: the lines. With names on the horizontal axis, intervals are bars slightly set apart,
            with numbers they are bands.
        limits: range of the vertical axis.
        reference: value of a thin horizontal line, such as the false positive rate aimed at.
        markers: whether points are marked.
    """
    kept = tuple(series)
    names = list(dict.fromkeys(x for line in kept for x in line.x if isinstance(x, str)))

    def draw(axes: Any) -> None:
        if all(math.isnan(y) for line in kept for y in line.y):
            no_data(axes)
            return
        if reference is not None:
            axes.axhline(reference, linewidth=0.9, linestyle=(0, (2, 2)), color=COLOURS[-1], zorder=1)
        for i, line in enumerate(kept):
            look = {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)]}
            mark = MARKERS[i % len(MARKERS)] if markers else None
            if names:
                shift = (i - (len(kept) - 1) / 2) * min(0.09, 0.6 / max(len(kept), 1))
                at = [names.index(str(x)) + shift for x in line.x]
            else:
                at = [float(x) for x in line.x]
            axes.plot(at, line.y, label=literal(line.name), marker=mark, **look)
            if len(line.low) == 0:
                continue
            if names:
                axes.vlines(at, line.low, line.high, color=look["color"], linewidth=1.2, alpha=0.7)
            else:
                axes.fill_between(at, line.low, line.high, color=look["color"], alpha=0.15, linewidth=0)
        if names:
            axes.set_xticks(range(len(names)), [literal(name) for name in names])
            axes.grid(visible=False, axis="x")
        elif all(isinstance(x, int) for line in kept for x in line.x):
            # there is nothing between two layers, or two questions
            axes.xaxis.get_major_locator().set_params(integer=True)
        if limits is not None:
            axes.set_ylim(*limits)
        legend_below(axes, len(kept))

    return Figure(frame, draw, height=HEIGHT + 0.22 * math.ceil(len(kept) / 3))


def risk_coverage_figure(frame: Frame, series: Sequence[Series]) -> Figure:
    """Error rate among the answers kept (vertical, share) against the share kept (horizontal)."""
    top = max((y for line in series for y in line.y if not math.isnan(y)), default=1.0)
    return line_figure(frame, series, limits=(0.0, 1.08 * top if top else 1.0), markers=False)
