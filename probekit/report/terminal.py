"""Tables in a terminal: no character of a cell is ever lost, however narrow it is.

Where a table does not fit, its intervals stand below the values, then columns are left out and named, then
intervals, and at last the rows stand below one another.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from probekit.report.formats import DIGEST, behind, heading, interval, number, numeric, plain
from probekit.report.tables import Cell, Column, Estimate, Table

WIDE = 200
"""Columns of a line that is not written to a terminal: a file or another program has no edge."""
NARROW: tuple[tuple[str, ...], ...] = (
    (DIGEST,),
    ("fpr_hedged", "fpr_depictive", "fpr_purpose", "fpr_negation"),
    ("mix",),
)
"""Columns that are left out, in this order, where a table is too wide."""
LONGEST_WORD = 24
"""Characters of a word that is not broken in a terminal."""
EDGES, BETWEEN = 2, 2
"""Blanks around a table, and between two of its columns."""


def standard_output() -> Console:
    """Standard output: as wide as the terminal, or `WIDE` where there is none and COLUMNS does not say."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else WIDE
    return Console(markup=False, highlight=False, width=width)


def show(tables: Iterable[Table], files: str = "") -> None:
    """Print tables to standard output.

    Args:
        files: what holds the same tables whole, such as a folder; empty where nothing does.
    """
    out = standard_output()
    for table in tables:
        out.print(to_terminal(table, out.width, files))


Form = Callable[[Cell, Column], Text]


def to_terminal(table: Table, width: int, files: str = "") -> RenderableType:
    """What a console of ``width`` columns prints of a table.

    Args:
        files: where the whole table is; named when something is left out.
    """
    where = f" ({files} has them)" if files else ""
    shown, left_out = table, list[str]()
    for keys in ((), *NARROW):
        left_out += [heading(column) for column in shown.columns if column.key in keys]
        shown = shown.only(column.key for column in shown.columns if column.key not in keys)
        for form in (_whole, _over_two_lines):
            if (grid := _grid(_noted(shown, left_out, where), form, width)) is not None:
                return grid
    left_out.append("intervals")
    grid = _grid(_noted(shown, left_out, where), _value, width)
    return _stacked(table) if grid is None else grid


def _noted(table: Table, left_out: Sequence[str], where: str) -> Table:
    if not left_out:
        return table
    return replace(
        table, caption=f"{table.caption.rstrip()} Too narrow here for {', '.join(left_out)}{where}.".strip()
    )


def _whole(cell: Cell, column: Column) -> Text:
    return Text(plain(cell, column))


def _over_two_lines(cell: Cell, column: Column) -> Text:
    shown = _value(cell, column)
    if isinstance(cell, Estimate) and (around := interval(cell, column.percent)):
        shown.append(f"\n{around}", style="dim")
    return shown


def _value(cell: Cell, column: Column) -> Text:
    return Text(number(cell.value, column.percent) if isinstance(cell, Estimate) else plain(cell, column))


def _stacked(table: Table) -> Group:
    """A block for each row, a line for each cell; lines are folded and never cut."""
    lines = [Text(table.title, "bold", overflow="fold")]
    for row in table.rows:
        lines.append(Text(plain(row[0], table.columns[0]), "bold", overflow="fold"))
        lines += [
            Text(f"  {heading(column)}: {plain(cell, column)}", overflow="fold")
            for cell, column in zip(row[1:], table.columns[1:], strict=True)
        ]
    return Group(*lines, _caption(table), Text())


def _caption(table: Table) -> Text:
    return Text(behind(table).replace("`", "").strip(), "dim", overflow="fold")


def _grid(table: Table, form: Form, width: int) -> RichTable | None:
    """The table with every column at least as wide as what is not to be broken in it; ``None`` where that
    does not fit."""
    names = [heading(column).replace("non-assertive", "non-\nassertive") for column in table.columns]
    right = [numeric(table, i) for i in range(len(table.columns))]
    rows = [[form(cell, k) for cell, k in zip(row, table.columns, strict=True)] for row in table.rows]
    widths = _widths(names, right, rows, width - EDGES - BETWEEN * (len(names) - 1))
    if widths is None:
        return None
    grid = RichTable(
        title=Text(table.title, "bold"),
        title_justify="left",
        caption=_caption(table),
        caption_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for name, side, own in zip(names, right, widths, strict=True):
        grid.add_column(Text(name), justify="right" if side else "left", overflow="fold", width=own)
    for row in rows:
        grid.add_row(*row)
    return grid


def _widths(
    names: Sequence[str], right: Sequence[bool], rows: Sequence[Sequence[Text]], room: int
) -> list[int] | None:
    """Characters of every column, at most ``room`` in all: the widest texts give way first."""
    wanted, least = [], []
    for i, name in enumerate(names):
        cells = [row[i].plain for row in rows]
        lines = max((len(line) for cell in cells for line in cell.split("\n")), default=1)
        words = max((len(word) for cell in cells for word in cell.split()), default=1)
        heads = max(map(len, name.split()))
        least.append(max(heads, lines if right[i] else min(words, LONGEST_WORD), 1))
        wanted.append(max(least[i], lines, *map(len, name.split("\n"))))
    while sum(wanted) > room:
        giving = [i for i, own in enumerate(wanted) if own > least[i]]
        if not giving:
            return None
        wanted[max(giving, key=lambda i: wanted[i])] -= 1
    return wanted
