"""``probekit deflection``: prompts, verdicts and rates of DeflectionBench."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from probekit.cli.deflection_building import deflection_gate, deflection_mine
from probekit.cli.deflection_running import Scenarios, deflection_answer, deflection_make, deflection_run
from probekit.cli.options import (
    BaseUrl,
    Concurrency,
    Device,
    Draws,
    Judged,
    JudgeKind,
    JudgeModel,
    KeyVariable,
    Out,
    PerMinute,
    Responses,
    Seed,
    Yes,
    cell,
    consent,
    interval,
    judge_choice,
    show,
    table_of,
)
from probekit.errors import InputError


def register(app: typer.Typer) -> None:
    """Add the commands."""
    deflection = typer.Typer(no_args_is_help=True, help="DeflectionBench: answer, decline or invent.")
    deflection.command("make")(deflection_make)
    deflection.command("run")(deflection_run)
    deflection.command("answer")(deflection_answer)
    deflection.command("mine")(deflection_mine)
    deflection.command("gate")(deflection_gate)
    deflection.command("questions")(deflection_questions)
    deflection.command("judge")(deflection_judge)
    deflection.command("score")(deflection_score)
    app.add_typer(deflection, name="deflection")


def deflection_questions(
    samples: Annotated[Path, typer.Argument(help="Samples, JSON Lines.", show_default=False)],
    out: Annotated[Path, typer.Option(help="JSON Lines to write.", show_default=False)],
    seed: Seed = 0,
    scenario: Scenarios = None,
    single_distractors: Annotated[
        bool,
        typer.Option(
            "--single-distractors", "--distractors", help="Each distractor alone, for gating (stage III)."
        ),
    ] = False,
    wording: Annotated[Path | None, typer.Option(help="Sentences of the prompts, JSON.")] = None,
) -> None:
    """Write every sample's prompt under the four scenarios, for models that you ask yourself.

    With --single-distractors and no --scenario those of single distractors alone.
    messages holds the chat, with {"type": "image"} where each of images goes. Put the model's answer into
    text, keep the ids, and go on with judge, score or gate.
    """
    from probekit.benchmarks.deflection import Scenario
    from probekit.pipeline.deflection_questions import write_questions

    count = write_questions(
        samples,
        out,
        seed=seed,
        wording=wording,
        scenarios=() if single_distractors and not scenario else Scenario.chosen(scenario or ()),
        alone=single_distractors,
    )
    typer.echo(f"{count} prompts: {out}")


def deflection_judge(
    responses: Responses,
    samples: Annotated[Path, typer.Option(help="Samples, JSON Lines.", show_default=False)],
    judge: JudgeKind,
    model: JudgeModel,
    out: Judged,
    base_url: BaseUrl = None,
    key_variable: KeyVariable = "OPENAI_API_KEY",
    concurrency: Concurrency = 8,
    requests_per_minute: PerMinute = None,
    device: Device = None,
    yes: Yes = False,
) -> None:
    """Outcome of every response by a judge: correct, incorrect, not attempted."""
    from probekit.benchmarks.deflection import load_samples
    from probekit.files import distinct
    from probekit.judges.columns import Column
    from probekit.judges.columns_file import judge_file
    from probekit.metrics.deflection_responses import load_responses

    distinct(out, samples)
    items: list[dict[str, object] | None] = [
        {"question": r.sample.question, "answers": list(r.sample.answers), "response": r.text}
        for r in load_responses(responses, load_samples(samples, least_distractors=0), alone=True)
    ]
    choice = judge_choice(judge, model, base_url, key_variable, concurrency, requests_per_minute, device)
    typer.echo(judge_file(choice, Column.OUTCOME, responses, items, "outcome", out, consent(yes)))


def deflection_score(
    responses: Responses,
    samples: Annotated[Path, typer.Option(help="Samples, JSON Lines.", show_default=False)],
    images: Annotated[
        Path | None, typer.Option(help="Folder of the pictures. Default: images beside the samples.")
    ] = None,
    draws: Draws = 1000,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """Accuracy, deflection and hallucination per scenario; a recorded outcome overrules the rules.

    Intervals draw samples that show a picture in common together. Without the pictures those with one name of
    their question's picture are taken for such.
    """
    from dataclasses import asdict

    from probekit.benchmarks.deflection import load_samples
    from probekit.benchmarks.deflection_world import IMAGES
    from probekit.files import distinct, write_json
    from probekit.metrics.deflection import agreement, evaluate
    from probekit.metrics.deflection_responses import load_responses
    from probekit.pipeline.deflection_clusters import clusters_of_samples

    if out is not None:
        distinct(out, responses, samples)
    known = load_samples(samples, least_distractors=0)
    held = load_responses(responses, known)
    clusters = clusters_of_samples(known, images or samples.parent / IMAGES)
    if not held:
        raise InputError("no response under a scenario", where=str(responses))
    result = evaluate(
        [r.outcome for r in held],
        [r.scenario for r in held],
        [clusters.of[r.sample.sample_id] for r in held],
        samples=[r.sample.sample_id for r in held],
        draws=draws,
        seed=seed,
    )
    table = table_of(
        "DeflectionBench: %", "scenario", "n", "correct", "deflected", "hallucinated", "of attempts"
    )
    for scenario, rates in result.scenarios.items():
        shares = (rates.accuracy, rates.deflection, rates.hallucination, rates.given_attempt)
        table.add_row(str(scenario), str(rates.n), *(interval(share, 100, 1) for share in shares))
    show(table)
    if result.reliability_gap is not None:
        gap = interval(result.reliability_gap, 100, 1)
        typer.echo(f"Reliability gap (deflection, adversarial minus oracle): {gap} points")
    both = agreement([r.rules for r in held], [r.judged for r in held])
    if both.n:
        kappa = cell(both.kappa, 1, 3)
        typer.echo(f"Rules against judge: {both.share:.3f} agree, kappa {kappa}, {both.n} responses")
    if out is not None:
        record = {**asdict(result), "agreement": {"share": both.share, "kappa": both.kappa, "n": both.n}}
        write_json(out, record)
        typer.echo(f"Result: {out}")
