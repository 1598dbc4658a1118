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
    extract again with that detector named to add them.

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
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

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
            table = Table(
                Column("Where", overflow="fold"),
                "What is wrong",
                title=f"{escape(str(report.path))} is damaged ({read})",
            )
            for finding in report.findings:
                table.add_row(escape(finding.where), escape(finding.what))
            Console().print(table)
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
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    console = Console()
    facts = Table(box=None, show_header=False, title=escape(str(store.path)), title_justify="left")
    facts.add_row("model", escape(f"{summary['model']}, revision {summary['revision']}"))
    facts.add_row("family", escape(f"{summary['family']}, {summary['kernel']}, {summary['dtype']}"))
    facts.add_row("layers, heads", f"{store.depth}, {store.heads}")
    facts.add_row("width, vocabulary", f"{store.header.width}, {store.header.vocabulary}")
    facts.add_row("job", summary["job_digest"])
    facts.add_row("replayed tokens", f"{store.header.replay_agreement:.2%}")
    facts.add_row("rows, shards", f"{len(store)}, {len(store.entries)}")
    for name, companion in store.companions.items():
        facts.add_row(f"companion {escape(name)}", f"{len(companion)}, {len(companion.entries)}")
    console.print(facts)
    table = Table(Column("Capture", overflow="fold"), "Row shape", "Type", "Size")
    for held in captures:
        shape = " x ".join(f"{axis} {n}" for axis, n in zip(held["axes"], held["shape"], strict=True))
        table.add_row(escape(held["capture"]), shape, held["type"], _size(held["bytes"]))
    table.add_section()
    table.add_row("all", "", "", _size(sum(held["bytes"] for held in captures)))
    console.print(table)
    serves = Table("Detector", "Served", Column("Lacks", overflow="fold"))
    for name, lacking in detectors.items():
        serves.add_row(name, "no" if lacking else "yes", escape("\n".join(lacking)))
    console.print(serves)


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
