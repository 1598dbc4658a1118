"""Flow between two readings of the same items, such as yes and no under two readouts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from probekit.report.figures.canvas import COLOURS, HEIGHT, WIDTH, Figure, Frame, literal, no_data

_BAR, _GAP = 0.035, 0.04


def flow_figure(frame: Frame, counts: Mapping[tuple[str, str], int]) -> Figure:
    """Bands from each state on the left to each state on the right, as thick as they are many.

    Args:
        frame: ``frame.x`` may name the two readings; there are no numeric axes.
        counts: items by (state before, state after); zero counts draw nothing.
    """
    kept = {pair: count for pair, count in counts.items() if count > 0}
    total = max(sum(kept.values()), 1)

    def draw(axes: Any) -> None:
        if not kept:
            no_data(axes)
            return
        left = _stack([(a, n) for (a, _), n in kept.items()], total)
        right = _stack([(b, n) for (_, b), n in kept.items()], total)
        colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(dict.fromkeys([*left, *right]))}
        for x, states, side in ((0.0, left, "right"), (1.0 - _BAR, right, "left")):
            for name, (bottom, count) in states.items():
                axes.bar(x, count / total, _BAR, bottom, align="edge", color=colours[name])
                at = x - 0.015 if side == "right" else x + _BAR + 0.015
                label = literal(f"{name}\n{count:,}")
                axes.text(at, bottom + count / total / 2, label, ha=side, va="center", fontsize=9.5)
        used_left = {name: bottom for name, (bottom, _) in left.items()}
        used_right = {name: bottom for name, (bottom, _) in right.items()}
        for (before, after), count in kept.items():
            share = count / total
            start, end = used_left[before], used_right[after]
            used_left[before] += share
            used_right[after] += share
            way = np.linspace(0, 1, 60)
            bend = start + (end - start) * (3 * way**2 - 2 * way**3)
            across = _BAR + way * (1 - 2 * _BAR)
            axes.fill_between(across, bend, bend + share, color=colours[before], alpha=0.35, linewidth=0)
        axes.set_xlim(-0.22, 1.22)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)

    return Figure(frame, draw, WIDTH, HEIGHT)


def _stack(parts: list[tuple[str, int]], total: int) -> dict[str, tuple[float, int]]:
    sums: dict[str, int] = {}
    for name, count in parts:
        sums[name] = sums.get(name, 0) + count
    placed: dict[str, tuple[float, int]] = {}
    bottom = 0.0
    for name, count in sums.items():
        placed[name] = (bottom, count)
        bottom += count / total + _GAP
    return placed
