"""Answers to yes/no questions through the model once more, all questions of a picture in one tree.

Each question is forced with its own answer, where the first token's distribution and attention are read,
and with every written form of yes and no that takes several tokens, where the form's probability is read.
Both hang on the same prompt in the prefix tree, so a form costs its own tokens and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probekit.benchmarks.pope import PopeQuestion
from probekit.errors import InputError
from probekit.evaluation.pope_store import CAPTURES, CONTEXT, FORM_CAPTURES, FORMS
from probekit.files import Json, read_jsonl, write_atomically, write_json
from probekit.jobs import PopeJob, file_digest
from probekit.pipeline.pope_questions import Split
from probekit.pipeline.tracing import (
    LateModel,
    head_arrays,
    make_header,
    on_host,
    replay_agreement,
    trace_texts,
)
from probekit.progress import progress
from probekit.rows import RowKey

if TYPE_CHECKING:
    from probekit.families import Prompter, Vlm
    from probekit.forward.traced import Traced
    from probekit.forward.work import Forced
    from probekit.readouts import FastTokenizer
    from probekit.store import RowTable


@dataclass(frozen=True)
class Cost:
    """What a pass computed.

    Attributes:
        computed: tokens that went through the model, padding left out.
        distinct: tokens of the prefix trees.
        unshared: tokens of the same texts, each by itself.
    """

    computed: int = 0
    distinct: int = 0
    unshared: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.computed + other.computed, self.distinct + other.distinct, self.unshared + other.unshared
        )


def trace_split(job: PopeJob, model: LateModel, split: Split, answers: Path) -> Cost:
    """Fill the split's stores ``store`` (a row an answer) and ``forms``; whole shards are kept.

    The model's tokenizer is saved beside the splits.

    Returns:
        What this call computed; nothing when the stores are whole.

    Raises:
        StoreError: the disk is full; whole shards stay and a rerun goes on from them.
    """
    shards = _shards(split.questions.questions, job.shard_questions)
    job_digest = job.digest(questions=split.questions.sha256, answers=file_digest(answers))
    if _complete(split.folder, job_digest, len(shards)):
        return Cost()
    import torch

    from probekit.forward.trace import Tracer
    from probekit.store import BackgroundWriter, StoreWriter

    vlm, prompter = model.get()
    own = tokenizer_of(vlm, job.out)
    context = prompt_end(prompter)
    forms = _long_forms(own, context)
    lines = {str(line["question_id"]): line for _, line in read_jsonl(answers, ("question_id", "token_ids"))}
    end = end_token(vlm)

    def texts(questions: Sequence[PopeQuestion]) -> list[Forced]:
        return [
            text
            for question in questions
            for text in _texts(split, question, lines[question.question_id], forms, end)
        ]

    first = [text for text in texts(shards[0]) if text.targets[0].key.index is None]
    header = make_header(
        vlm,
        prompter,
        job_digest=job_digest,
        agreement=replay_agreement(vlm, prompter, first),
        shard_examples=job.shard_questions,
        extra={
            "condition": "full",
            "attention_dtype": "float32",
            CONTEXT: context,
            FORMS: [list(ids) for ids in forms],
        },
    )
    tracer = Tracer(vlm, prompter, CAPTURES)
    unshared = 0
    with ExitStack() as stack:
        store = stack.enter_context(StoreWriter.create(split.folder / "store", header, CAPTURES))
        store.write_once("head", head_arrays(vlm))
        writers = [(store, stack.enter_context(BackgroundWriter(store)), True)]
        if forms:
            other = stack.enter_context(StoreWriter.create(split.folder / "forms", header, FORM_CAPTURES))
            writers.append((other, stack.enter_context(BackgroundWriter(other)), False))
        todo = [n for n in range(len(shards)) if any(n not in writer.done for writer, _, _ in writers)]
        total = len(split.questions)
        done = total - sum(len(shards[n]) for n in todo)
        advance = stack.enter_context(progress(f"Tracing questions ({split.name})", total, "questions", done))
        for number in todo:
            forced = texts(shards[number])
            prompts = [int(lines[text.example_id]["prompt_tokens"]) for text in forced]
            traced = trace_texts(tracer, forced, prompts, job.batch_tokens)
            advance(len(shards[number]))
            unshared += int(traced.prompt_tokens.sum()) + sum(len(text.continuation) for text in forced)
            is_answer = np.array([text.targets[0].key.index is None for text in forced])
            for writer, out, answer in writers:
                if number in writer.done:
                    continue
                rows = np.flatnonzero(is_answer == answer)
                at = torch.from_numpy(rows)
                chosen = {capture: on_host(traced.arrays[capture][at]) for capture in writer.captures}
                out.submit(number, _table(forced, traced, split).take(rows), chosen)
    cost = Cost(tracer.computed, tracer.distinct, unshared)
    write_json(split.folder / "cost.json", asdict(cost))
    return cost


def prompt_end(prompter: Prompter) -> str:
    """What a prompt holds after the question, up to where the answer begins."""
    question = "Is there a dog in the image?"
    after = prompter.text(question, 1)[0].rpartition(question)[2]
    # without an end of its own the question's last character is what the forms follow
    return after if after.strip() else question[-1] + after


def tokenizer_of(vlm: Vlm, folder: Path) -> FastTokenizer:
    """The model's tokenizer as readouts take it, saved as ``tokenizer.json`` in a folder.

    Raises:
        InputError: the model has no tokenizer that can be saved so.
    """
    from probekit.readouts import FastTokenizer

    backend = getattr(vlm.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise InputError(
            "the model has no fast tokenizer, from which the forms of yes and no are taken", where=vlm.name
        )
    text = backend.to_str()
    file = folder / "tokenizer.json"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        write_atomically(file, text)
    return FastTokenizer(vlm.name, FastTokenizer.load(file).inner)


def end_token(vlm: Vlm) -> int:
    """A token to force where a model answered nothing at all; its row is read before it."""
    end = vlm.tokenizer.eos_token_id
    return int(vlm.pad_token_id if end is None else end)


def _long_forms(tokenizer: FastTokenizer, context: str) -> tuple[tuple[int, ...], ...]:
    from probekit.readouts import dynamic_mass

    try:
        wanted = dynamic_mass(tokenizer, context).sequences
    except InputError:
        # the audit reports a vocabulary without yes or no; there is nothing to force
        return ()
    return tuple(ids for ids in wanted if len(ids) > 1)


def _shards(questions: Sequence[PopeQuestion], size: int) -> list[list[PopeQuestion]]:
    """Questions in pieces of about ``size``; those on one picture come together."""
    on_picture: dict[str, list[PopeQuestion]] = {}
    for question in questions:
        on_picture.setdefault(question.image, []).append(question)
    shards: list[list[PopeQuestion]] = []
    for group in on_picture.values():
        if not shards or len(shards[-1]) >= size:
            shards.append([])
        shards[-1] += group
    return shards


def _complete(folder: Path, job_digest: str, shards: int) -> bool:
    """Whether both stores are whole, so that the model need not be loaded."""
    from probekit.store import Store, finished

    if len(finished(folder / "store", job_digest, CAPTURES)) < shards:
        return False
    forms = Store.unchecked(folder / "store").header.extra[FORMS]
    return not forms or len(finished(folder / "forms", job_digest, FORM_CAPTURES)) == shards


def _texts(
    split: Split, question: PopeQuestion, line: Json, forms: Sequence[tuple[int, ...]], end: int
) -> Iterator[Forced]:
    """A question with its answer, then with each form."""
    from probekit.families import open_image
    from probekit.forward.work import Forced, Target

    example, path = question.question_id, split.picture(question)
    answer = tuple(line["token_ids"]) or (end,)
    for index, ids in enumerate((answer, *forms), start=-1):
        key, last = (RowKey(example, None), 0) if index < 0 else (RowKey(example, index), len(ids) - 1)
        yield Forced(
            example_id=example,
            image=partial(open_image, path, sample=example),
            image_key=str(path),
            question=str(line["prompt"]),
            continuation=ids,
            targets=(Target(key, 0, last),),
        )


def _table(forced: Sequence[Forced], traced: Traced, split: Split) -> RowTable:
    """One row a text, as the store keeps it."""
    from probekit.store import RowTable

    asked = {question.question_id: question for question in split.questions}
    targets = [text.targets[0] for text in forced]
    return RowTable(
        example_id=np.array([text.example_id for text in forced], dtype=object),
        index=np.array([-1 if t.key.index is None else t.key.index for t in targets], dtype=np.int64),
        image_id=np.array([asked[text.example_id].image_id for text in forced], dtype=object),
        category=np.array([asked[text.example_id].object or "" for text in forced], dtype=object),
        token=np.zeros(len(forced), dtype=np.int64),
        token_end=np.array([t.token_end for t in targets], dtype=np.int64),
        tokens=np.array([len(text.continuation) for text in forced], dtype=np.int64),
        prompt_tokens=np.asarray(traced.prompt_tokens, dtype=np.int64),
        image_tokens=np.asarray(traced.image_tokens, dtype=np.int64),
        occurrences=np.full(len(forced), -1, dtype=np.int64),
        token_id=np.array([text.continuation[0] for text in forced], dtype=np.int64),
    )
