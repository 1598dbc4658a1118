"""The Tri-Layer study as one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from probekit.cli.model import (
    BatchTokens,
    Device,
    Dtype,
    Offline,
    Prompt,
    Quantization,
    RemoteCode,
    Revision,
    model_spec,
)
from probekit.cli.numbers import number


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tri-layer")(tri_layer)


def tri_layer(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|JOB.yaml", help="A folder, a name on the hub, 'organism'; or a job, see configs."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Folder of the study.")] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            help="JSON Lines of image, question, answer; id and task if you like. The embedded model, "
            "'organism', makes its own when there are none."
        ),
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of the questions' pictures.")] = None,
    references: Annotated[
        Path | None,
        typer.Option(
            help="Objects of the pictures, to choose conflict pictures by: COCO instances JSON, or JSON "
            "Lines of image and objects. Without it there is no conflict condition."
        ),
    ] = None,
    vocabulary: Annotated[
        str | None,
        typer.Option(help="How objects are called: name-bench (default), chair, organism, or a file."),
    ] = None,
    anchors: Annotated[
        list[str] | None,
        typer.Option(
            help="Refusal anchors, a shipped set or a YAML file; once for black, once for noise. Default "
            "black-8 and noise-8; black-1 and noise-1 hold only the sentences that the paper prints."
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Only the first so many questions; of the embedded model's own, 200.")
    ] = None,
    logits: Annotated[
        str | None,
        typer.Option(help="factored keeps the states too, to compute VNS again offline. Default reduced."),
    ] = None,
    fraction: Annotated[
        float | None, number(help="Share of an answer's positions in VNS. Default 0.3.", above=0.0, most=1.0)
    ] = None,
    max_new_tokens: Annotated[int | None, typer.Option(help="Longest answer. Default 64.")] = None,
    batch: Annotated[int | None, typer.Option(help="Questions answered at once. Default 16.")] = None,
    shard_samples: Annotated[
        int | None,
        typer.Option(help="Samples traced together. Default 32."),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="Bootstrap draws behind each interval, 0 for none. Default 1000.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random. Default 0.")] = None,
    batch_tokens: BatchTokens = None,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    quantization: Quantization = None,
    prompt: Prompt = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
) -> None:
    """See or please: does the model notice a missing picture, need it, and admit that it is missing?

    Answers every question on its picture, a black one, noise and an unrelated one; traces all answers and
    refusal anchors in one pass with shared prefixes; writes LAD, VNS, CS, the taxonomy and a page. Running
    it again goes on where it stopped.

    For example: probekit tri-layer organism --out runs/tri-layer
    """
    from probekit import jobs
    from probekit.pipeline.tri_layer_run import tri_layer as study

    given: dict[str, Any] = {
        "out": out,
        "questions": questions,
        "images": images,
        "references": references,
        "vocabulary": vocabulary,
        "anchors": tuple(anchors) if anchors else None,
        "samples": samples,
        "logits": logits,
        "fraction": fraction,
        "max_new_tokens": max_new_tokens,
        "batch": batch,
        "batch_tokens": batch_tokens,
        "shard_samples": shard_samples,
        "draws": draws,
        "seed": seed,
    }
    if model.endswith((".yaml", ".yml")):
        job = jobs.load(Path(model), jobs.TriLayerJob, **given)
    else:
        spec = model_spec(model, revision, dtype, device, quantization, prompt, trust_remote_code, offline)
        job = jobs.make(jobs.TriLayerJob, model=spec, **given)
    study(job).show()
