"""Commands on behaviour: Ghost sets, deflection, selective prediction, consistency of printed numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from probekit.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from probekit.metrics.estimates import Estimate

Out = Annotated[Path | None, typer.Option(help="Write the full result here as JSON.")]
Draws = Annotated[int, typer.Option(help="Bootstrap draws behind each interval; 0 for none.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    ghost = typer.Typer(no_args_is_help=True, help="Ghost-100: pictures that lack what is asked for.")
    ghost.command("make")(ghost_make)
    ghost.command("validate")(ghost_validate)
    ghost.command("questions")(ghost_questions)
    ghost.command("score")(ghost_score)
    app.add_typer(ghost, name="ghost")
    deflection = typer.Typer(no_args_is_help=True, help="DeflectionBench: answer, decline or invent.")
    deflection.command("questions")(deflection_questions)
    deflection.command("score")(deflection_score)
    app.add_typer(deflection, name="deflection")
    app.command("selective")(selective)
    consistency = typer.Typer(no_args_is_help=True, help="Can a paper's printed numbers be true together?")
    consistency.command("ghost")(consistency_ghost)
    # A group with one command would otherwise become that command.
    consistency.callback()(lambda: None)
    app.add_typer(consistency, name="consistency")


def ghost_make(
    out: Annotated[Path, typer.Argument(help="Folder of the new set.", show_default=False)],
    per_category: Annotated[int, typer.Option(help="Pictures in each of the eight categories.")] = 100,
    seed: Seed = 0,
    size: Annotated[str, typer.Option(help="WIDTHxHEIGHT in pixels.")] = "640x480",
) -> None:
    """Draw a procedural Ghost set: images and a manifest."""
    from probekit.benchmarks.ghost_make import make_ghost

    manifest = make_ghost(out, per_category, seed, _size(size))
    typer.echo(f"{len(manifest.images)} pictures; manifest: {out / 'manifest.jsonl'}")


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


def ghost_questions(
    manifest: Annotated[Path, typer.Argument(help="The set's manifest.jsonl.", show_default=False)],
    out: Annotated[Path, typer.Option(help="JSON Lines to write.", show_default=False)],
    prompts: Annotated[Path | None, typer.Option(help="Your own prompts, YAML.")] = None,
) -> None:
    """Write every picture's question at all five tone levels."""
    from probekit.benchmarks.ghost import load_manifest, questions
    from probekit.benchmarks.ghost_prompts import load_prompts
    from probekit.files import write_jsonl

    texts = load_prompts(prompts)
    asked = list(questions(load_manifest(manifest), texts))
    write_jsonl(
        out,
        (
            {
                "example_id": example.example_id,
                "image_id": example.image_id,
                "image": example.image,
                "tone": int(example.condition.removeprefix("tone")),
                "prompt": example.question,
            }
            for example in asked
        ),
    )
    typer.echo(f"{len(asked)} questions, prompts {texts.name} ({texts.digest}): {out}")


def ghost_score(
    responses: Annotated[
        Path, typer.Argument(help="JSON Lines with text and example_id.", show_default=False)
    ],
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
    table = _table(
        "H-Rate: % of valid responses, by tone level", "group", *levels, "mean [95 %]", "SD", "trend p"
    )
    for name, group in result.groups.items():
        curve = group.h_rate
        points = [curve.points[t].value if t in curve.points else math.nan for t in tones]
        trend = "n/a" if group.trend is None else f"{group.trend.p:.1g}"
        average, spread = _interval(curve.average, 100, 1), _cell(curve.deviation, 100, 1)
        table.add_row(name, *(_cell(p, 100, 1) for p in points), average, spread, trend)
    _print(table)
    if result.groups["all"].h_score is not None:
        source = "by wording, no judge" if scored_by_rules else "recorded scores"
        table = _table(
            f"H-Score: 1 to 5 by tone level, {source}", "group", *levels, "mean [95 %]", "SD", "% >= 3"
        )
        for name, group in result.groups.items():
            if group.h_score is None or group.h_score_high is None:
                continue
            curve, high = group.h_score, group.h_score_high.average.value
            points = [curve.points[t].value if t in curve.points else math.nan for t in tones]
            average = _interval(curve.average, 1, 2)
            table.add_row(
                name,
                *(_cell(p, 1, 2) for p in points),
                average,
                _cell(curve.deviation, 1, 2),
                _cell(high, 100, 1),
            )
        _print(table)
    left = result.groups["all"].h_rate.average.excluded
    typer.echo(f"{result.responses} responses, {left} without a verdict; policy {result.policy.digest}")
    if out is not None:
        write_json(out, {**asdict(result), "scored_by_rules": scored_by_rules})
        typer.echo(f"Result: {out}")


def deflection_questions(
    samples: Annotated[Path, typer.Argument(help="Samples, JSON Lines.", show_default=False)],
    out: Annotated[Path, typer.Option(help="JSON Lines to write.", show_default=False)],
    seed: Seed = 0,
) -> None:
    """Write every sample's prompt under the four scenarios."""
    from probekit.benchmarks.deflection import Scenario, load_samples, pose
    from probekit.files import write_jsonl

    posed = [pose(sample, scenario, seed=seed) for sample in load_samples(samples) for scenario in Scenario]
    write_jsonl(
        out,
        (
            {
                "example_id": one.example.example_id,
                "images": list(one.images),
                "prompt": one.example.question,
                "gold_at": list(one.gold_at),
            }
            for one in posed
        ),
    )
    typer.echo(f"{len(posed)} prompts: {out}")


def deflection_score(
    responses: Annotated[
        Path, typer.Argument(help="JSON Lines with text and example_id.", show_default=False)
    ],
    samples: Annotated[Path, typer.Option(help="Samples, JSON Lines.", show_default=False)],
    draws: Draws = 1000,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Accuracy, deflection and hallucination per scenario; a recorded outcome overrules the rules."""
    from dataclasses import asdict

    from probekit.benchmarks.deflection import load_samples
    from probekit.files import write_json
    from probekit.metrics.deflection import agreement, evaluate
    from probekit.metrics.deflection_responses import load_responses

    held = load_responses(responses, load_samples(samples, least_distractors=0))
    result = evaluate(
        [r.outcome for r in held],
        [r.scenario for r in held],
        [r.sample.sample_id for r in held],
        draws=draws,
        seed=seed,
    )
    table = _table(
        "DeflectionBench: %", "scenario", "n", "correct", "deflected", "hallucinated", "of attempts"
    )
    for scenario, rates in result.scenarios.items():
        shares = (rates.accuracy, rates.deflection, rates.hallucination, rates.given_attempt)
        table.add_row(str(scenario), str(rates.n), *(_interval(share, 100, 1) for share in shares))
    _print(table)
    if result.reliability_gap is not None:
        gap = _interval(result.reliability_gap, 100, 1)
        typer.echo(f"Reliability gap (deflection, adversarial minus oracle): {gap} points")
    both = agreement([r.rules for r in held], [r.judged for r in held])
    if both.n:
        typer.echo(f"Rules against judge: {both.share:.3f} agree, kappa {both.kappa:.3f}, {both.n} responses")
    if out is not None:
        record = {**asdict(result), "agreement": {"share": both.share, "kappa": both.kappa, "n": both.n}}
        write_json(out, record)
        typer.echo(f"Result: {out}")


def selective(
    scores: Annotated[
        Path,
        typer.Argument(
            help="CSV with confidence and correct, Tri-Layer rows, or a run folder.", show_default=False
        ),
    ],
    coverage: Annotated[float, typer.Option(help="Share of rows answered.")] = 0.5,
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
    table = _table("Selective prediction", *columns)
    record = {}
    for source in load_confidences(scores):
        found = select(
            source.values, source.correct, source.images, coverage=coverage, draws=draws, seed=seed
        )
        shares = [_interval(e, 100, 1) for e in (found.accuracy, found.accuracy_at)]
        areas = [_cell(e.value, 1, 4) for e in (found.aurc, found.e_aurc, found.augrc)]
        table.add_row(source.name, str(found.accuracy.n), *shares, *areas)
        record[source.name] = {**asdict(found), "unlabelled": source.unlabelled}
    _print(table)
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


def _size(text: str) -> tuple[int, int]:
    width, mark, height = text.partition("x")
    if not mark or not width.isdigit() or not height.isdigit():
        raise InputError(f"--size {text}", hint="Give WIDTHxHEIGHT, such as 640x480.")
    return int(width), int(height)


def _table(title: str, *columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number == 0, justify="left" if number == 0 else "right")
    return table


def _print(table: Table) -> None:
    from rich.console import Console

    Console().print(table)


def _cell(value: float, factor: int, digits: int) -> str:
    return "n/a" if math.isnan(value) else f"{value * factor:.{digits}f}"


def _interval(estimate: Estimate, factor: int, digits: int) -> str:
    value = _cell(estimate.value, factor, digits)
    if math.isnan(estimate.low):
        return value
    return f"{value} [{_cell(estimate.low, factor, digits)}, {_cell(estimate.high, factor, digits)}]"
