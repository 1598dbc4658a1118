"""The answers of a Ghost run through the model once more, with their picture and with a black one.

All tones of a picture hang on one prefix tree, and so do all questions on the black picture, which is
one for the whole run. ``store`` keeps a row an answer: what detectors read at its first token.
``positions`` keeps a row a token: its statistics, and how far its distribution moves on black.
Divergences are taken on the device from the normed states; no distribution leaves it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probekit.benchmarks.conditions import SIZE, blind_image
from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    Capture,
    ImageSimilarity,
    InternalConfidence,
    parse_capture,
)
from probekit.errors import ContractError, FamilyError, InputError
from probekit.evaluation.ghost_store import COST, LEFT_OUT, POSITION_CAPTURES, POSITIONS, STORE, captures_of
from probekit.files import JsonlAppender, digest, read_jsonl
from probekit.jobs import GhostJob
from probekit.pipeline.answer import check_texts
from probekit.pipeline.ghost_answers import GhostAnswer, GhostAnswers
from probekit.pipeline.ghost_plan import GhostPlan
from probekit.pipeline.tracing import LateModel, host_arrays, make_header, replay_agreement, trace_texts
from probekit.progress import progress
from probekit.rows import RowKey

if TYPE_CHECKING:
    from torch import Tensor

    from probekit.families import Vlm
    from probekit.forward.trace import Tracer
    from probekit.forward.traced import Traced
    from probekit.forward.work import Forced
    from probekit.store import RowTable

BLACK = "black"
"""Identity of the black picture, whose beginning is computed once for the whole run."""
COMPARED = 4096
"""Tokens whose states are on the device at once for the divergence."""


@dataclass(frozen=True)
class Cost:
    """Tokens of a traced run.

    Attributes:
        texts: texts forced: every answer with its picture, and every distinct one on black.
        computed: tokens that went through the model, padding left out.
        distinct: tokens of the prefix trees.
        loop: tokens of every answer under both pictures, each text by itself.
        answered: tokens of the answers.
        replayed: those of them that the pass would have chosen as well (SPEC 0.8.6).
    """

    texts: int = 0
    computed: int = 0
    distinct: int = 0
    loop: int = 0
    answered: int = 0
    replayed: int = 0


def cost_of(folder: Path) -> Cost:
    """What the passes of a run computed; a shard that was made again counts once."""
    path = folder / COST
    by_shard = {int(line["shard"]): line for _, line in read_jsonl(path)} if path.exists() else {}
    return Cost(*(sum(int(line[name]) for line in by_shard.values()) for name in asdict(Cost())))


def trace_answers(job: GhostJob, model: LateModel, found: GhostAnswers) -> GhostPlan | None:
    """Fill ``store`` and ``positions`` in the run's folder; whole shards are kept.

    Returns:
        What was planned; ``None`` when both stores were whole, and no model was loaded.

    Raises:
        InputError: a detector is unknown, no answer has tokens, a question holds the mark of a picture, or
            the stores would not fit the disk.
        StoreError: the disk is full; whole shards stay and a rerun goes on from them.
    """
    wanted = captures_of(job.detectors)
    if not found.answers:
        raise InputError(
            "no answer has tokens, there is nothing to trace",
            where=str(job.out),
            hint="The rates need no pass: probekit ghost score.",
        )
    shards = found.shards(job.shard_pictures)
    job_digest = job.digest(answers=digest(found.identity), black=digest(list(SIZE)))
    if _complete(job.out, job_digest, wanted, len(shards)):
        return None
    from rich.console import Console

    from probekit.forward.trace import Tracer
    from probekit.store import BackgroundWriter, StoreWriter

    vlm, prompter = model.get()
    check_texts(prompter, [{"example_id": a.example_id, "prompt": a.prompt} for a in found.answers])
    captures, left_out = served(vlm, wanted)
    if set(captures) <= set(held := _held(job.out, job_digest)):
        # an earlier run kept more; what it began is finished
        captures, left_out = served(vlm, held)
    header = make_header(
        vlm,
        prompter,
        job_digest=job_digest,
        agreement=replay_agreement(vlm, prompter, [_text(answer) for answer in shards[0]]),
        shard_examples=job.shard_pictures,
        extra={"condition": "full", "attention_dtype": "float32", "black": list(SIZE), LEFT_OUT: left_out},
    )
    job.out.mkdir(parents=True, exist_ok=True)
    plan = GhostPlan.of(found, len(shards), header, captures, POSITION_CAPTURES, job.out)
    Console(markup=False).print(plan.line(), highlight=False, soft_wrap=True)
    plan.refuse_what_does_not_fit()
    tracers = (
        Tracer(vlm, prompter, captures, keep_tokens=True),
        Tracer(vlm, prompter, (), keep_tokens=True, constant=(BLACK,)),
    )
    black = len(prompter.encode([shards[0][0].prompt], [[blind_image()]]).prompts[0])
    with ExitStack() as stack:
        writers = []
        for name, held in ((STORE, captures), (POSITIONS, POSITION_CAPTURES)):
            store = stack.enter_context(StoreWriter.create(job.out / name, header, held))
            writers.append((store, stack.enter_context(BackgroundWriter(store))))
        costs = stack.enter_context(JsonlAppender(job.out / COST))
        todo = [n for n in range(len(shards)) if any(n not in store.done for store, _ in writers)]
        done = len(found.answers) - sum(len(shards[n]) for n in todo)
        advance = stack.enter_context(progress("Tracing", len(found.answers), "answers", done))
        for number in todo:
            both, cost = _run(tracers, shards[number], black, job.batch_tokens)
            costs.append([{"shard": number, **asdict(cost)}])
            answers = (_answer_rows(shards[number], both.full), host_arrays(both.full))
            tokens = (_position_rows(shards[number], both.full), _statistics(vlm, both))
            for (store, out), (rows, arrays) in zip(writers, (answers, tokens), strict=True):
                if number not in store.done:
                    out.submit(number, rows, arrays)
            advance(len(shards[number]))
    return plan


def served(vlm: Vlm, wanted: Sequence[Capture]) -> tuple[tuple[Capture, ...], dict[str, str]]:
    """The captures that a model's family can serve, and why others are left out, by their keys."""
    from probekit.forward.refusals import require_attention, require_image_tokens

    left: dict[str, str] = {}
    for require, kinds in (
        (require_attention, (AttentionMass, AttentionGrid)),
        (require_image_tokens, (InternalConfidence, ImageSimilarity)),
    ):
        try:
            require(vlm)
        except FamilyError as error:
            left |= {capture.key: error.what for capture in wanted if isinstance(capture, kinds)}
    return tuple(capture for capture in wanted if capture.key not in left), left


def _held(out: Path, job_digest: str) -> tuple[Capture, ...]:
    """Captures of the store that this job began, and those that its family has not."""
    from probekit.store.schema import HEADER_FILE, load_header

    if not (out / STORE / HEADER_FILE).is_file():
        return ()
    header, captures = load_header(out / STORE)
    if header.job_digest != job_digest:
        return ()
    return (*captures, *map(parse_capture, header.extra.get(LEFT_OUT, {})))


def _complete(out: Path, job_digest: str, wanted: Sequence[Capture], shards: int) -> bool:
    """Whether both stores are whole and hold what is wanted, so that the model need not be loaded."""
    from probekit.store import finished
    from probekit.store.schema import load_header

    if not set(wanted) <= set(_held(out, job_digest)):
        return False
    _, own = load_header(out / STORE)
    return (
        len(finished(out / STORE, job_digest, own)) == shards
        and len(finished(out / POSITIONS, job_digest, POSITION_CAPTURES)) == shards
    )


@dataclass(frozen=True)
class _Both:
    """Some answers with their pictures, and the same texts on black.

    Attributes:
        full: the answers, in order.
        black: distinct texts.
        place: which of them each answer is.
    """

    full: Traced
    black: Traced
    place: tuple[int, ...]


def _run(
    tracers: tuple[Tracer, Tracer], answers: Sequence[GhostAnswer], black: int, batch_tokens: int
) -> tuple[_Both, Cost]:
    """Both passes over some answers.

    Args:
        black: tokens of a prompt with the black picture.
    """
    computed, distinct = (sum(getattr(t, name) for t in tracers) for name in ("computed", "distinct"))
    texts = [_text(answer) for answer in answers]
    full = trace_texts(tracers[0], texts, [answer.prompt_tokens for answer in answers], batch_tokens)
    # Pictures of one target get the same question and often the same answer: on black that is one text.
    first: dict[tuple[str, tuple[int, ...]], int] = {}
    place = tuple(first.setdefault((a.prompt, a.token_ids), len(first)) for a in answers)
    chosen = [place.index(n) for n in range(len(first))]
    blind = [_text(answers[n], black=True) for n in chosen]
    other = trace_texts(tracers[1], blind, [black] * len(blind), batch_tokens)
    agreement = full.agreement or ()
    lengths = [len(answer.token_ids) for answer in answers]
    return _Both(full, other, place), Cost(
        texts=len(texts) + len(blind),
        computed=sum(t.computed for t in tracers) - computed,
        distinct=sum(t.distinct for t in tracers) - distinct,
        loop=int(full.prompt_tokens.sum() + other.prompt_tokens[list(place)].sum()) + 2 * sum(lengths),
        answered=sum(tokens for _, tokens in agreement),
        replayed=sum(equal for equal, _ in agreement),
    )


def _text(answer: GhostAnswer, *, black: bool = False) -> Forced:
    from probekit.families import open_image
    from probekit.forward.work import Forced, Target

    return Forced(
        example_id=answer.example_id,
        image=blind_image if black else partial(open_image, answer.picture, sample=answer.example_id),
        image_key=BLACK if black else str(answer.picture),
        question=answer.prompt,
        continuation=answer.token_ids,
        targets=(Target(RowKey(answer.example_id, None), 0, 0),),
    )


def _statistics(vlm: Vlm, both: _Both) -> Mapping[Capture, np.ndarray]:
    """Every token's statistics, and its divergence on black, answers one after the other."""
    import torch

    from probekit.forward.reduce.tokens import COLUMNS

    full, black = both.full, both.black
    if full.tokens is None or black.tokens is None or full.final is None or black.final is None:
        raise ContractError("the pass kept no tokens")
    own = torch.cat(full.tokens).float()
    logp = COLUMNS.index("logp")
    sums = torch.cat([piece[:, logp].double().cumsum(0) for piece in full.tokens]).float()
    statistics = torch.cat([own, own[:, [logp]], sums[:, None]], -1)
    pairs = [(states, black.final[at]) for states, at in zip(full.final, both.place, strict=True)]
    other = torch.cat([black.tokens[at][:, [logp, COLUMNS.index("entropy")]] for at in both.place]).float()
    moved = torch.cat([_divergences(vlm, pairs)[:, None], other], -1)
    arrays = (statistics.cpu().numpy(), moved.cpu().numpy())
    return dict(zip(POSITION_CAPTURES, arrays, strict=True))


def _divergences(vlm: Vlm, pairs: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """KL(own picture || black) at every token of every answer, a few thousand tokens at once."""
    import torch

    from probekit.forward.reduce.divergence import divergences

    found, waiting = [], list(pairs)
    while waiting:
        part = [waiting.pop(0)]
        while waiting and sum(len(one) for one, _ in part) + len(waiting[0][0]) <= COMPARED:
            part.append(waiting.pop(0))
        with torch.no_grad():
            own = torch.cat([states for states, _ in part]).to(vlm.device)
            black = torch.cat([states for _, states in part]).to(vlm.device)
            found.append(divergences(own, black, vlm.logits, vlm.vocabulary).cpu())
    return torch.cat(found)


def _answer_rows(answers: Sequence[GhostAnswer], traced: Traced) -> RowTable:
    """One row an answer, read at its first token."""
    return _rows(answers, traced, np.arange(len(answers)), np.full(len(answers), -1), np.zeros(len(answers)))


def _position_rows(answers: Sequence[GhostAnswer], traced: Traced) -> RowTable:
    """One row a token."""
    lengths = [len(answer.token_ids) for answer in answers]
    of = np.repeat(np.arange(len(answers)), lengths)
    token = np.concatenate([np.arange(length) for length in lengths])
    return _rows(answers, traced, of, token, token)


def _rows(
    answers: Sequence[GhostAnswer], traced: Traced, of: np.ndarray, index: np.ndarray, token: np.ndarray
) -> RowTable:
    """Rows of answers ``of``, each at one token."""
    from probekit.store import RowTable

    chosen = [answers[n] for n in of]
    places = token.astype(np.int64)
    return RowTable(
        example_id=np.array([a.example_id for a in chosen], dtype=object),
        index=index.astype(np.int64),
        image_id=np.array([a.image.image_id for a in chosen], dtype=object),
        category=np.array([str(a.image.category) for a in chosen], dtype=object),
        token=places,
        token_end=places,
        tokens=np.array([len(a.token_ids) for a in chosen], dtype=np.int64),
        prompt_tokens=np.asarray(traced.prompt_tokens, dtype=np.int64)[of],
        image_tokens=np.asarray(traced.image_tokens, dtype=np.int64)[of],
        occurrences=np.full(len(chosen), -1, dtype=np.int64),
        token_id=np.array([a.token_ids[t] for a, t in zip(chosen, places, strict=True)], dtype=np.int64),
    )
