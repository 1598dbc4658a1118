"""Heat maps, such as an effect size by layer and head."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from probekit.report.figures.canvas import HEIGHT, WIDTH, Figure, Frame, literal, no_data


def heat_figure(
    frame: Frame, values: Float[np.ndarray, "row column"], unit: str, *, centre: float | None = None
) -> Figure:
    """Cells coloured by value; missing cells stay empty.

    Args:
        frame: ``frame.x`` names the columns, ``frame.y`` the rows.
        values: the grid; row 0 is drawn at the bottom, as layers are counted.
        unit: label of the colour bar.
        centre: a value of no effect: colours then diverge from it, symmetrically.
    """
    grid = np.array(values, dtype=np.float64)

    def draw(axes: Any) -> None:
        if not np.isfinite(grid).any():
            no_data(axes)
            return
        low, high, colours = None, None, "cividis"
        if centre is not None:
            reach = float(np.nanmax(np.abs(grid - centre)))
            low, high, colours = centre - (reach or 1.0), centre + (reach or 1.0), "PuOr_r"
        cells = axes.pcolormesh(
            np.ma.masked_invalid(grid), cmap=colours, vmin=low, vmax=high, rasterized=False
        )
        for ticks, count in ((axes.set_xticks, grid.shape[1]), (axes.set_yticks, grid.shape[0])):
            every = max(1, -(-count // 12))
            ticks(np.arange(0, count, every) + 0.5, [str(i) for i in range(0, count, every)])
        axes.grid(visible=False)
        axes.figure.colorbar(cells, ax=axes, label=literal(unit), shrink=0.9)

    return Figure(frame, draw, WIDTH, max(HEIGHT, min(6.0, 1.2 + 0.12 * grid.shape[0])))
