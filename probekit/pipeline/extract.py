"""Texts to a store: traced once, reduced, written beside the next batch, resumable shard by shard."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from probekit.captures import Logits, parse_capture
from probekit.errors import InputError
from probekit.jobs import ExtractJob
from probekit.pipeline.begun import Begun, begun, identity, texts_with_rows
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


def extract(job: ExtractJob, model: LateModel | None = None, needed: Collection[str] | None = None) -> Path:
    """Trace every text that has rows; returns the store.

    Captures of another pass (``text_only``) go to a companion store inside the store's folder. Whole
    shards of an earlier run are kept, also of one on the first of the texts alone; a shard's arrays depend
    on the job and its texts alone. A store that does not fit is refused before anything is changed.

    Args:
        model: the job's, where other work shares it.
        needed: texts that must be in the store; when a whole store of the first texts holds them all, the
            others are left out. All texts when absent.

    Raises:
        InputError: bad files, a store of another job, or texts that this model would not have written (see
            ``own_texts``).
        StoreError: the disk is full; whole shards stay and a rerun goes on from them.
    """
    examples, job_digest = texts_with_rows(job.rows), identity(job)
    wanted = examples if needed is None else tuple(name for name in examples if name in set(needed))
    found = passes(job)
    if len({before.examples for _, before in found.values()}) == 1 and all(
        before.serves(folder, wanted, job.shard_examples) for folder, before in found.values()
    ):
        return job.out
    model = model or LateModel(job.model)
    for condition, (folder, before) in found.items():
        if before.digest != job_digest or not before.serves(folder, examples, job.shard_examples):
            _extract_pass(job, model, condition, before, folder, job_digest)
    return job.out


def passes(job: ExtractJob, *, texts_too: bool = True) -> dict[str, tuple[Path, Begun]]:
    """Folder of each pass, and what is there of it.

    Args:
        texts_too: also see whether the store is of these texts and rows.

    Raises:
        InputError: a store is there that this job cannot go on with.
    """
    from probekit.store.schema import HEADER_FILE

    captures = [parse_capture(key) for key in job.captures]
    found = {}
    # a companion that is there grows with its store, asked for or not: its rows are the store's
    kept = [path.parent.name for path in sorted(job.out.glob(f"*/{HEADER_FILE}"))]
    for condition in dict.fromkeys([*(capture.condition for capture in captures), *kept]):
        folder = job.out if condition == "full" else job.out / condition
        asked = tuple(capture for capture in captures if capture.condition == condition)
        found[condition] = folder, begun(folder, asked, job, texts_too=texts_too)
    return found


def _extract_pass(
    job: ExtractJob, model: LateModel, condition: str, before: Begun, folder: Path, job_digest: str
) -> None:
    from probekit.pipeline.work import shards

    work = shards(job.generations, job.rows, job.images, job.shard_examples, with_images=condition == "full")
    from probekit.forward.trace import Tracer
    from probekit.store import BackgroundWriter, Beginning, StoreWriter

    vlm, prompter = model.get()
    agreement = _replay(job, vlm, prompter, work[0]) if condition == "full" else float("nan")
    captures = before.captures
    tracer = Tracer(vlm, prompter, captures)
    header = header_of(job, vlm, prompter, condition, job_digest, agreement)
    beginning = None
    if before.digest not in (None, job_digest):
        beginning = Beginning(str(before.digest), len(before.examples) // job.shard_examples)
    with StoreWriter.create(folder, header, captures, beginning) as writer:
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
