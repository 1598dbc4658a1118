"""``probekit ghost validate`` and ``probekit ghost judge``: what is asked of a judge."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from probekit.cli.numbers import number
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
    judge: Annotated[str | None, typer.Option(help="Ask a judge: endpoint, hf or recorded.")] = None,
    model: Annotated[str | None, typer.Option(help="Its model, one that sees; the record's file.")] = None,
    verdicts: Annotated[
        Path | None, typer.Option(help="Folder for the judge's verdicts; rerun to go on.")
    ] = None,
    stage: Annotated[
        list[int] | None, typer.Option(help="Ask this stage; by default all that are not recorded.")
    ] = None,
    quality: Annotated[Path | None, typer.Option(help="Stage 1: recorded scores, JSON Lines.")] = None,
    compliance: Annotated[Path | None, typer.Option(help="Stage 2: recorded verdicts, JSON Lines.")] = None,
    assignments: Annotated[Path | None, typer.Option(help="Stage 3: recorded clusters, JSON Lines.")] = None,
    clusters: Annotated[Path | None, typer.Option(help="Stage 3: JSON object cluster -> category.")] = None,
    scenarios: Annotated[
        Path | None, typer.Option(help="Your own scenarios and clusters, YAML, for the judge.")
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(help="Stage 1: least mean of a dimension, such as realism=2.5; 3 when not given."),
    ] = None,
    least_sharpness: Annotated[
        float | None,
        number(help="Stage 1: least variance of the Laplacian; only reported by default.", least=0.0),
    ] = None,
    grown: Annotated[
        Path | None, typer.Option(help="Write the manifest with stage 2's words, beside the manifest.")
    ] = None,
    temperature: Annotated[float, number(help="endpoint: of stage 1's five askings.", least=0.0)] = 1.0,
    longest_side: Annotated[
        int, typer.Option(help="endpoint: pixels; larger pictures are scaled down.", min=1)
    ] = 2048,
    seed: Annotated[int, typer.Option(help="Order of pictures and clusters in stage 3.")] = 0,
    base_url: BaseUrl = None,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    concurrency: Concurrency = 8,
    requests_per_minute: PerMinute = None,
    device: Device = None,
    input_price: InputPrice = None,
    output_price: OutputPrice = None,
    yes: Yes = False,
    out: Out = None,
) -> None:
    """Check a set's files and, from a judge's verdicts, its quality, compliance and separability.

    The verdicts are recorded ones, or are asked of a judge that sees the pictures: --judge, --model,
    --verdicts FOLDER. Exits with 1 when a file is at fault; then nothing is asked.
    """
    from dataclasses import replace

    from probekit.benchmarks.ghost import Manifest, load_manifest
    from probekit.benchmarks.ghost_report import validate
    from probekit.benchmarks.ghost_validate import check_files
    from probekit.files import distinct, write_json
    from probekit.judges.ghost.scenarios import load_scenarios
    from probekit.judges.ghost.stages import STAGES, Records, ask_stages

    if (assignments is None) != (clusters is None):
        raise InputError("--assignments and --clusters go together")
    if grown is not None and grown.resolve().parent != manifest.resolve().parent:
        raise InputError(
            "--grown must stand beside the manifest", where=str(grown), hint="Its paths start from there."
        )
    if out is not None:
        distinct(out, manifest, quality, compliance, assignments, clusters, scenarios)
    if grown is not None:
        distinct(grown, quality, compliance, assignments, clusters, scenarios, out)
    limits = dict(_threshold(text) for text in threshold or ())
    held = load_manifest(manifest)
    given = Records(quality, compliance, assignments, clusters)
    if judge is not None and not check_files(held, per_category):
        recorded = {1: quality, 2: compliance, 3: assignments}
        asked = sorted(set(stage or [one for one in STAGES if recorded[one] is None]))
        if twice := [str(one) for one in asked if recorded.get(one) is not None]:
            raise InputError(f"stage {twice[0]} is both recorded and asked", hint="Leave out one of the two.")
        if model is None or verdicts is None:
            raise InputError("--judge needs --model and --verdicts FOLDER")
        choice = judge_choice(judge, model, base_url, key_variable, concurrency, requests_per_minute, device)
        found = ask_stages(
            replace(choice, longest_side=longest_side),
            held,
            verdicts,
            load_scenarios(scenarios),
            stages=asked,
            seed=seed,
            temperature=temperature,
            complied=compliance,
            consent=consent(yes, input_price, output_price),
        )
        given = Records(
            quality or found.quality,
            compliance or found.compliance,
            assignments or found.assignments,
            clusters or found.clusters,
        )
        typer.echo(f"Verdicts: {verdicts}")
    result = validate(
        held,
        per_category=per_category,
        quality=given.quality,
        compliance=given.compliance,
        assignments=given.assignments,
        clusters=given.clusters,
        thresholds=limits,
        least_sharpness=least_sharpness,
    )
    for line in result.lines():
        typer.echo(line)
    if grown is not None:
        if result.compliance is None:
            raise InputError("--grown needs verdicts of stage 2")
        words = result.compliance.whitelist
        images = tuple(replace(image, whitelist=words[image.image_id]) for image in held.images)
        Manifest(held.root, images).save(grown)
        typer.echo(f"Manifest with grown whitelists: {grown}")
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
    prompts: Annotated[
        Path | None, typer.Option(help="Your own prompts, for lines that do not say what was asked.")
    ] = None,
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
    from probekit.benchmarks.ghost import load_manifest
    from probekit.benchmarks.ghost_asked import asked
    from probekit.files import distinct
    from probekit.judges.columns import Column
    from probekit.judges.columns_file import judge_file
    from probekit.metrics.rates import load_responses

    distinct(out, manifest, prompts)
    held = load_responses(responses, load_manifest(manifest))
    tasks, silent = asked(responses, [(response.image, response.tone) for response in held], prompts)
    if silent:
        source = prompts or "the shipped prompts"
        typer.echo(f"{silent} of {len(held)} lines do not say what was asked: taken from {source}.")
    # An empty response is not valid and has no severity.
    items: list[dict[str, object] | None] = [
        {"task": task, "response": response.text} if response.text.strip() else None
        for task, response in zip(tasks, held, strict=True)
    ]
    choice = judge_choice(judge, model, base_url, key_variable, concurrency, requests_per_minute, device)
    agreed = consent(yes, input_price, output_price)
    typer.echo(judge_file(choice, Column.SEVERITY, responses, items, "score", out, agreed))


def _threshold(text: str) -> tuple[str, float]:
    from probekit.benchmarks.ghost_validate import DIMENSIONS

    name, _, value = text.partition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if name not in DIMENSIONS or not 1 <= limit <= 5:
        raise InputError(f"--threshold {text}", hint=f"Give NAME=VALUE, 1 to 5, of {', '.join(DIMENSIONS)}.")
    return name, limit
