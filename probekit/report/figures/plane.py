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
)


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
        _points(axes, kept, size=16.0, alpha=0.65)
        if diagonal:
            axes.axline((0, 0), slope=1, color=COLOURS[-1], linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
        legend_below(axes, len(kept))

    return Figure(frame, draw, height=HEIGHT + 0.25)


def iso_f1_figure(frame: Frame, groups: Sequence[Point]) -> Figure:
    """Recall (horizontal) and precision (vertical), shares, over curves of F1 = 0.1 to 0.9."""
    kept = tuple(groups)

    def draw(axes: Any) -> None:
        for f1 in (0.2, 0.4, 0.6, 0.8, 0.9):
            recall = np.linspace(f1 / (2 - f1), 1.0, 100)
            precision = f1 * recall / (2 * recall - f1)
            axes.plot(recall, precision, color=GRID, linewidth=1.0, zorder=1)
            axes.annotate(
                f"F1 {f1:.1f}",
                (1.0, f1 / (2 - f1)),
                xytext=(3, -3),
                textcoords="offset points",
                fontsize=8,
                annotation_clip=False,
            )
        _points(axes, kept, size=38.0, alpha=0.95)
        axes.set_xlim(0, 1.0)
        axes.set_ylim(0, 1.02)
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
