"""One table, four ways to read it: csv, Markdown, LaTeX, HTML; `probekit.report.terminal` is a fifth."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence

from probekit.report.markup import Html, join, prose, tag
from probekit.report.tables import Cell, Column, Estimate, Table

MISSING = "n/a"
PARTS = ("low", "high", "n", "groups", "reason")
"""What csv files say of an estimate besides its value."""
DIGEST = "variant"
"""Key of the column of digests: csv files have them whole, readers their first eight digits."""
_NUMBER = re.compile(r"(< ?)?[-+]?[\d.,]+%?( (-|and|of) [-+]?[\d.,]+)?( \[[^\]]*\])?")
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


def p_value(p: float | None) -> str:
    """A p-value with three decimals, or that it is below the least of them; ``n/a`` where there is none."""
    if p is None or math.isnan(p):
        return MISSING
    return f"{p:.3f}" if p >= 0.0005 else "< 0.001"


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


def numeric(table: Table, i: int) -> bool:
    """Whether the cells of a column are numbers, counts such as ``12 - 7``, or missing: they stand to the
    right."""
    cells = [row[i] for row in table.rows if row[i] not in (MISSING, "")]
    return bool(cells) and all(
        not isinstance(cell, str) or _NUMBER.fullmatch(cell) is not None for cell in cells
    )


def heading(column: Column) -> str:
    """Title with its unit."""
    return f"{column.title}, %" if column.percent else column.title


def to_csv(table: Table) -> str:
    """Comma separated values, full precision; an estimate takes six fields: the value, then ``_low``,
    ``_high``, ``_n``, ``_groups`` and ``_reason``. Missing values are ``n/a``."""
    estimated = [any(isinstance(row[i], Estimate) for row in table.rows) for i in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names: list[str] = []
    for column, wide in zip(table.columns, estimated, strict=True):
        names += [
            column.key,
            *(f"{column.key}_{part}" for part in PARTS if wide),
        ]
    writer.writerow(names)
    for row in table.rows:
        fields: list[str] = []
        for cell, wide in zip(row, estimated, strict=True):
            if isinstance(cell, Estimate):
                fields += [_exact(cell.value), _exact(cell.low), _exact(cell.high)]
                fields += [MISSING if count is None else str(count) for count in (cell.n, cell.groups)]
                fields.append(cell.reason)
            else:
                fields.append(_exact(cell) if isinstance(cell, float) else str(cell))
                fields += [""] * (5 if wide else 0)
        writer.writerow(fields)
    return out.getvalue()


def to_markdown(table: Table) -> str:
    """A GitHub table under a heading, its caption after it."""

    def flat(value: str) -> str:
        return " ".join(value.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").split())

    def line(cells: list[str]) -> str:
        return f"| {' | '.join(flat(cell) for cell in cells)} |"

    rule = ["---:" if numeric(table, i) else "---" for i in range(len(table.columns))]
    lines = [line([heading(c) for c in table.columns]), f"| {' | '.join(rule)} |"]
    lines += [line([plain(c, k) for c, k in zip(row, table.columns, strict=True)]) for row in table.rows]
    return f"### {flat(table.title)}\n\n" + "\n".join(lines) + f"\n\n{flat(behind(table))}\n"


def to_latex(table: Table) -> str:
    """A ``table`` environment that needs the booktabs package; intervals as small subscripts."""

    def cell(value: Cell, column: Column) -> str:
        if isinstance(value, Estimate) and not math.isnan(value.value):
            around = interval(value, column.percent)
            sub = rf"\,{{\scriptsize {_latex(around)}}}" if around else ""
            return number(value.value, column.percent) + sub
        return _latex(plain(value, column))

    shape = "".join("r" if numeric(table, i) else "l" for i in range(len(table.columns)))
    head = " & ".join(_latex(heading(c)) for c in table.columns)
    body = [
        " & ".join(cell(c, k) for c, k in zip(row, table.columns, strict=True)) + r" \\" for row in table.rows
    ]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(table.title)}. {_latex(behind(table))}}}",
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
    rows = [tag("tr", *(_html_cell(table, cell, i) for i, cell in enumerate(row))) for row in table.rows]
    grid = tag("table", tag("thead", head), tag("tbody", *rows), aria_label=table.title)
    # focusable, so that the box can be scrolled from the keyboard
    box = tag("div", grid, class_="box", tabindex="0", role="region", aria_label=table.title)
    # not a caption element: that would scroll away with a wide table
    return tag("div", tag("p", tag("strong", table.title), ". ", prose(table.caption), class_="above"), box)


def _html_heading(table: Table, i: int) -> Html:
    column = table.columns[i]
    support = _support([row[i] for row in table.rows], table.units)
    kind = "digest" if column.key == DIGEST else "num" if numeric(table, i) else None
    small = tag("span", support, class_="n") if support else ""
    return tag("th", heading(column), small, scope="col", title=column.about or None, class_=kind)


def behind(table: Table) -> str:
    """The caption, and how much stands behind the estimates, for forms that do not say it in headings."""
    support = _support([cell for row in table.rows for cell in row], table.units)
    return f"{table.caption.rstrip()} Behind each estimate: {support}.".strip() if support else table.caption


def _support(cells: Sequence[Cell], units: str) -> str:
    """``n = 12-40, 6-20 pictures``; empty where no cell knows."""
    estimates = [cell for cell in cells if isinstance(cell, Estimate)]
    n = sorted({cell.n for cell in estimates if cell.n is not None})
    groups = sorted({cell.groups for cell in estimates if cell.groups is not None})
    told = (f"n = {_range(n)}" if n else "", f"{_range(groups)} {units}" if groups else "")
    return ", ".join(filter(None, told))


def _range(counts: Sequence[int]) -> str:
    return f"{counts[0]:,}" if counts[0] == counts[-1] else f"{counts[0]:,}-{counts[-1]:,}"


def _html_cell(table: Table, cell: Cell, i: int) -> Html:
    column = table.columns[i]
    side = "num" if numeric(table, i) else None
    if isinstance(cell, Estimate):
        return _html_estimate(cell, column, table.units)
    if i == 0:
        return tag("th", plain(cell, column), scope="row", class_=side)
    if column.key == DIGEST:
        return tag("td", tag("code", plain(cell, column)), title=str(cell), class_="digest")
    return tag("td", plain(cell, column), class_=side)


def _html_estimate(cell: Estimate, column: Column, units: str) -> Html:
    if math.isnan(cell.value):
        why = cell.reason or "missing"
        return tag("td", tag("abbr", MISSING, title=why), class_="num none")
    count = _support([cell], units)
    around = interval(cell, column.percent)
    small = tag("span", around, class_="ci") if around else ""
    return tag("td", join(number(cell.value, column.percent), small), class_="num", title=count or None)


def _exact(value: float | int) -> str:
    return MISSING if isinstance(value, float) and math.isnan(value) else repr(value)


def _latex(value: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in value.replace("`", "'"))
