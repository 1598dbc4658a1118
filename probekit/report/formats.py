"""One table, five ways to read it: csv, Markdown, LaTeX, HTML, terminal."""

from __future__ import annotations

import csv
import io
import math
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from probekit.report.markup import Html, join, prose, tag
from probekit.report.tables import Cell, Column, Estimate, Table

MISSING = "n/a"
DIGEST = "variant"
"""Key of the column of digests: csv files have them whole, readers their first eight digits."""
NARROW: tuple[tuple[int, tuple[str, ...]], ...] = (
    (156, (DIGEST,)),
    (140, ("fpr_hedged", "fpr_depictive", "fpr_purpose", "fpr_negation")),
    (88, ("mix",)),
)
"""Terminal columns under which these columns of the table are not printed."""
LONGEST_WORD = 24
"""Characters of a word that is not broken in a terminal."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def number(value: float, percent: bool = False) -> str:
    """A share for readers: three decimals, or percent with one; ``n/a`` for NaN."""
    if math.isnan(value):
        return MISSING
    return f"{100 * value:.1f}" if percent else f"{value:.3f}"


def interval(estimate: Estimate, percent: bool = False) -> str:
    """``[low, high]``; empty when there is no interval."""
    if math.isnan(estimate.low) or math.isnan(estimate.high):
        return ""
    return f"[{number(estimate.low, percent)}, {number(estimate.high, percent)}]"


def plain(cell: Cell, column: Column) -> str:
    """A cell in one line of text."""
    if isinstance(cell, Estimate):
        if math.isnan(cell.value) and cell.reason:
            return MISSING
        return f"{number(cell.value, column.percent)} {interval(cell, column.percent)}".rstrip()
    if isinstance(cell, float):
        return number(cell, column.percent)
    if column.key == DIGEST:
        return str(cell)[:8]
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)


def heading(column: Column) -> str:
    """Title with its unit."""
    return f"{column.title}, %" if column.percent else column.title


def to_csv(table: Table) -> str:
    """Comma separated values, full precision; an estimate takes five fields: the value, then ``_low``,
    ``_high``, ``_n`` and ``_reason``. Missing values are ``n/a``."""
    estimated = [any(isinstance(row[i], Estimate) for row in table.rows) for i in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names: list[str] = []
    for column, wide in zip(table.columns, estimated, strict=True):
        names += [column.key, *(f"{column.key}_{part}" for part in ("low", "high", "n", "reason") if wide)]
    writer.writerow(names)
    for row in table.rows:
        fields: list[str] = []
        for cell, wide in zip(row, estimated, strict=True):
            if isinstance(cell, Estimate):
                fields += [_exact(cell.value), _exact(cell.low), _exact(cell.high)]
                fields += [MISSING if cell.n is None else str(cell.n), cell.reason]
            else:
                fields.append(_exact(cell) if isinstance(cell, float) else str(cell))
                fields += [""] * (4 if wide else 0)
        writer.writerow(fields)
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """A GitHub table under a heading, its caption after it."""

    def flat(value: str) -> str:
        return " ".join(value.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())

    def line(cells: list[str]) -> str:
        return f"| {' | '.join(flat(cell) for cell in cells)} |"

    rule = ["---:" if _numeric(table, i) else "---" for i in range(len(table.columns))]
    lines = [line([heading(c) for c in table.columns]), f"| {' | '.join(rule)} |"]
    lines += [line([plain(c, k) for c, k in zip(row, table.columns, strict=True)]) for row in table.rows]
    return f"### {flat(table.title)}\n\n" + "\n".join(lines) + f"\n\n{flat(table.caption)}\n"


def to_latex(table: Table) -> str:
    """A ``table`` environment that needs the booktabs package; intervals as small subscripts."""

    def cell(value: Cell, column: Column) -> str:
        if isinstance(value, Estimate) and not math.isnan(value.value):
            around = interval(value, column.percent)
            sub = rf"\,{{\scriptsize {_latex(around)}}}" if around else ""
            return number(value.value, column.percent) + sub
        return _latex(plain(value, column))

    shape = "".join("r" if _numeric(table, i) else "l" for i in range(len(table.columns)))
    head = " & ".join(_latex(heading(c)) for c in table.columns)
    body = [
        " & ".join(cell(c, k) for c, k in zip(row, table.columns, strict=True)) + r" \\" for row in table.rows
    ]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.title)}. {_latex(table.caption)}}}",
        rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule",
        rf"{head} \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def to_html(table: Table) -> Html:
    """A table that scrolls inside its own box; a missing cell tells its reason."""
    head = tag("tr", *(_html_heading(table, i) for i in range(len(table.columns))))
    rows = [
        tag(
            "tr", *(_html_cell(c, k, i == 0) for i, (c, k) in enumerate(zip(row, table.columns, strict=True)))
        )
        for row in table.rows
    ]
    grid = tag("table", tag("thead", head), tag("tbody", *rows), aria_label=table.title)
    # focusable, so that the box can be scrolled from the keyboard
    box = tag("div", grid, class_="box", tabindex="0", role="region", aria_label=table.title)
    # not a caption element: that would scroll away with a wide table
    return tag("div", tag("p", tag("strong", table.title), ". ", prose(table.caption), class_="above"), box)


def to_terminal(table: Table, width: int) -> RichTable:
    """A rich table; where the terminal is too narrow, digests, then subtypes, then mixes, then intervals are
    left to the files. Numbers are never broken over lines."""
    for narrow, left_out in NARROW:
        if width < narrow:
            table = table.only(c.key for c in table.columns if c.key not in left_out)
    estimates = [cell for row in table.rows for cell in row if isinstance(cell, Estimate)]
    around = ["[{}, {}]"]
    if not any(estimate.low < 0 for estimate in estimates):
        around.append("{}-{}")  # shorter, and clear where nothing is negative
    for form in around:
        grid = _grid(table, table.caption, form)
        if not estimates or _widest(grid) <= width:
            return grid
    return _grid(table, f"{table.caption} Too narrow here for intervals: the files have them.", None)


def _widest(grid: RichTable) -> int:
    """Columns of the terminal that a grid takes when nothing in it has to be broken."""
    console = Console(width=10_000)
    return Measurement.get(console, console.options, grid).minimum


def _grid(table: Table, caption: str, around: str | None) -> RichTable:
    grid = RichTable(
        title=Text(table.title, "bold"),
        caption=Text(caption.replace("`", "").strip()),
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for i, column in enumerate(table.columns):
        numeric = _numeric(table, i)
        side: Literal["left", "right"] = "right" if numeric else "left"
        name = heading(column).replace("non-assertive", "non-\nassertive")
        cells = [_terminal_cell(row[i], column, around).plain for row in table.rows]
        pieces = [line for cell in cells for line in cell.split("\n" if numeric else None)]
        least = max(map(len, [*name.split(), *pieces]), default=1)
        grid.add_column(
            Text(name),
            justify=side,
            overflow="fold",
            min_width=least if numeric else min(least, LONGEST_WORD),
        )
    for row in table.rows:
        grid.add_row(*(_terminal_cell(c, k, around) for c, k in zip(row, table.columns, strict=True)))
    return grid


def _terminal_cell(cell: Cell, column: Column, around: str | None) -> Text:
    """A cell over two lines: the value, and its interval in the form ``around``; ``None`` leaves it out."""
    if not isinstance(cell, Estimate):
        return Text(plain(cell, column))
    shown = Text(number(cell.value, column.percent))
    if around is None or not interval(cell):
        return shown
    ends = (number(end, column.percent) for end in (cell.low, cell.high))
    return shown.append("\n" + around.format(*ends), style="dim")


def _html_heading(table: Table, i: int) -> Html:
    column = table.columns[i]
    counts = sorted({c.n for row in table.rows if isinstance(c := row[i], Estimate) and c.n is not None})
    if not counts:
        support: Html | str = ""
    elif counts[0] == counts[-1]:
        support = tag("span", f"n = {counts[0]:,}", class_="n")
    else:
        support = tag("span", f"n = {counts[0]:,}-{counts[-1]:,}", class_="n")
    kind = "digest" if column.key == DIGEST else None
    return tag("th", heading(column), support, scope="col", title=column.about or None, class_=kind)


def _html_cell(cell: Cell, column: Column, first: bool) -> Html:
    if first:
        return tag("th", str(cell), scope="row")
    if not isinstance(cell, Estimate):
        if column.key == DIGEST:
            return tag("td", tag("code", plain(cell, column)), title=str(cell), class_="digest")
        return tag("td", plain(cell, column), class_="num" if isinstance(cell, int | float) else None)
    if math.isnan(cell.value):
        why = cell.reason or "missing"
        return tag("td", tag("abbr", MISSING, title=why), class_="num none")
    count = "" if cell.n is None else f"n = {cell.n:,}"
    around = interval(cell, column.percent)
    small = tag("span", around, class_="ci") if around else ""
    return tag("td", join(number(cell.value, column.percent), small), class_="num", title=count or None)


def _numeric(table: Table, i: int) -> bool:
    return bool(table.rows) and all(isinstance(row[i], Estimate | int | float) for row in table.rows)


def _exact(value: float | int) -> str:
    return MISSING if isinstance(value, float) and math.isnan(value) else repr(value)


def _latex(value: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in value.replace("`", "'"))
