"""Commands that run a model: generate, extract, run, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
from probekit.cli.names import detectors as detector_names
from probekit.cli.names import split
from probekit.cli.numbers import number

Question = Annotated[str | None, typer.Option(help="The user's turn. Default: NAME-Bench's.")]
Limit = Annotated[int | None, typer.Option(help="Only the first so many pictures, by name.")]
MaxNew = Annotated[int | None, typer.Option("--max-new-tokens", help="Longest answer. Default 128.")]
Batch = Annotated[int | None, typer.Option(help="Pictures described at once. Default 8.")]
ShardExamples = Annotated[int | None, typer.Option(help="Texts in one shard of the store. Default 64.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("demo")(demo)
    app.command("run")(run)
    app.command("generate")(generate)
    app.command("extract")(extract)


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("runs/demo"),
    pictures: Annotated[int, typer.Option(help="Pictures the embedded model describes.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the pictures.")] = 20_000,
) -> None:
    """The whole way on the embedded model, in a few minutes: from pictures to a page that says which
    mentions to doubt.

    Draws pictures whose content is known, lets the embedded model describe them, finds the objects it
    mentions, traces them once, trains and evaluates the detectors, and writes a page. Running it again
    skips what is done.
    """
    from probekit.pipeline.run import demo_job
    from probekit.pipeline.run import run as whole

    whole(demo_job(out, pictures, seed)).show()


def run(
    model: Model,
    images: Annotated[Path, typer.Option(help="Folder of pictures.")],
    references: Annotated[
        Path, typer.Option(help="COCO instances JSON, or JSON Lines of image or image_id, and objects.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    texts: Annotated[
        Path | None,
        typer.Option(
            help="Captions by others, forced through the model: JSON Lines of image or image_id, and caption."
        ),
    ] = None,
    vocabulary: Annotated[str, typer.Option(help="name-bench, chair, organism, or a file.")] = "name-bench",
    usage: Annotated[
        str, typer.Option(help="Who judges usage: rules, or a labels file that `probekit label` wrote.")
    ] = "rules",
    detectors: Annotated[list[str] | None, detector_names("Only these detectors; all by default.")] = None,
    seeds: Annotated[int, typer.Option(help="Number of splits by picture.")] = 3,
    natural_share: Annotated[
        float | None,
        number(help="Non-assertive share of natural captions; measured when absent.", least=0.0, below=1.0),
    ] = None,
    question: Question = None,
    max_new_tokens: MaxNew = None,
    batch: Batch = None,
    limit: Limit = None,
    batch_tokens: BatchTokens = None,
    shard_examples: ShardExamples = None,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    quantization: Quantization = None,
    prompt: Prompt = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
) -> None:
    """Describe pictures, find and label mentions, trace, train, evaluate and report, for any model.

    For example: probekit run llava-hf/llava-1.5-7b-hf --images val2017 --references
    instances_val2017.json --out runs/llava

    Each stage is skipped when its result is there already, so the same command resumes a run. Pictures or
    captions that were added since are traced behind the others; with fewer, the results are of the fewer.
    """
    from probekit import jobs
    from probekit.pipeline.run import run as whole

    job = jobs.make(
        jobs.RunJob,
        model=model_spec(model, revision, dtype, device, quantization, prompt, trust_remote_code, offline),
        images=images,
        references=references,
        out=out,
        texts=texts,
        vocabulary=vocabulary,
        usage=usage,
        detectors=split(detectors),
        seeds=seeds,
        natural_share=natural_share,
        question=question,
        max_new_tokens=max_new_tokens,
        batch=batch,
        limit=limit,
        batch_tokens=batch_tokens,
        shard_examples=shard_examples,
    )
    whole(job).show()


def generate(
    model: Model,
    images: Annotated[Path, typer.Option(help="Folder of pictures.")],
    out: Annotated[Path, typer.Option(help="Texts, JSON Lines.")],
    question: Question = None,
    max_new_tokens: MaxNew = None,
    batch: Batch = None,
    limit: Limit = None,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    quantization: Quantization = None,
    prompt: Prompt = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
) -> None:
    """Describe every picture of a folder greedily, and keep the token ids.

    One line a picture; a rerun goes on after the last whole line.
    """
    from probekit import jobs
    from probekit.pipeline.describe import describe

    job = jobs.make(
        jobs.GenerateJob,
        model=model_spec(model, revision, dtype, device, quantization, prompt, trust_remote_code, offline),
        images=images,
        out=out,
        question=question,
        max_new_tokens=max_new_tokens,
        batch=batch,
        limit=limit,
    )
    typer.echo(f"texts: {describe(job)}")


def extract(
    job_file: Annotated[
        Path | None, typer.Argument(metavar="[JOB.yaml]", help="A job; flags override its fields.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="A folder, a name on the hub, or 'organism'.")] = None,
    generations: Annotated[Path | None, typer.Option(help="Texts that `probekit generate` wrote.")] = None,
    rows: Annotated[Path | None, typer.Option(help="Rows to read in them.")] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of the pictures.")] = None,
    out: Annotated[Path | None, typer.Option(help="The store.")] = None,
    detectors: Annotated[
        list[str] | None, detector_names("Keep what these detectors need; all by default.")
    ] = None,
    captures: Annotated[
        list[str] | None, typer.Option("--capture", help="Keep this capture, by key; may be repeated.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what it will cost.")] = False,
    other_texts: Annotated[
        bool, typer.Option("--other-texts", help="The texts are another model's; do not check the replay.")
    ] = False,
    batch_tokens: BatchTokens = None,
    shard_examples: ShardExamples = None,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    quantization: Quantization = None,
    prompt: Prompt = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
) -> None:
    """Trace texts once, teacher-forced, and keep captures of their mentions in a store.

    Takes a job file (see configs/extract), or flags, or both. Without --detectors and --capture it keeps
    what all detectors need. Whole shards survive a kill; the same command goes on after them.
    """
    from probekit import jobs
    from probekit.pipeline.extract import captures_of
    from probekit.pipeline.extract import extract as trace

    named = split(detectors)
    keys = tuple(captures or ()) + (captures_of(named) if named or not captures else ())
    given: dict[str, Any] = {
        "generations": generations,
        "rows": rows,
        "images": images,
        "out": out,
        "batch_tokens": batch_tokens,
        "shard_examples": shard_examples,
        "own_texts": False if other_texts else None,
    }
    if model is not None:
        spec = model_spec(model, revision, dtype, device, quantization, prompt, trust_remote_code, offline)
        given["model"] = spec
    if job_file is None:
        job = jobs.make(jobs.ExtractJob, captures=keys, **given)
    else:
        chosen = keys if named or captures else None
        job = jobs.load(job_file, jobs.ExtractJob, captures=chosen, **given)
    if plan:
        from probekit.pipeline.plan import plan as estimate

        estimate(job).show()
        return
    store = trace(job)
    typer.echo(f"store: {store}\nnext: probekit ls {store}")
