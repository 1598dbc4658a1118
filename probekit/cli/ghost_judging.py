"""``probekit ghost validate`` and ``probekit ghost judge``: what is asked of a judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from probekit.cli.options import (
    BaseUrl,
    Concurrency,
    Device,
    InputPrice,
    Judged,
    JudgeKind,
    JudgeModel,
    KeyVariable,
    Out,
    OutputPrice,
    PerMinute,
    Responses,
    Yes,
    consent,
    judge_choice,
)
from probekit.errors import InputError


def ghost_validate(
    manifest: Annotated[Path, typer.Argument(help="The set's manifest.jsonl.", show_default=False)],
    per_category: Annotated[int | None, typer.Option(help="Require this many per category.")] = None,
    quality: Annotated[Path | None, typer.Option(help="Stage 1: recorded scores, JSON Lines.")] = None,
    compliance: Annotated[Path | None, typer.Option(help="Stage 2: recorded verdicts, JSON Lines.")] = None,
    assignments: Annotated[Path | None, typer.Option(help="Stage 3: recorded clusters, JSON Lines.")] = None,
    clusters: Annotated[Path | None, typer.Option(help="Stage 3: JSON object cluster -> category.")] = None,
    out: Out = None,
) -> None:
    """Check a set's files and, from recorded verdicts, its quality, compliance and separability.

    Exits with 1 when a file is at fault.
    """
    from probekit.benchmarks.ghost import load_manifest
    from probekit.benchmarks.ghost_report import validate
    from probekit.files import write_json

    if (assignments is None) != (clusters is None):
        raise InputError("--assignments and --clusters go together")
    held = load_manifest(manifest)
    result = validate(
        held,
        per_category=per_category,
        quality=quality,
        compliance=compliance,
        assignments=assignments,
        clusters=clusters,
    )
    for line in result.lines():
        typer.echo(line)
    if out is not None:
        write_json(out, result.record())
        typer.echo(f"Record: {out}")
    if result.faults:
        raise typer.Exit(1)


def ghost_judge(
    responses: Responses,
    manifest: Annotated[Path, typer.Option(help="The set's manifest.jsonl.", show_default=False)],
    judge: JudgeKind,
    model: JudgeModel,
    out: Judged,
    prompts: Annotated[Path | None, typer.Option(help="The prompts used, when your own.")] = None,
    base_url: BaseUrl = None,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    concurrency: Concurrency = 8,
    requests_per_minute: PerMinute = None,
    device: Device = None,
    input_price: InputPrice = None,
    output_price: OutputPrice = None,
    yes: Yes = False,
) -> None:
    """H-Score of every response by a judge that sees the prompt and the response, not the picture."""
    from probekit.benchmarks.ghost import Family, load_manifest
    from probekit.benchmarks.ghost_prompts import load_prompts
    from probekit.judges.columns import Column
    from probekit.judges.columns_file import judge_file
    from probekit.metrics.rates import load_responses

    texts = load_prompts(prompts)
    items: list[dict[str, object] | None] = []
    for held in load_responses(responses, load_manifest(manifest)):
        presence = held.image.category.family is Family.PRESENCE
        task = texts.ask(held.tone, held.image.target, presence=presence)
        # An empty response is not valid and has no severity.
        items.append({"task": task, "response": held.text} if held.text.strip() else None)
    choice = judge_choice(judge, model, base_url, key_variable, concurrency, requests_per_minute, device)
    agreed = consent(yes, input_price, output_price)
    typer.echo(judge_file(choice, Column.SEVERITY, responses, items, "score", out, agreed))
