"""Bars with intervals, in groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from probekit.report.figures.canvas import COLOURS, HEIGHT, INK, Figure, Frame, legend_below, literal, no_data
from probekit.report.figures.lines import Series

_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "----", "++++")


def bar_figure(
    frame: Frame,
    series: Sequence[Series],
    *,
    limits: tuple[float, float] | None = None,
    reference: float | None = None,
) -> Figure:
    """Horizontal bars, one group for each name in ``x``, one bar in it for each series.

    Args:
        frame: ``frame.x`` labels the values, ``frame.y`` the names.
        series: values and intervals by name; a NaN leaves its place empty and says n/a.
        limits: range of the values.
        reference: value of a thin line across, such as chance.
    """
    kept = tuple(series)
    names = list(dict.fromkeys(str(x) for line in kept for x in line.x))
    thick = 0.8 / max(len(kept), 1)

    def draw(axes: Any) -> None:
        if all(math.isnan(y) for line in kept for y in line.y):
            no_data(axes)
            return
        for i, line in enumerate(kept):
            at = [names.index(str(x)) + (i - (len(kept) - 1) / 2) * thick for x in line.x]
            axes.barh(
                at,
                [0.0 if math.isnan(y) else y for y in line.y],
                height=0.9 * thick,
                color=COLOURS[i % len(COLOURS)],
                hatch=_HATCHES[i % len(_HATCHES)],
                edgecolor="white",
                linewidth=0,
                label=literal(line.name),
            )
            if len(line.low):
                axes.hlines(at, line.low, line.high, linewidth=1.3, color=INK)
            for place, y in zip(at, line.y, strict=True):
                if math.isnan(y):
                    axes.annotate("n/a", (0, place), xytext=(3, 0), textcoords="offset points", va="center")
        if reference is not None:
            axes.axvline(reference, linewidth=0.9, linestyle=(0, (2, 2)), color=INK)
        axes.set_yticks(range(len(names)), [literal(name) for name in names])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        if limits is not None:
            axes.set_xlim(*limits)
        legend_below(axes, len(kept))

    return Figure(frame, draw, height=max(HEIGHT - 1.0, 1.2 + 0.26 * len(names) * max(1.0, 0.6 * len(kept))))
