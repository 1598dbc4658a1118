"""What a study leaves behind: a table as csv and Markdown, and a figure as svg."""

from __future__ import annotations

from pathlib import Path

from probekit.evaluation.pooled import Pooled
from probekit.files import write_atomically
from probekit.report.figures import Figure, Series
from probekit.report.formats import to_csv, to_markdown
from probekit.report.tables import Estimate, Table


def save_study(folder: Path, table: Table, figure: Figure) -> Path:
    """Write ``NAME.csv``, ``NAME.md`` and ``NAME.svg`` in ``folder``; NAME is the figure's.

    Returns:
        The path of the Markdown table, for the last line a study prints.
    """
    name = figure.frame.name
    write_atomically(folder / f"{name}.csv", to_csv(table))
    write_atomically(folder / f"{name}.md", to_markdown(table))
    figure.save(folder / f"{name}.svg")
    return folder / f"{name}.md"


def cell(pooled: Pooled) -> Estimate:
    """A mean over seeds as a table's cell."""
    reason = "" if pooled.value == pooled.value else "no such mentions"
    return Estimate(pooled.value, pooled.low, pooled.high, pooled.n, reason, pooled.images)


def line(name: str, x: list[str], y: list[Pooled]) -> Series:
    """Means over seeds with intervals as a line or a row of bars, over named places."""
    return Series(name, x, [p.value for p in y], [p.low for p in y], [p.high for p in y])
