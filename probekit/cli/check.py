"""``probekit check``: the contracts a model must keep, on its own device and dtype."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from probekit.cli.model import (
    Device,
    Dtype,
    Offline,
    Prompt,
    Quantization,
    RemoteCode,
    Revision,
    model_spec,
)
from probekit.errors import InputError

if TYPE_CHECKING:
    from probekit.families import Prompter, Vlm
    from probekit.forward.check import Report
    from probekit.report.tables import Table


def check(
    model: Annotated[str | None, typer.Argument(help="A folder, a name on the hub, or 'organism'.")] = None,
    tiny: Annotated[
        str | None, typer.Option(help="Check a small random member of this family instead, or all of them.")
    ] = None,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    quantization: Quantization = None,
    prompt: Prompt = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
    accept: Annotated[
        list[str] | None, typer.Option(help="Contract in spite of which the model may be used; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the report here as JSON.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compare a model's states, logits and attention with Hugging Face's own eager ones, and its spans
    with its vision tower; pad it, batch it, share prefixes, replay a generation, hide the picture.

    Exits with 1 when a contract is broken. The report of a model is kept in the user's cache.
    """
    if (model is None) == (tiny is None):
        raise InputError("name a model, or a family with --tiny", hint="For example: probekit check organism")
    if tiny is not None or offline or model == "organism" or Path(str(model)).is_dir():
        import os

        # Libraries read this when they are imported; without a hub each would try it again and again.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if tiny is not None:
        reports = _tiny(tiny)
    else:
        from dataclasses import replace

        from probekit.families import Prompter, PromptTemplate
        from probekit.jobs import ModelSpec, make
        from probekit.pipeline.describe import load_model

        values = model_spec(
            str(model), revision, dtype, device, quantization, prompt, trust_remote_code, offline
        )
        spec = make(ModelSpec, **values)
        vlm = load_model(spec)
        report = _check(vlm, Prompter(vlm, PromptTemplate(spec.prompt)))
        report = replace(report, accepted=_known(accept or []))
        report.remember()
        reports = [report]
    _tell(reports, out, json=json)
    if not all(report.passed for report in reports):
        raise typer.Exit(1)


def _tiny(name: str) -> list[Report]:
    import tempfile

    from probekit.families import Prompter, load
    from probekit.families.tiny import TINY, make

    names = tuple(TINY) if name == "all" else (name,)
    reports = []
    for family in names:
        with tempfile.TemporaryDirectory() as folder:
            vlm = load(str(make(family, Path(folder) / family)), dtype="float32", device="cpu")
            reports.append(_check(vlm, Prompter(vlm), name=f"tiny {family}"))
    return reports


def _check(vlm: Vlm, prompter: Prompter, name: str | None = None) -> Report:
    from dataclasses import replace

    from probekit.forward.check import CONTRACTS
    from probekit.forward.check import check as run
    from probekit.progress import progress

    with progress(f"check {name or vlm.name}", len(CONTRACTS), "contracts") as advance:
        report = run(vlm, prompter, lambda contract: advance(1))
    return report if name is None else replace(report, model=name)


def _known(names: list[str]) -> tuple[str, ...]:
    from probekit.forward.check import CONTRACTS

    for name in names:
        if name not in CONTRACTS:
            raise InputError(f"no contract is called {name!r}", hint=f"Known: {', '.join(CONTRACTS)}.")
    return tuple(names)


def _tell(reports: list[Report], out: Path | None, *, json: bool) -> None:
    from probekit.files import json_text, write_json
    from probekit.report.terminal import show

    values = [report.to_json() for report in reports]
    content = values[0] if len(values) == 1 else values
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_json(out, content)
    if json:
        typer.echo(json_text(content))
        return
    for report in reports:
        show([_table(report)])
        verdict = f"FAILED: {', '.join(report.failed)}" if report.failed else "passed"
        typer.echo(f"{report.model}: {verdict}; digest {report.digest}")
    if out is not None:
        typer.echo(f"Report: {out}")


def _table(report: Report) -> Table:
    from probekit.report.tables import Cell, Column, Table

    title = (
        f"{report.model}: {report.architecture}, family {report.family}, {report.dtype} on {report.device}"
    )
    names = ("contract", "status", "difference", "allowed", "what was compared")
    rows: list[tuple[Cell, ...]] = []
    for outcome in report.outcomes:
        sizes = ["" if v is None else f"{v:.2g}" for v in (outcome.difference, outcome.tolerance)]
        rows.append((outcome.contract, outcome.status, *sizes, outcome.note))
    return Table(title, tuple(Column(name, name) for name in names), tuple(rows))


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("check")(check)
