"""``probekit ghost``: sets, questions, verdicts and rates of Ghost-100."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from probekit.cli.ghost_judging import ghost_judge, ghost_validate
from probekit.cli.model import (
    BatchTokens,
    Dtype,
    Offline,
    Prompt,
    Quantization,
    RemoteCode,
    Revision,
    model_spec,
)
from probekit.cli.model import Device as ModelDevice
from probekit.cli.names import detectors as detector_names
from probekit.cli.names import split
from probekit.cli.options import Draws, Out, Responses, Seed
from probekit.errors import InputError

if TYPE_CHECKING:
    from probekit.pipeline.ghost_view import View

Detectors = Annotated[list[str] | None, detector_names("Keep evidence for these detectors only.")]
Heads = Annotated[
    Path | None,
    typer.Option(help="RUN/heads of probekit run or train-probes on the same model: trained detectors too."),
]
Mix = Annotated[str | None, typer.Option(help="Mixing budget of the heads. Default: natural.")]
ShardPictures = Annotated[int, typer.Option(help="Pictures traced together, and saved together.", min=1)]
CountYes = Annotated[
    bool, typer.Option("--count-visible-yes", help="Count a bare Yes to whether the target is visible.")
]
RolesNeed = Annotated[
    bool, typer.Option("--roles-need-whitelist", help="Count role words that the whitelist lacks.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    ghost = typer.Typer(no_args_is_help=True, help="Ghost-100: pictures that lack what is asked for.")
    ghost.command("make")(ghost_make)
    ghost.command("validate")(ghost_validate)
    ghost.command("questions")(ghost_questions)
    ghost.command("run")(ghost_run)
    ghost.command("trace")(ghost_trace)
    ghost.command("compare")(ghost_compare)
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
    all_categories: Annotated[
        bool,
        typer.Option("--all-categories", help="organism: badges, clocks and decoys in its scenes as well."),
    ] = False,
) -> None:
    """Draw a procedural Ghost set: images and a manifest."""
    from probekit.benchmarks.ghost_make import make_ghost
    from probekit.benchmarks.ghost_world import NO_WORDS, make_world_ghost

    if world not in ("drawn", "organism"):
        raise InputError(f"--world {world}", hint="Known: drawn, organism.")
    if world == "drawn":
        manifest = make_ghost(out, per_category, seed, _size(size))
    else:
        manifest = make_world_ghost(out, per_category, seed, all_categories=all_categories)
        if all_categories:
            typer.echo(NO_WORDS)
    typer.echo(f"{len(manifest.images)} pictures; manifest: {out / 'manifest.jsonl'}")


def ghost_questions(
    manifest: Annotated[Path, typer.Argument(help="The set's manifest.jsonl.", show_default=False)],
    out: Annotated[Path, typer.Option(help="JSON Lines to write.", show_default=False)],
    prompts: Annotated[Path | None, typer.Option(help="Your own prompts, YAML.")] = None,
) -> None:
    """Write every picture's question at all five tone levels."""
    from probekit.benchmarks.ghost import load_manifest, write_questions
    from probekit.benchmarks.ghost_prompts import load_prompts
    from probekit.files import distinct

    distinct(out, manifest, prompts)
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
    no_trace: Annotated[
        bool, typer.Option("--no-trace", help="Stop at the rates: no pass, no page.")
    ] = False,
    detectors: Detectors = None,
    heads: Heads = None,
    mix: Mix = None,
    shard_pictures: ShardPictures = 32,
    batch_tokens: BatchTokens = None,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: ModelDevice = "auto",
    quantization: Quantization = None,
    prompt: Prompt = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
    draws: Draws = 1000,
) -> None:
    """Ask a model about a Ghost set at all five tones, print its rates, and trace its answers.

    The traced pass says how tone moves attention to the picture, VNS, entropy and the detectors; a page
    shows it. A rerun goes on.

    For example: probekit ghost run organism --out runs/ghost
    """
    from probekit import jobs
    from probekit.benchmarks.ghost import Family
    from probekit.pipeline.ghost import ask, prepare, trace
    from probekit.pipeline.ghost_view import View
    from probekit.pipeline.tracing import LateModel

    spec = model_spec(model, revision, dtype, device, quantization, prompt, trust_remote_code, offline)
    job = jobs.make(
        jobs.GhostJob,
        model=spec,
        out=out,
        manifest=manifest,
        prompts=prompts,
        per_category=per_category,
        seed=seed,
        max_new_tokens=max_new_tokens,
        batch=batch,
        detectors=split(detectors),
        shard_pictures=shard_pictures,
        batch_tokens=batch_tokens,
        draws=draws,
    )
    late = LateModel(job.model)
    run = prepare(job, late)
    responses = ask(run, late)
    shown = manifest or out / "set" / "manifest.jsonl"
    ghost_score(responses, shown, rule_scores=True, draws=draws, out=out / "result.json")
    typer.echo(f"Prompts: {run.prompts.name} ({run.prompts.digest}); responses: {responses}")
    if model == "organism" and any(i.category.family is not Family.PRESENCE for i in run.manifest.images):
        typer.echo(
            "The organism knows yes/no questions about things alone: what it answers about names and times "
            "on badges and clocks says nothing."
        )
    if not no_trace:
        trace(run, late, _view(out, View(heads=heads, mix=mix))).show(rates=False)


def ghost_trace(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.", show_default=False)],
    judged: Annotated[
        Path | None, typer.Option(help="Responses with a judge's scores, from probekit ghost judge.")
    ] = None,
    detectors: Detectors = None,
    heads: Heads = None,
    mix: Mix = None,
    count_visible_yes: CountYes = False,
    roles_need_whitelist: RolesNeed = False,
    model: Annotated[
        str | None, typer.Option(help="Who answered, where the folder does not say.", show_default=False)
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(help="With --model: the set. Default: FOLDER/set/manifest.jsonl.")
    ] = None,
    prompts: Annotated[Path | None, typer.Option(help="With --model: the prompts used.")] = None,
    batch_tokens: BatchTokens = None,
    draws: Annotated[int | None, typer.Option(help="Bootstrap draws behind each interval.", min=0)] = None,
    dtype: Annotated[str | None, typer.Option(help="Of the weights, in place of the run's.")] = None,
    device: Annotated[str | None, typer.Option(help="Where, in place of the run's.")] = None,
    afresh: Annotated[
        bool, typer.Option("--afresh", help="Leave out the last page's judged scores and heads.")
    ] = False,
) -> None:
    """Trace the answers of a run once, with their pictures and with black ones, and write the page.

    Every answer is forced through the model, five tones of a picture in one prefix tree. What is traced
    already is kept, so the page can be made again with a judge's scores or with heads in seconds; they
    stay on the pages that follow.

    For example: probekit ghost trace runs/ghost --heads runs/demo/heads
    """
    from probekit import jobs
    from probekit.metrics.rates import Policy
    from probekit.pipeline.ghost import load_run, trace
    from probekit.pipeline.ghost_view import View
    from probekit.pipeline.tracing import LateModel

    given = None
    if model is not None:
        named: dict[str, Any] = {"model": {"name": model}, "manifest": manifest, "prompts": prompts}
        given = jobs.make(jobs.GhostJob, out=folder, **named)
    run = load_run(
        folder,
        given,
        detectors=split(detectors),
        batch_tokens=batch_tokens,
        draws=draws,
        dtype=dtype,
        device=device,
    )
    policy = Policy(count_visible_yes, roles_need_whitelist)
    view = View(policy, judged, heads, mix)
    trace(run, LateModel(run.job.model), view if afresh else _view(folder, view)).show()


def ghost_compare(
    folders: Annotated[list[Path], typer.Argument(help="Folders of traced runs.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder of page and table.", show_default=False)],
) -> None:
    """Put several models beside each other, in the form of the paper's Table 2 and Figure 4."""
    from probekit.report.ghost_models import write_models
    from probekit.report.terminal import show as show_tables

    page, table = write_models(out, folders)
    show_tables([table], str(out / "table_2.csv"))
    typer.echo(f"page: {page}")


def ghost_score(
    responses: Responses,
    manifest: Annotated[Path, typer.Option(help="The set's manifest.jsonl.", show_default=False)],
    count_visible_yes: CountYes = False,
    roles_need_whitelist: RolesNeed = False,
    rule_scores: Annotated[
        bool, typer.Option("--rule-scores", help="H-Score by wording, where no judge has scored.")
    ] = False,
    draws: Draws = 1000,
    seed: Seed = 0,
    out: Out = None,
) -> None:
    """H-Rate by the category rules, H-Score from recorded scores, over tones, by family and category.

    Then McNemar's tests between tones, and how far the two tracks agree; a written result has these for
    every group, and every rule with how often it decided.
    """
    from dataclasses import asdict

    from probekit.benchmarks.ghost import load_manifest
    from probekit.cli.ghost_rates import show_rates
    from probekit.files import distinct, write_json
    from probekit.metrics.rates import Policy, evaluate, load_responses, with_rule_scores

    if out is not None:
        distinct(out, responses, manifest)
    held = load_responses(responses, load_manifest(manifest))
    scored_by_rules = 0
    if rule_scores:
        held, scored_by_rules = with_rule_scores(held)
    result = evaluate(held, Policy(count_visible_yes, roles_need_whitelist), draws=draws, seed=seed)
    show_rates(result, scored_by_rules)
    if out is not None:
        write_json(out, {**asdict(result), "scored_by_rules": scored_by_rules})
        typer.echo(f"Result: {out}")


def _view(folder: Path, view: View) -> View:
    """With what the last page was made from; says so."""
    from probekit.pipeline.ghost_view import remembered

    view, notes = remembered(folder, view)
    for note in notes:
        typer.echo(note)
    return view


def _size(text: str) -> tuple[int, int]:
    width, mark, height = text.partition("x")
    if not mark or not all(re.fullmatch("[0-9]{1,5}", side) for side in (width, height)):
        raise InputError(f"--size {text}", hint="Give WIDTHxHEIGHT, such as 640x480.")
    return int(width), int(height)
