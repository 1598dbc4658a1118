"""Options and tables that the behaviour commands share."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from probekit.cli.numbers import number
from probekit.errors import InputError

if TYPE_CHECKING:
    from probekit.judges.choose import Choice
    from probekit.judges.estimate import Consent
    from probekit.judges.estimate import Estimate as Asking
    from probekit.metrics.estimates import Estimate

Out = Annotated[Path | None, typer.Option(help="Write the full result here as JSON.")]
Draws = Annotated[int, typer.Option(help="Bootstrap draws behind each interval; 0 for none.", min=0)]
Seed = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]
Responses = Annotated[Path, typer.Argument(help="JSON Lines with text and example_id.", show_default=False)]
JudgeKind = Annotated[str, typer.Option("--judge", help="endpoint, hf or recorded.", show_default=False)]
JudgeModel = Annotated[str, typer.Option("--model", help="Its model; the record's file.", show_default=False)]
BaseUrl = Annotated[str | None, typer.Option(help="endpoint: the endpoint.")]
KeyVariable = Annotated[str, typer.Option(help="endpoint: environment variable that holds the key.")]
Concurrency = Annotated[int, typer.Option(help="endpoint: requests under way at once.", min=1)]
PerMinute = Annotated[
    float | None, number("--requests-per-minute", help="endpoint: limit on requests.", above=0.0)
]
Device = Annotated[str | None, typer.Option(help="hf: where it runs, such as cuda.")]
Judged = Annotated[
    Path, typer.Option("--out", help="Responses with the column, JSON Lines.", show_default=False)
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before paying.")]
InputPrice = Annotated[float | None, number(help="Money per million tokens sent.", least=0.0)]
OutputPrice = Annotated[float | None, number(help="Money per million tokens answered.", least=0.0)]


def judge_choice(
    kind: str,
    model: str,
    base_url: str | None,
    key_variable: str,
    concurrency: int,
    requests_per_minute: float | None,
    device: str | None,
) -> Choice:
    """The model judge that the options name; rules are no model."""
    from probekit.judges.choose import Choice, Kind

    return Choice(
        Kind.of(kind, rules=False),
        model,
        base_url=base_url,
        key_variable=key_variable,
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        device=device,
    )


def announce(expected: Asking, agreed: bool, *, pays: bool, of: str = "", more: str = "") -> None:
    """Say what will be asked; where that costs money, go on only when told to.

    Args:
        expected: what asking takes.
        agreed: the user said yes beforehand.
        pays: whether it costs money, as far as is known.
        of: who is asked.
        more: what the estimate leaves out.

    Raises:
        InputError: it costs money and nobody can be asked.
    """
    print(f"To ask{of}: {expected}{more}", file=sys.stderr)
    if not pays or agreed or expected.requests == 0:
        return
    if not sys.stdin.isatty():
        raise InputError("this may cost money and nobody can be asked", hint="Add --yes to go on.")
    typer.confirm("Go on?", abort=True, err=True)


def consent(yes: bool, input_price: float | None = None, output_price: float | None = None) -> Consent:
    """Says what is left to be asked of which model; before an endpoint is asked, the user must agree.

    A local model costs time alone, and a record nothing.
    """
    from collections.abc import Sequence

    from probekit.judges.base import Judge, Question
    from probekit.judges.estimate import Estimate as Asking

    def tell(judge: Judge, questions: Sequence[Question], answer_tokens: int) -> None:
        kind, model = judge.identity["judge"], judge.identity.get("model", "")
        if kind == "recorded":
            return
        announce(
            Asking.of(questions, answer_tokens, input_price, output_price),
            yes,
            pays=kind == "endpoint",
            of=f" of {model}" if model else "",
            more="; an answer that cannot be read is asked for once more",
        )

    return tell


@dataclass
class Grid:
    """A table of texts that grows by rows."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add_row(self, *cells: str) -> None:
        """One more row, a cell a column."""
        self.rows.append(cells)


def table_of(title: str, *columns: str) -> Grid:
    """An empty table with headings; columns of numbers will stand to the right."""
    return Grid(title, columns)


def show(grid: Grid) -> None:
    """Print a table to standard output."""
    from probekit.report.tables import Column, Table
    from probekit.report.terminal import show as show_tables

    columns = tuple(Column(f"column_{n}", name) for n, name in enumerate(grid.columns))
    show_tables([Table(grid.title, columns, tuple(grid.rows))])


def cell(value: float, factor: int, digits: int) -> str:
    """A number times a factor, or n/a."""
    return "n/a" if math.isnan(value) else f"{value * factor:.{digits}f}"


def interval(estimate: Estimate, factor: int, digits: int) -> str:
    """An estimate with its interval, when it has one."""
    value = cell(estimate.value, factor, digits)
    if math.isnan(estimate.low):
        return value
    return f"{value} [{cell(estimate.low, factor, digits)}, {cell(estimate.high, factor, digits)}]"
