"""``probekit ghost``: sets, questions, verdicts and rates of Ghost-100."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from probekit.cli.ghost_judging import ghost_judge, ghost_validate
from probekit.cli.options import Draws, Out, Responses, Seed, cell, interval, show, table_of
from probekit.errors import InputError


def register(app: typer.Typer) -> None:
    """Add the commands."""
    ghost = typer.Typer(no_args_is_help=True, help="Ghost-100: pictures that lack what is asked for.")
    ghost.command("make")(ghost_make)
    ghost.command("validate")(ghost_validate)
    ghost.command("questions")(ghost_questions)
    ghost.command("run")(ghost_run)
    ghost.command("judge")(ghost_judge)
    ghost.command("score")(ghost_score)
    app.add_typer(ghost, name="ghost")


def ghost_make(
    out: Annotated[Path, typer.Argument(help="Folder of the new set.", show_default=False)],
    per_category: Annotated[int, typer.Option(help="Pictures in each of the eight categories.")] = 100,
    seed: Seed = 0,
    size: Annotated[str, typer.Option(help="WIDTHxHEIGHT in pixels.")] = "640x480",
    world: Annotated[
        str, typer.Option(help="drawn: all eight categories; organism: the embedded model's own scenes.")
    ] = "drawn",
) -> None:
    """Draw a procedural Ghost set: images and a manifest."""
    from probekit.benchmarks.ghost_make import make_ghost
    from probekit.benchmarks.ghost_world import make_world_ghost

    if world not in ("drawn", "organism"):
        raise InputError(f"--world {world}", hint="Known: drawn, organism.")
    if world == "drawn":
        manifest = make_ghost(out, per_category, seed, _size(size))
    else:
        manifest = make_world_ghost(out, per_category, seed)
    typer.echo(f"{len(manifest.images)} pictures; manifest: {out / 'manifest.jsonl'}")


def ghost_questions(
    manifest: Annotated[Path, typer.Argument(help="The set's manifest.jsonl.", show_default=False)],
    out: Annotated[Path, typer.Option(help="JSON Lines to write.", show_default=False)],
    prompts: Annotated[Path | None, typer.Option(help="Your own prompts, YAML.")] = None,
) -> None:
    """Write every picture's question at all five tone levels."""
    from probekit.benchmarks.ghost import load_manifest, write_questions
    from probekit.benchmarks.ghost_prompts import load_prompts

    texts = load_prompts(prompts)
    count = write_questions(out, load_manifest(manifest), texts)
    typer.echo(f"{count} questions, prompts {texts.name} ({texts.digest}): {out}")


def ghost_run(
    model: Annotated[str, typer.Argument(help="A folder, a name on the hub, or 'organism'.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.", show_default=False)],
    manifest: Annotated[
        Path | None, typer.Option(help="A set's manifest.jsonl; by default one is drawn for the model.")
    ] = None,
    prompts: Annotated[Path | None, typer.Option(help="Your own prompts, YAML.")] = None,
    per_category: Annotated[int, typer.Option(help="Pictures a category of a set that is drawn.")] = 100,
    seed: Seed = 0,
    max_new_tokens: Annotated[int, typer.Option(help="Longest answer.")] = 64,
    batch: Annotated[int, typer.Option(help="Questions answered at once.", min=1)] = 16,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16, float16, or auto.")] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, or map: spread over all GPUs.")] = "auto",
    draws: Draws = 1000,
) -> None:
    """Ask a model about a Ghost set at all five tones, and print its rates; a rerun goes on.

    For example: probekit ghost run organism --out runs/ghost
    """
    from probekit import jobs
    from probekit.benchmarks.ghost import load_manifest, write_questions
    from probekit.benchmarks.ghost_make import make_ghost
    from probekit.benchmarks.ghost_prompts import load_prompts
    from probekit.benchmarks.ghost_world import PROMPTS, make_world_ghost
    from probekit.pipeline.answer import answer

    own_world = model == "organism"
    if manifest is None:
        manifest = out / "set" / "manifest.jsonl"
        if not manifest.exists():
            (make_world_ghost if own_world else make_ghost)(manifest.parent, per_category, seed)
    if own_world:
        from probekit.organism import path

        model = str(path())
    asked = out / "questions.jsonl"
    texts = load_prompts(prompts or (PROMPTS if own_world else None))
    write_questions(asked, load_manifest(manifest), texts)
    spec = jobs.make(jobs.ModelSpec, name=model, dtype=dtype, device=device)
    responses = answer(
        spec, asked, manifest.parent, out / "responses.jsonl", max_new_tokens=max_new_tokens, batch=batch
    )
    ghost_score(responses, manifest, draws=draws, out=out / "result.json")
    typer.echo(f"Prompts: {texts.name} ({texts.digest}); responses: {responses}")


def ghost_score(
    responses: Responses,
    manifest: Annotated[Path, typer.Option(help="The set's manifest.jsonl.", show_default=False)],
    count_visible_yes: Annotated[
        bool, typer.Option("--count-visible-yes", help="Count a bare Yes to whether the target is visible.")
    ] = False,
    roles_need_whitelist: Annotated[
        bool, typer.Option("--roles-need-whitelist", help="Count role words that the whitelist lacks.")
    ] = False,
    rule_scores: Annotated[
        bool, typer.Option("--rule-scores", help="H-Score by wording, where no judge has scored.")
    ] = False,
    draws: Draws = 1000,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """H-Rate by the category rules, H-Score from recorded scores, over tones, by family and category."""
    from dataclasses import asdict

    from probekit.benchmarks.ghost import load_manifest
    from probekit.files import write_json
    from probekit.metrics.rates import Policy, evaluate, load_responses, with_rule_scores

    held = load_responses(responses, load_manifest(manifest))
    scored_by_rules = 0
    if rule_scores:
        held, scored_by_rules = with_rule_scores(held)
    result = evaluate(held, Policy(count_visible_yes, roles_need_whitelist), draws=draws, seed=seed)
    tones = sorted(result.groups["all"].h_rate.points)
    levels = [f"T{t}" for t in tones]
    table = table_of(
        "H-Rate: % of valid responses, by tone level", "group", *levels, "mean [95 %]", "SD", "trend p"
    )
    for name, group in result.groups.items():
        curve = group.h_rate
        points = [curve.points[t].value if t in curve.points else math.nan for t in tones]
        trend = "n/a" if group.trend is None else f"{group.trend.p:.1g}"
        average, spread = interval(curve.average, 100, 1), cell(curve.deviation, 100, 1)
        table.add_row(name, *(cell(p, 100, 1) for p in points), average, spread, trend)
    show(table)
    if result.groups["all"].h_score is not None:
        source = "by wording, no judge" if scored_by_rules else "recorded scores"
        table = table_of(
            f"H-Score: 1 to 5 by tone level, {source}", "group", *levels, "mean [95 %]", "SD", "% >= 3"
        )
        for name, group in result.groups.items():
            if group.h_score is None or group.h_score_high is None:
                continue
            curve, high = group.h_score, group.h_score_high.average.value
            points = [curve.points[t].value if t in curve.points else math.nan for t in tones]
            average = interval(curve.average, 1, 2)
            table.add_row(
                name,
                *(cell(p, 1, 2) for p in points),
                average,
                cell(curve.deviation, 1, 2),
                cell(high, 100, 1),
            )
        show(table)
    left = result.groups["all"].h_rate.average.excluded
    typer.echo(f"{result.responses} responses, {left} without a verdict; policy {result.policy.digest}")
    if out is not None:
        write_json(out, {**asdict(result), "scored_by_rules": scored_by_rules})
        typer.echo(f"Result: {out}")


def _size(text: str) -> tuple[int, int]:
    width, mark, height = text.partition("x")
    if not mark or not width.isdigit() or not height.isdigit():
        raise InputError(f"--size {text}", hint="Give WIDTHxHEIGHT, such as 640x480.")
    return int(width), int(height)
