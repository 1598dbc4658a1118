"""``probekit deflection make`` and ``run``: samples of the embedded model's world; the whole in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from probekit.cli.model import (
    BatchTokens,
    Device,
    Dtype,
    Model,
    Offline,
    Prompt,
    Quantization,
    RemoteCode,
    Revision,
    model_spec,
)
from probekit.cli.options import Draws, Seed

Scenarios = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="parametric, oracle, realistic or adversarial; once for each. Default: all four.",
    ),
]
Least = Annotated[
    int,
    typer.Option(help="Samples with fewer are refused where a scenario shows distractors.", min=0),
]
PerKind = Annotated[int, typer.Option(help="Samples of each of the twelve kinds.", min=1)]


def deflection_make(
    out: Annotated[Path, typer.Argument(help="Folder of the new samples.", show_default=False)],
    per_kind: PerKind = 25,
    seed: Seed = 0,
) -> None:
    """Draw samples in the embedded model's own world: samples.jsonl, wording.json, images.

    Each asks for an object that the question's picture does not show (is it there; where is it). One piece
    of evidence tells, five distractors do not: sentences, earlier turns of the conversation, or pictures.

    For example: probekit deflection make runs/set --per-kind 10
    """
    from probekit.benchmarks.deflection_world import SAMPLES, make_deflection

    count = make_deflection(out, per_kind, seed)
    typer.echo(f"{count} samples: {out / SAMPLES}")


def deflection_run(
    model: Model,
    out: Annotated[Path, typer.Option(help="Folder of the run.", show_default=False)],
    samples: Annotated[
        Path | None,
        typer.Option(help="Samples, JSON Lines; the embedded model, 'organism', makes its own without."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of their pictures. Default: images beside the samples.")
    ] = None,
    wording: Annotated[
        Path | None,
        typer.Option(
            help="Sentences of the prompts, JSON. Default: wording.json beside the samples, if any."
        ),
    ] = None,
    per_kind: PerKind = 25,
    scenario: Scenarios = None,
    least_distractors: Least = 5,
    max_new_tokens: Annotated[int, typer.Option(help="Longest answer.", min=1)] = 32,
    batch: Annotated[int, typer.Option(help="Prompts answered at once.", min=1)] = 16,
    shard_prompts: Annotated[int, typer.Option(help="Answers saved together in a store.", min=1)] = 128,
    no_trace: Annotated[
        bool, typer.Option("--no-trace", help="Stop at the rates: no pass, no detectors.")
    ] = False,
    judged: Annotated[
        Path | None,
        typer.Option(help="Verdicts on answers.jsonl, of `deflection judge`; the rules decide the rest."),
    ] = None,
    judged_forced: Annotated[Path | None, typer.Option(help="The same on forced/answers.jsonl.")] = None,
    draws: Draws = 1000,
    seed: Seed = 0,
    batch_tokens: BatchTokens = None,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    quantization: Quantization = None,
    prompt: Prompt = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
) -> None:
    """Answer, decline or invent: every sample without evidence, with it, among distractors, and without it.

    Asks each prompt twice, free to decline and forced to answer; judges by rules, or takes the verdicts of
    --judged; traces all answers once; and asks whether the model's own silence beats selection by a detector
    at the same coverage. Running it again goes on where it stopped. With --scenario parametric samples need
    neither evidence nor distractors, with oracle no distractors.

    For example: probekit deflection run organism --out runs/deflection
    or: probekit deflection run Qwen/Qwen2.5-VL-7B-Instruct --samples samples.jsonl --images pictures
    --out runs/deflection-qwen

    A sample is one line: {"id": "t1", "question": "In which city is this tower?", "image": "tower.jpg",
    "answers": ["Paris"], "gold": [{"text": "..."}], "distractors": [{"text": "..."}, {"image": "b.jpg"}]}
    """
    from probekit import jobs
    from probekit.benchmarks.deflection import Scenario
    from probekit.pipeline.deflection import DeflectionJob, deflection

    spec = model_spec(model, revision, dtype, device, quantization, prompt, trust_remote_code, offline)
    job = DeflectionJob(
        jobs.make(jobs.ModelSpec, **spec),
        out,
        samples,
        images,
        wording,
        per_kind=per_kind,
        least_distractors=least_distractors,
        max_new_tokens=max_new_tokens,
        batch=batch,
        batch_tokens=8192 if batch_tokens is None else batch_tokens,
        shard_prompts=shard_prompts,
        trace=not no_trace,
        draws=draws,
        seed=seed,
        scenarios=Scenario.chosen(scenario or ()),
        judged=judged,
        judged_forced=judged_forced,
    )
    deflection(job).show()


def deflection_answer(
    model: Model,
    samples: Annotated[Path, typer.Option(help="Samples, JSON Lines.", show_default=False)],
    out: Annotated[
        Path, typer.Option(help="Answers to write, JSON Lines; its name is the model's.", show_default=False)
    ],
    scenario: Scenarios = None,
    single_distractors: Annotated[
        bool,
        typer.Option("--single-distractors", help="Each distractor as the only evidence (stage III)."),
    ] = False,
    images: Annotated[
        Path | None, typer.Option(help="Folder of the pictures. Default: images beside the samples.")
    ] = None,
    wording: Annotated[
        Path | None,
        typer.Option(
            help="Sentences of the prompts, JSON. Default: wording.json beside the samples, if any."
        ),
    ] = None,
    least_distractors: Least = 5,
    max_new_tokens: Annotated[int, typer.Option(help="Longest answer.", min=1)] = 32,
    batch: Annotated[int, typer.Option(help="Prompts answered at once.", min=1)] = 16,
    seed: Seed = 0,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    quantization: Quantization = None,
    prompt: Prompt = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
) -> None:
    """Answers of one gating model, free to decline: what gate reads. No rates, no pass.

    Stage I, before there is evidence: probekit deflection answer MODEL --samples bare.jsonl
    --scenario parametric --out MODEL.jsonl

    Stage III, after mining: probekit deflection answer MODEL --samples mined.jsonl --scenario oracle
    --single-distractors --out MODEL.jsonl

    With --single-distractors and no --scenario only single distractors are shown. Running it again goes on
    where it stopped.
    """
    from probekit import jobs
    from probekit.benchmarks.deflection import Scenario
    from probekit.pipeline.deflection_ask import answer_samples

    spec = model_spec(model, revision, dtype, device, quantization, prompt, trust_remote_code, offline)
    count = answer_samples(
        jobs.make(jobs.ModelSpec, **spec),
        samples,
        out,
        images=images,
        wording=wording,
        scenarios=() if single_distractors and not scenario else Scenario.chosen(scenario or ()),
        alone=single_distractors,
        least_distractors=least_distractors,
        max_new_tokens=max_new_tokens,
        batch=batch,
        seed=seed,
    )
    typer.echo(f"{count} answers: {out}")
