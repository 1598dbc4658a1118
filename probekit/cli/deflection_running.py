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
    least_distractors: Annotated[int, typer.Option(help="Samples with fewer are refused.", min=0)] = 5,
    max_new_tokens: Annotated[int, typer.Option(help="Longest answer.", min=1)] = 32,
    batch: Annotated[int, typer.Option(help="Prompts answered at once.", min=1)] = 16,
    shard_prompts: Annotated[int, typer.Option(help="Answers saved together in a store.", min=1)] = 128,
    no_trace: Annotated[
        bool, typer.Option("--no-trace", help="Stop at the rates: no pass, no detectors.")
    ] = False,
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

    Asks each prompt twice, free to decline and forced to answer; judges by rules; traces all answers once;
    and asks whether the model's own silence beats selection by a detector at the same coverage. Running it
    again goes on where it stopped.

    For example: probekit deflection run organism --out runs/deflection
    or: probekit deflection run Qwen/Qwen2.5-VL-7B-Instruct --samples samples.jsonl --images pictures
    --out runs/deflection-qwen

    A sample is one line: {"id": "t1", "question": "In which city is this tower?", "image": "tower.jpg",
    "answers": ["Paris"], "gold": [{"text": "..."}], "distractors": [{"text": "..."}, {"image": "b.jpg"}]}
    """
    from probekit import jobs
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
    )
    deflection(job).show()
