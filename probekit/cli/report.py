"""``probekit report``: the table in the terminal, the page beside the run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[Path, typer.Argument(help="Run folder that holds evaluation.json.", show_default=False)],
    detector: Annotated[
        str | None,
        typer.Option(help="Detector the gallery shows first; by default hidden_mid, else the first."),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            help="Mix the table and the page show first: none, natural, 10, 30, 100 (% of the hallucinated "
            "training examples) or max; by default natural, else the first."
        ),
    ] = None,
) -> None:
    """Print the results table; write table.csv, table.md, table.tex, figures and report.html."""
    from probekit.report import load_evaluation, results_table, show
    from probekit.report import report as write_report

    paths = write_report(run, detector=detector, mix=mix)
    show([results_table(load_evaluation(run), paths.mix)], str(paths.csv))
    for sentence in paths.missing:
        typer.echo(f"Missing: {sentence}", err=True)
    typer.echo(f"Page: {paths.page}")
    typer.echo(f"Tables: {paths.csv}, {paths.markdown}, {paths.latex}; figures: {run / 'figures'}")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("report")(report)
