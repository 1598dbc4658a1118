"""Points on a plane: scatter, and precision against recall with lines of equal F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from probekit.report.figures.canvas import (
    COLOURS,
    GRID,
    HEIGHT,
    MARKERS,
    Figure,
    Frame,
    Real,
    legend_below,
    literal,
    no_data,
)

CLOSE = 0.5
"""Start of the axes from which curves of equal F1 stand twice as dense."""


@dataclass(frozen=True)
class Point:
    """A group of points.

    Attributes:
        name: for the legend.
        x: horizontal values.
        y: vertical values, as many.
    """

    name: str
    x: Sequence[Real]
    y: Sequence[Real]


def scatter_figure(frame: Frame, groups: Sequence[Point], *, diagonal: bool = False) -> Figure:
    """Groups of points told apart by colour and marker; ``diagonal`` draws the line of equality."""
    kept = tuple(groups)

    def draw(axes: Any) -> None:
        if not any(len(group.x) for group in kept):
            no_data(axes)
            return
        _points(axes, kept, size=16.0, alpha=0.65)
        if diagonal:
            axes.axline((0, 0), slope=1, color=COLOURS[-1], linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        legend_below(axes, len(kept))

    return Figure(frame, draw, height=HEIGHT + 0.25)


def iso_f1_figure(frame: Frame, groups: Sequence[Point], *, start: float = 0.0) -> Figure:
    """Recall (horizontal) and precision (vertical), shares, over curves of equal F1.

    Args:
        frame: title, axis labels, caption.
        groups: points, told apart by colour and marker.
        start: where both axes begin; they end at one.
    """
    kept = tuple(groups)

    def draw(axes: Any) -> None:
        for f1 in np.arange(1, 20) / 20 if start >= CLOSE else np.arange(1, 10) / 10:
            at_full_recall = f1 / (2 - f1)
            if at_full_recall < start:
                continue
            recall = np.linspace(f1 / (2 - f1) + 1e-9, 1.0, 200)
            axes.plot(recall, f1 * recall / (2 * recall - f1), color=GRID, linewidth=1.0, zorder=1)
            axes.annotate(
                f"F1 {f1:.2g}",
                (1.0, at_full_recall),
                xytext=(3, -3),
                textcoords="offset points",
                fontsize=8,
                annotation_clip=False,
            )
        axes.grid(visible=False)
        _points(axes, kept, size=38.0, alpha=0.95)
        axes.set_xlim(start, 1.0)
        axes.set_ylim(start, 1.0)
        legend_below(axes, len(kept))

    return Figure(frame, draw, height=HEIGHT + 0.6)


def _points(axes: Any, groups: Sequence[Point], size: float, alpha: float) -> None:
    for i, group in enumerate(groups):
        axes.scatter(
            group.x,
            group.y,
            s=size,
            alpha=alpha,
            color=COLOURS[i % len(COLOURS)],
            marker=MARKERS[i % len(MARKERS)],
            linewidths=0,
            label=literal(group.name),
            zorder=2,
        )
