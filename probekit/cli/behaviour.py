"""Commands on behaviour: Ghost sets, deflection, selective prediction, consistency of printed numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from probekit.cli import deflection, ghost
from probekit.cli.numbers import number
from probekit.cli.options import Draws, Out, Seed, cell, interval, show, table_of


def register(app: typer.Typer) -> None:
    """Add the commands."""
    ghost.register(app)
    deflection.register(app)
    app.command("selective")(selective)
    consistency = typer.Typer(no_args_is_help=True, help="Can a paper's printed numbers be true together?")
    consistency.command("ghost")(consistency_ghost)
    # A group with one command would otherwise become that command.
    consistency.callback()(lambda: None)
    app.add_typer(consistency, name="consistency")


def selective(
    scores: Annotated[
        Path,
        typer.Argument(
            help="CSV with confidence and correct, Tri-Layer rows, or the folder of a run or Tri-Layer run.",
            show_default=False,
        ),
    ],
    coverage: Annotated[float, number(help="Share of rows answered.", above=0.0, most=1.0)] = 0.5,
    draws: Draws = 1000,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Accuracy in % at a coverage, AURC, e-AURC and AUGRC; intervals of all of them go into --out."""
    from dataclasses import asdict

    from probekit.files import write_json
    from probekit.scores.confidences import load_confidences
    from probekit.scores.selective import selective as select

    columns = ("source", "n", "accuracy", f"at {coverage:.0%}", "AURC", "e-AURC", "AUGRC")
    table = table_of("Selective prediction", *columns)
    record = {}
    for source in load_confidences(scores):
        found = select(
            source.values, source.correct, source.images, coverage=coverage, draws=draws, seed=seed
        )
        shares = [interval(e, 100, 1) for e in (found.accuracy, found.accuracy_at)]
        areas = [cell(e.value, 1, 4) for e in (found.aurc, found.e_aurc, found.augrc)]
        table.add_row(source.name, str(found.accuracy.n), *shares, *areas)
        record[source.name] = {**asdict(found), "unlabelled": source.unlabelled}
    show(table)
    if out is not None:
        write_json(out, record)
        typer.echo(f"Result: {out}")


def consistency_ghost(
    printed: Annotated[
        Path | None, typer.Option(help="Printed numbers as YAML; by default those of the paper.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show the checks that hold as well.")] = False,
) -> None:
    """Compare what Ghost-100 prints in its table with what it says in its text."""
    from probekit.metrics.rates_consistency import check, load_printed

    findings = check(load_printed(printed))
    for finding in findings:
        if every or not finding.consistent:
            mark = "holds" if finding.consistent else "inconsistent"
            typer.echo(f"{mark}: {finding.subject}: {finding.claim}; {finding.found}")
    failed = sum(not finding.consistent for finding in findings)
    typer.echo(f"{len(findings)} checks, {failed} inconsistent")
