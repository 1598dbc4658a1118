"""Texts to a store: traced once, reduced, written beside the next batch, resumable shard by shard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from probekit.captures import Capture, Logits, parse_capture
from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.jobs import ExtractJob, file_digest
from probekit.pipeline.tracing import (
    LateModel,
    head_arrays,
    host_arrays,
    make_header,
    replay_agreement,
    trace_texts,
)
from probekit.progress import progress

if TYPE_CHECKING:
    from probekit.families import Prompter, Vlm
    from probekit.pipeline.work import ShardWork
    from probekit.store import Header

LEAST_AGREEMENT = 0.98
"""SPEC 0.8.6 asks for 99.5 % of tokens; below this, template or preprocessing differ."""


def extract(job: ExtractJob, model: LateModel | None = None) -> Path:
    """Trace every text that has rows; returns the store.

    Captures of another pass (``text_only``) go to a companion store inside the store's folder. Whole
    shards of an earlier run are kept; a shard's bytes depend on the job and its number alone.

    Args:
        model: the job's, where other work shares it.

    Raises:
        InputError: bad files, or texts that this model would not have written (see ``own_texts``).
        StoreError: the disk is full; whole shards stay and a rerun goes on from them.
    """
    captures = [parse_capture(key) for key in job.captures]
    job_digest = job.digest(generations=file_digest(job.generations), rows=file_digest(job.rows))
    model = model or LateModel(job.model)
    for condition in dict.fromkeys(capture.condition for capture in captures):
        chosen = tuple(dict.fromkeys(c for c in captures if c.condition == condition))
        folder = job.out if condition == "full" else job.out / condition
        _extract_pass(job, model, condition, chosen, folder, job_digest)
    return job.out


def _extract_pass(
    job: ExtractJob,
    model: LateModel,
    condition: str,
    captures: tuple[Capture, ...],
    folder: Path,
    job_digest: str,
) -> None:
    from probekit.pipeline.work import shards

    if _complete(folder, job_digest, captures, _examples(job.rows), job.shard_examples):
        return
    work = shards(job.generations, job.rows, job.images, job.shard_examples, with_images=condition == "full")
    from probekit.forward.trace import Tracer
    from probekit.store import BackgroundWriter, StoreWriter

    vlm, prompter = model.get()
    agreement = _replay(job, vlm, prompter, work[0]) if condition == "full" else float("nan")
    tracer = Tracer(vlm, prompter, captures)
    header = header_of(job, vlm, prompter, condition, job_digest, agreement)
    with StoreWriter.create(folder, header, captures) as writer:
        if any(isinstance(capture, Logits) and capture.form == "factored" for capture in captures):
            writer.write_once("head", head_arrays(vlm))
        todo = [shard for shard in work if shard.number not in writer.done]
        total = sum(len(shard.texts) for shard in work)
        done = total - sum(len(shard.texts) for shard in todo)
        label = "Tracing texts" if condition == "full" else f"Tracing texts ({condition})"
        with BackgroundWriter(writer) as out, progress(label, total, "texts", done) as advance:
            for shard in todo:
                prompts = [n - len(t.continuation) for n, t in zip(shard.lengths, shard.texts, strict=True)]
                traced = trace_texts(tracer, shard.texts, prompts, job.batch_tokens, advance)
                table = shard.table(traced.prompt_tokens, traced.image_tokens)
                out.submit(shard.number, table, host_arrays(traced))


def _examples(rows: Path) -> int:
    return len({str(row["example_id"]) for _, row in read_jsonl(rows, ("example_id",))})


def _complete(
    folder: Path, job_digest: str, captures: Iterable[Capture], examples: int, shard_examples: int
) -> bool:
    """Whether every shard is there already, so that the model need not be loaded."""
    from probekit.store import finished

    return len(finished(folder, job_digest, tuple(captures))) == -(-examples // shard_examples)


def _replay(job: ExtractJob, vlm: Vlm, prompter: Prompter, work: ShardWork) -> float:
    """Share of generated tokens that the teacher-forced pass gives back greedily (SPEC 0.8.6)."""
    share = replay_agreement(vlm, prompter, work.texts)
    if job.own_texts and share < LEAST_AGREEMENT:
        raise InputError(
            f"replaying the texts gives back {share:.1%} of their tokens, {LEAST_AGREEMENT:.0%} are needed",
            where=str(job.generations),
            hint="The prompt template, the images or the model differ from those that made the texts. "
            "For another model's texts pass --other-texts.",
        )
    return share


def header_of(
    job: ExtractJob, vlm: Vlm, prompter: Prompter, condition: str, job_digest: str, agreement: float
) -> Header:
    """What a store of this job says about itself."""
    return make_header(
        vlm,
        prompter,
        job_digest=job_digest,
        agreement=agreement,
        shard_examples=job.shard_examples,
        extra={"condition": condition, "attention_dtype": job.attention_dtype},
    )


def captures_of(detectors: Sequence[str] | None) -> tuple[str, ...]:
    """Keys of the captures that detectors need; of all detectors when none is named.

    Raises:
        InputError: a detector is unknown.
    """
    from probekit.detectors import DETECTORS
    from probekit.detectors.variants import VARIANTS

    known = {**DETECTORS, **VARIANTS}
    names = list(DETECTORS) if detectors is None else list(detectors)
    for name in names:
        if name not in known:
            raise InputError(f"no detector is called {name!r}", hint=f"Known: {', '.join(known)}.")
    keys = [capture.key for name in names for capture in known[name].needs()]
    return tuple(dict.fromkeys(keys))
