"""Commands that fit and evaluate detectors on a store: train-probes, evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from probekit.cli.names import detectors as detector_names
from probekit.cli.names import split
from probekit.cli.numbers import number
from probekit.errors import InputError

StorePath = Annotated[Path, typer.Argument(help="Folder of the store.", show_default=False)]
LabelsPath = Annotated[
    Path | None, typer.Option("--labels", help="Labels of the rows. Default: RUN/labels/labels.jsonl.")
]
Names = Annotated[list[str] | None, detector_names("Only these detectors; all by default.")]
Mixes = Annotated[
    list[str] | None,
    typer.Option(
        "--mix",
        help="Non-assertive training examples: none, natural (their share in captions), 10, 30 or 100 (% of "
        "hallucinated ones), max (all there are), or all of these; may be repeated. Default: all.",
    ),
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
        detectors=split(detectors),
        mixes=_mixes(mix),
        seeds=seeds,
        natural_share=natural_share,
    )
    for name, captures in result.unserved.items():
        typer.echo(f"left out: {name}, the store lacks {', '.join(captures)}", err=True)
    for refusal in result.refused:
        typer.echo(f"n/a: {refusal}", err=True)
    for name in result.untrained:
        typer.echo(f"{name} needs no head: it is evaluated as it is")
    if result.fitted or result.kept:
        typer.echo(f"{result.fitted} heads fitted, {result.kept} kept as they were, in {heads}")
    typer.echo(f"next: probekit evaluate {store}{_given(labels, heads, out, detectors)}")


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
        Path | None,
        typer.Option(
            help="Every calibration and test score. Default: RUN/scores.csv, or OUT.scores.csv beside an "
            "--out of another name than evaluation.json."
        ),
    ] = None,
) -> None:
    """Evaluate detectors from a store by the NAME-Bench protocol.

    Thresholds flag 10 % of the concrete calibration mentions. Hallucination TPR, non-assertive FPR by
    subtype and AUROC come on all test mentions and on position-matched ones, with 95 % intervals that
    resample images. RUN is the folder that holds the store.
    """
    from probekit.evaluation.run import evaluate as run

    target = out or store.parent / "evaluation.json"
    usual = target.name == "evaluation.json"
    table = scores or target.with_name("scores.csv" if usual else f"{target.stem}.scores.csv")
    result = run(
        store,
        labels or store.parent / "labels" / "labels.jsonl",
        heads or store.parent / "heads",
        target,
        scores=table,
        detectors=split(detectors),
        mixes=None if mix is None else _mixes(mix),
        seeds=seeds,
        natural_share=natural_share,
    )
    for name, why in result.counts["unserved"].items():
        typer.echo(f"left out: {name}, {', '.join(why)}", err=True)
    typer.echo(f"{len(result.records)} estimates in {target}, scores in {table}")
    if usual:
        typer.echo(f"next: probekit report {target.parent}")


def _given(labels: Path | None, heads: Path, out: Path | None, detectors: list[str] | None) -> str:
    """What was given here and has to be given again."""
    named = ",".join(split(detectors) or ())
    options = (("labels", labels), ("heads", out and heads), ("detectors", named))
    return "".join(f" --{name} {value}" for name, value in options if value)


def _mixes(mix: list[str] | None) -> list[Any]:
    from probekit.evaluation.budgets import MIXES

    given = [name.strip() for text in mix or ["all"] for name in text.split(",")]
    for name in given:
        if name != "all" and name not in MIXES:
            raise InputError(f"no mix is called {name!r}", hint=f"Known: {', '.join(MIXES)}, all.")
    return [name for name in MIXES if "all" in given or name in given]
