"""Commands that fit and evaluate detectors on a store: train-probes, evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from probekit.cli.numbers import number
from probekit.errors import InputError

StorePath = Annotated[Path, typer.Argument(help="Folder of the store.", show_default=False)]
LabelsPath = Annotated[
    Path | None, typer.Option("--labels", help="Labels of the rows. Default: RUN/labels/labels.jsonl.")
]
Names = Annotated[
    list[str] | None,
    typer.Option("--detectors", help="Only this detector; may be repeated, or name several with commas."),
]
Mixes = Annotated[
    list[str] | None,
    typer.Option("--mix", help="none, natural, 10, 30, 100, max or all; may be repeated. Default: all."),
]
Seeds = Annotated[int, typer.Option("--seeds", help="Number of splits by image.", min=1)]
Share = Annotated[
    float | None,
    number(
        "--natural-share",
        help="Share of non-assertive mentions in natural captions. Default: measured.",
        least=0.0,
        below=1.0,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("train-probes")(train_probes)
    app.command("evaluate")(evaluate)


def train_probes(
    store: StorePath,
    labels: LabelsPath = None,
    mix: Mixes = None,
    detectors: Names = None,
    seeds: Seeds = 3,
    natural_share: Share = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the heads. Default: RUN/heads.")
    ] = None,
) -> None:
    """Fit the trained detectors on the rows of a store, for each mixing budget and seed.

    Splits are by image: 8/15 fit, 2/15 calibration, 5/15 test. Heads fitted earlier on the same rows are
    kept. RUN is the folder that holds the store.
    """
    from probekit.evaluation.run import train

    heads = out or store.parent / "heads"
    result = train(
        store,
        labels or store.parent / "labels" / "labels.jsonl",
        heads,
        detectors=_names(detectors),
        mixes=_mixes(mix),
        seeds=seeds,
        natural_share=natural_share,
    )
    for name, captures in result.unserved.items():
        typer.echo(f"left out: {name}, the store lacks {', '.join(captures)}", err=True)
    for refusal in result.refused:
        typer.echo(f"n/a: {refusal}", err=True)
    typer.echo(f"{result.fitted} heads fitted, {result.kept} kept as they were, in {heads}")
    typer.echo(f"next: probekit evaluate {store} --heads {heads}")


def evaluate(
    store: StorePath,
    labels: LabelsPath = None,
    heads: Annotated[Path | None, typer.Option(help="Folder of the heads. Default: RUN/heads.")] = None,
    mix: Mixes = None,
    detectors: Names = None,
    seeds: Seeds = 3,
    natural_share: Share = None,
    out: Annotated[Path | None, typer.Option(help="Default: RUN/evaluation.json.")] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Every calibration and test score. Default: scores.csv beside --out.")
    ] = None,
) -> None:
    """Evaluate detectors from a store by the NAME-Bench protocol.

    Thresholds flag 10 % of the concrete calibration mentions. Hallucination TPR, non-assertive FPR by
    subtype and AUROC come on all test mentions and on position-matched ones, with 95 % intervals that
    resample images. RUN is the folder that holds the store.
    """
    from probekit.evaluation.run import evaluate as run

    target = out or store.parent / "evaluation.json"
    table = scores or target.with_name("scores.csv")
    result = run(
        store,
        labels or store.parent / "labels" / "labels.jsonl",
        heads or store.parent / "heads",
        target,
        scores=table,
        detectors=_names(detectors),
        mixes=None if mix is None else _mixes(mix),
        seeds=seeds,
        natural_share=natural_share,
    )
    for name, why in result.counts["unserved"].items():
        typer.echo(f"left out: {name}, {', '.join(why)}", err=True)
    typer.echo(f"{len(result.records)} estimates in {target}, scores in {table}")
    typer.echo(f"next: probekit report {target.parent}")


def _names(detectors: list[str] | None) -> list[str] | None:
    """Names given one by one or with commas."""
    if not detectors:
        return None
    return [name.strip() for given in detectors for name in given.split(",") if name.strip()]


def _mixes(mix: list[str] | None) -> list[Any]:
    from probekit.evaluation.budgets import MIXES

    given = [name.strip() for text in mix or ["all"] for name in text.split(",")]
    for name in given:
        if name != "all" and name not in MIXES:
            raise InputError(f"no mix is called {name!r}", hint=f"Known: {', '.join(MIXES)}, all.")
    return [name for name in MIXES if "all" in given or name in given]
