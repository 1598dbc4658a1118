"""``probekit ls`` and ``probekit verify``: what a store holds, and whether it is whole."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from probekit.store import Store

Folder = Annotated[
    Path,
    typer.Argument(metavar="STORE", help="Folder that `probekit extract` made.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("ls")(ls)
    app.command("verify")(verify)


def ls(store: Folder, as_json: AsJson = False) -> None:
    """Show what is in a store and which detectors it can serve.

    A store is a folder: job.json says which model and job made it, manifest.jsonl names each finished
    shard, shards/ holds the arrays. Passes under another condition, such as text_only, are stores of
    their own in a folder below and are listed with it.

    Nothing but headers is read. A detector that cannot be served is shown with the captures it lacks:
    captures cannot be added to a store, so extract again into another --out, with all detectors named
    that the new store is to serve.

    Example: probekit ls runs/demo/store
    """
    from probekit.store import Store

    opened = Store.open(store)
    summary, captures, detectors = _summary(opened), _captures(opened), _detectors(opened)
    if as_json:
        typer.echo(json.dumps({**summary, "captures": captures, "detectors": detectors}, indent=1))
        return
    _print(opened, summary, captures, detectors)


def verify(store: Folder, as_json: AsJson = False) -> None:
    """Read a whole store and check it; exit code 1 when it is damaged.

    Compares checksums and content digests with the manifest, and checks row counts, shapes, that no
    row and no layer is all zero, that values are finite, that attention masses sum to one, that each
    row occurs once and is in each companion store.

    To repair: run the extraction again with the same job. It names each damaged shard and rebuilds it.

    Example: probekit verify runs/demo/store
    """
    from probekit.report.tables import Column, Table
    from probekit.report.terminal import show
    from probekit.store import verify as check

    report = check(store)
    if as_json:
        value = {
            "store": str(report.path),
            "sound": report.sound,
            "shards": report.shards,
            "rows": report.rows,
            "content": report.content,
            "findings": [{"where": f.where, "what": f.what} for f in report.findings],
        }
        typer.echo(json.dumps(value, indent=1))
    else:
        read = f"{report.shards} shards, {report.rows} rows"
        if report.sound:
            typer.echo(f"{report.path} is whole: {read}, content {report.content[:16]}")
        else:
            columns = (Column("where", "Where"), Column("what", "What is wrong"))
            rows = tuple((finding.where, finding.what) for finding in report.findings)
            show([Table(f"{report.path} is damaged ({read})", columns, rows)])
            typer.echo("Run the extraction again with the same job: it rebuilds damaged shards.")
    if not report.sound:
        raise typer.Exit(1)


def _summary(store: Store) -> dict[str, Any]:
    header = store.header
    return {
        "store": str(store.path),
        "model": header.model,
        "revision": header.revision,
        "family": header.family,
        "job_digest": header.job_digest,
        "kernel": header.kernel,
        "dtype": header.dtype,
        "template_hash": header.template_hash,
        "versions": dict(header.versions),
        "replay_agreement": None if isnan(header.replay_agreement) else header.replay_agreement,
        "depth": header.depth,
        "heads": header.heads,
        "width": header.width,
        "vocabulary": header.vocabulary,
        "shards": len(store.entries),
        "rows": len(store),
        "companions": {
            name: {"shards": len(one.entries), "rows": len(one)} for name, one in store.companions.items()
        },
    }


def _captures(store: Store) -> list[dict[str, Any]]:
    from probekit.store import contents

    return [
        {
            "capture": held.capture.key,
            "condition": held.capture.condition,
            "axes": list(held.capture.axes),
            "shape": list(held.shape),
            "type": held.kind,
            "bytes": held.size,
        }
        for held in contents(store)
    ]


def _detectors(store: Store) -> dict[str, list[str]]:
    """Captures that each detector lacks; none for one that can be served."""
    from probekit.detectors import DETECTORS

    return {name: [c.key for c in store.missing(one.needs())] for name, one in DETECTORS.items()}


def _print(
    store: Store, summary: dict[str, Any], captures: list[dict[str, Any]], detectors: dict[str, list[str]]
) -> None:
    from probekit.report.tables import Cell, Column, Table
    from probekit.report.terminal import show

    facts: list[tuple[Cell, ...]] = [
        ("model", f"{summary['model']}, revision {summary['revision']}"),
        ("family", f"{summary['family']}, {summary['kernel']}, {summary['dtype']}"),
        ("layers, heads", f"{store.depth}, {store.heads}"),
        ("width, vocabulary", f"{store.header.width}, {store.header.vocabulary}"),
        ("job", summary["job_digest"]),
        ("replayed tokens", f"{store.header.replay_agreement:.2%}"),
        ("rows, shards", f"{len(store)}, {len(store.entries)}"),
    ]
    for name, companion in store.companions.items():
        facts.append((f"companion {name}", f"{len(companion)}, {len(companion.entries)}"))
    held: list[tuple[Cell, ...]] = [
        (
            one["capture"],
            " x ".join(f"{axis} {n}" for axis, n in zip(one["axes"], one["shape"], strict=True)),
            one["type"],
            _size(one["bytes"]),
        )
        for one in captures
    ]
    held.append(("all", "", "", _size(sum(one["bytes"] for one in captures))))
    served: list[tuple[Cell, ...]] = [
        (name, "no" if lacking else "yes", "\n".join(lacking)) for name, lacking in detectors.items()
    ]

    def table(title: str, rows: list[tuple[Cell, ...]], *names: str) -> Table:
        return Table(title, tuple(Column(name.lower(), name) for name in names), tuple(rows))

    show(
        [
            table(str(store.path), facts, "Store", "What it says"),
            table("Captures", held, "Capture", "Row shape", "Type", "Size"),
            table("Detectors", served, "Detector", "Served", "Lacks"),
        ]
    )


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
