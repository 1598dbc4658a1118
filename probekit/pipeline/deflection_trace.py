"""Answers of DeflectionBench through the model once more, into a store: a row an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probekit.evaluation.deflection_store import captures_of
from probekit.files import Json, digest
from probekit.pipeline.deflection_answers import Prompt
from probekit.pipeline.pope_trace import Cost, end_token
from probekit.pipeline.tracing import LateModel, host_arrays, make_header, replay_agreement, trace_texts
from probekit.progress import progress
from probekit.rows import RowKey

if TYPE_CHECKING:
    from probekit.families import Vlm
    from probekit.forward.traced import Traced
    from probekit.forward.work import Forced
    from probekit.store import RowTable


def trace_prompts(
    model: LateModel,
    prompts: Sequence[Prompt],
    answers: Mapping[str, Json],
    path: Path,
    *,
    shard_prompts: int,
    batch_tokens: int,
) -> Cost:
    """Fill the store at ``path``; whole shards are kept, a finished store is not opened again.

    Texts of equal pictures share their computation where the family shares prefixes; prompts with other
    pictures, or with one more, are computed apart.

    Returns:
        What this call computed; nothing when the store was whole.

    Raises:
        InputError: an answer does not fit the model's context; the sample is named.
        StoreError: the disk is full; whole shards stay.
    """
    from probekit.store import finished

    job = digest(
        [model.spec.digest(), [answers[prompt.example_id] for prompt in prompts], shard_prompts, "2"]
    )
    shards = _shards(prompts, shard_prompts)
    for attention in (True, False):
        if len(finished(path, job, captures_of(attention=attention))) == len(shards):
            return Cost()
    from probekit.forward.refusals import silent_layers
    from probekit.forward.trace import Tracer
    from probekit.store import BackgroundWriter, StoreWriter

    vlm, prompter = model.get()
    captures = captures_of(attention=not silent_layers(vlm))
    texts = [[_text(vlm, prompt, answers[prompt.example_id]) for prompt in shard] for shard in shards]
    lengths = [[int(answers[text.example_id]["prompt_tokens"]) for text in shard] for shard in texts]
    header = make_header(
        vlm,
        prompter,
        job_digest=job,
        agreement=replay_agreement(vlm, prompter, texts[0]),
        shard_examples=shard_prompts,
        extra={"condition": "full", "attention_dtype": "float32"},
    )
    tracer = Tracer(vlm, prompter, captures)
    unshared = 0
    with ExitStack() as stack:
        store = stack.enter_context(StoreWriter.create(path, header, captures))
        out = stack.enter_context(BackgroundWriter(store))
        done = sum(len(texts[number]) for number in store.done)
        advance = stack.enter_context(progress("Tracing answers", len(prompts), "answers", done))
        for number, (shard, prompt_tokens) in enumerate(zip(texts, lengths, strict=True)):
            if number in store.done:
                continue
            traced = trace_texts(tracer, shard, prompt_tokens, batch_tokens, advance)
            unshared += int(traced.prompt_tokens.sum()) + sum(len(text.continuation) for text in shard)
            out.submit(number, _table(shards[number], shard, traced), host_arrays(traced))
    return Cost(tracer.computed, tracer.distinct, unshared)


def _shards(prompts: Sequence[Prompt], size: int) -> list[list[Prompt]]:
    """Prompts in pieces; none holds prompts with pictures beside prompts without."""
    found: list[list[Prompt]] = []
    for pictured in (True, False):
        held = [prompt for prompt in prompts if bool(prompt.posed.images) is pictured]
        found += [list(held[start : start + size]) for start in range(0, len(held), size)]
    return found


def _text(vlm: Vlm, prompt: Prompt, line: Json) -> Forced:
    """An answer read at its first token and as a whole; an empty one at the token that ended it."""
    from probekit.forward.work import Forced, Target

    ids = tuple(line["token_ids"]) or (end_token(vlm),)
    return Forced(
        example_id=prompt.example_id,
        image=prompt.shown,
        image_key=prompt.image_key,
        question=prompt.posed.example.messages,
        continuation=ids,
        targets=(Target(RowKey(prompt.example_id, None), 0, len(ids) - 1),),
    )


def _table(prompts: Sequence[Prompt], texts: Sequence[Forced], traced: Traced) -> RowTable:
    from probekit.store import RowTable

    count = len(texts)
    return RowTable(
        example_id=np.array([text.example_id for text in texts], dtype=object),
        index=np.full(count, -1, dtype=np.int64),
        image_id=np.array([prompt.sample.sample_id for prompt in prompts], dtype=object),
        category=np.array([prompt.sample.kind for prompt in prompts], dtype=object),
        token=np.zeros(count, dtype=np.int64),
        token_end=np.array([text.targets[0].token_end for text in texts], dtype=np.int64),
        tokens=np.array([len(text.continuation) for text in texts], dtype=np.int64),
        prompt_tokens=np.asarray(traced.prompt_tokens, dtype=np.int64),
        image_tokens=np.asarray(traced.image_tokens, dtype=np.int64),
        occurrences=np.full(count, -1, dtype=np.int64),
        token_id=np.array([text.continuation[0] for text in texts], dtype=np.int64),
    )
