"""The traced pass of a Tri-Layer study: every text of some samples at once, prefixes computed once.

The black picture is one for the whole study, so its tree holds the questions of many samples; a picture
with several questions, or one that is the conflict picture of another sample, is seen once as well.
Divergences are taken on the device from the normed states; only plain numbers are kept, and the states
themselves where a store was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit.benchmarks.conditions import Condition
from probekit.benchmarks.example import Example
from probekit.errors import ContractError, InputError
from probekit.files import Json, JsonlAppender, digest, inside, read_json, read_jsonl, sha256, write_json
from probekit.pipeline.pope_trace import prompt_end
from probekit.pipeline.tracing import REPLAYED_TEXTS, LateModel, replay_agreement, trace_texts
from probekit.progress import progress
from probekit.rows import RowKey
from probekit.scores.lad import sequence_score

if TYPE_CHECKING:
    from PIL import Image
    from torch import Tensor

    from probekit.families import Prompter, Vlm
    from probekit.families.conversation import Asked
    from probekit.forward.trace import Tracer
    from probekit.forward.work import Forced
    from probekit.pipeline.tri_layer import Study

EVIDENCE, COST = "evidence.jsonl", "cost.jsonl"


@dataclass(frozen=True)
class Effort:
    """How the pass is cut, and whether states are kept.

    Attributes:
        batch_tokens: tokens of one batch.
        samples: samples traced together.
        states: keep the normed states of the full answer in a store, from which its distributions
            can be made again.
    """

    batch_tokens: int = 8192
    samples: int = 32
    states: bool = False


@dataclass(frozen=True)
class Cost:
    """Tokens of a study.

    Attributes:
        texts: texts forced through the model.
        computed: tokens that went through it, padding left out.
        distinct: tokens of the prefix trees, as cut into groups of samples.
        loop: tokens of the same texts one after another, nothing shared.
        answered: tokens of the greedy answers to the full pictures.
        replayed: those of them that the pass would have chosen as well (SPEC 0.8.6).
    """

    texts: int = 0
    computed: int = 0
    distinct: int = 0
    loop: int = 0
    answered: int = 0
    replayed: int = 0

    @property
    def ratio(self) -> float | None:
        """How many times over a plain loop would have computed what this pass computed."""
        return self.loop / self.computed if self.computed else None

    @property
    def agreement(self) -> float | None:
        """Share of the greedy answers' tokens that the pass gives back."""
        return self.replayed / self.answered if self.answered else None


def cost_of(folder: Path) -> Cost:
    """What all passes of a study computed, those before an interruption included."""
    lines = [line for _, line in read_jsonl(folder / COST)] if (folder / COST).exists() else []
    return Cost(*(sum(int(line[name]) for line in lines) for name in asdict(Cost())))


def trace(study: Study, model: LateModel, effort: Effort) -> Path:
    """Trace every sample that is not yet traced, and write ``evidence.jsonl``, a line a sample.

    A line holds ``kl``: KL(full || condition) at each position of the full answer, and ``scores``: the
    mean log-probability of every text. Texts are called ``full@C`` (the full answer under condition C),
    ``own@C`` (the answer given under it) and ``SET.n@C`` (an anchor).

    Raises:
        InputError: the evidence there is that of other answers, anchors or of another model.
    """
    path = study.out / EVIDENCE
    answers = {c: {str(line["example_id"]): line for _, line in read_jsonl(study.answers(c))}
               for c in study.conditions if study.answers(c).exists()}  # fmt: skip
    _claim(study, model, effort)
    with JsonlAppender(path) as lines:
        done = {str(line["example_id"]) for line in lines.done}
        shards = [
            (number, [e for e in study.examples[start : start + effort.samples] if e.example_id not in done])
            for number, start in enumerate(range(0, len(study.examples), effort.samples))
        ]
        left = sum(len(samples) for _, samples in shards)
        if left == 0:
            return path
        from probekit.forward.trace import Tracer
        from probekit.pipeline.tri_layer_store import StateStore

        vlm, prompter = model.get()
        tracer = Tracer(vlm, prompter, (), keep_tokens=True, constant=_black(study, answers))
        work = _Work(study, vlm, prompter, answers)
        with ExitStack() as stack:
            advance = stack.enter_context(progress("Tracing", len(done) + left, "samples", len(done)))
            costs = stack.enter_context(JsonlAppender(study.out / COST))
            store = None
            if effort.states:
                agreement = _replay(vlm, prompter, work, study.examples)
                store = stack.enter_context(StateStore(study, vlm, prompter, effort.samples, agreement))
            for number, samples in shards:
                if samples:
                    found, spent = _run(tracer, work, samples, effort.batch_tokens)
                    if store is not None:
                        store.write(number, samples, found)
                    lines.append(_evidence(vlm, sample, found[sample.example_id]) for sample in samples)
                    costs.append([asdict(spent)])
                    advance(len(samples))
    return path


def _black(study: Study, answers: Mapping[Condition, Mapping[str, Json]]) -> set[str]:
    """Identity of the black picture, whose beginning is computed once for the whole study."""
    lines = answers.get(Condition.BLIND, {}).values()
    root = study.root_of(Condition.BLIND)
    return {str(inside(root, image)) for image in {line["image"] for line in lines}}


def _claim(study: Study, model: LateModel, effort: Effort) -> None:
    """Refuse evidence of other answers, anchors, or another model; else note whose this will be."""
    identity = digest(
        [
            model.spec.digest(),
            {name: anchors.digest for name, anchors in study.anchors.items()},
            [sha256(study.answers(c)) for c in study.conditions if study.answers(c).exists()],
            effort.states,
        ]
    )
    header = (study.out / EVIDENCE).with_suffix(".json")
    if header.exists() and read_json(header).get("digest") != identity:
        raise InputError(
            "the evidence is that of other answers, anchors or of another model",
            where=str(study.out / EVIDENCE),
            hint="Give another --out, or remove the file.",
        )
    write_json(header, {"digest": identity})


@dataclass(frozen=True)
class Read:
    """One traced text.

    Attributes:
        forced: the text.
        logp: log-probability of each of its tokens.
        final: normed last state at the query of each.
        prompt_tokens: m.
        image_tokens: N.
        agreement: tokens that the pass would have chosen as well, and T.
    """

    forced: Forced
    logp: Tensor
    final: Tensor
    prompt_tokens: int
    image_tokens: int
    agreement: tuple[int, int]


class _Work:
    """The texts of a sample under every condition."""

    def __init__(
        self, study: Study, vlm: Vlm, prompter: Prompter, answers: Mapping[Condition, Mapping[str, Json]]
    ) -> None:
        self.study, self.answers = study, answers
        self._anchor = cache(partial(_anchor_in_context, vlm, prompt_end(prompter)))
        self._begins = partial(begins_with_blank, vlm)

    def prompt_tokens(self, example_id: str, condition: Condition) -> int:
        """Length of the prompt, as the answer's pass found it."""
        return int(self.answers[condition][example_id]["prompt_tokens"])

    def texts(self, example: Example) -> Iterator[tuple[str, Condition, Forced]]:
        """Name, condition and text; nothing for a sample whose full answer is empty."""
        from probekit.families import open_image
        from probekit.forward.work import Forced, Target

        full = self.answers[Condition.FULL].get(example.example_id)
        ids = tuple(full["token_ids"]) if full else ()
        for condition in self.study.conditions if ids else ():
            line = self.answers.get(condition, {}).get(example.example_id)
            if line is None:
                continue
            path = inside(self.study.root_of(condition), line["image"])
            opened: Callable[[], Image.Image] = partial(open_image, path, sample=example.example_id)
            for name, tokens in self._wanted(condition, ids, tuple(line["token_ids"])).items():
                target = Target(RowKey(f"{example.example_id}/{name}", None), 0, 0)
                yield (
                    name,
                    condition,
                    Forced(example.example_id, opened, str(path), example.question, tokens, (target,)),
                )

    def _wanted(
        self, condition: Condition, full: tuple[int, ...], own: tuple[int, ...]
    ) -> dict[str, tuple[int, ...]]:
        wanted = {f"full@{condition}": full}
        sets = [condition] if condition in self.study.anchors else []
        if sets and own:
            wanted[f"own@{condition}"] = own
        if condition is Condition.FULL:
            sets = [Condition(name) for name in self.study.anchors]
        elif condition is Condition.CONFLICT:
            # a real picture, though a wrong one: what a refusal gains there is LAD without an anomaly
            sets = [Condition.BLIND]
        blank = self._begins(full[0])
        for which in sets:
            for n, anchor in enumerate(self.study.anchors[which].anchors):
                wanted[f"{which}.{n}@{condition}"] = self._anchor(anchor, blank)
        return wanted


def _run(
    tracer: Tracer, work: _Work, samples: Sequence[Example], batch_tokens: int
) -> tuple[dict[str, dict[str, Read]], Cost]:
    """Read every text of some samples; also what that took."""
    found: dict[str, dict[str, Read]] = {sample.example_id: {} for sample in samples}
    every = [(sample, *text) for sample in samples for text in work.texts(sample)]
    loop, computed, distinct = 0, tracer.computed, tracer.distinct
    # An answer in an anchor's very words is that anchor: traced twice, rounding would tell them apart.
    first = {_identity(text): n for n, (_, _, _, text) in reversed(list(enumerate(every)))}
    chosen = sorted(first.values())
    if chosen:
        forced = [every[n][3] for n in chosen]
        prompts = [work.prompt_tokens(every[n][0].example_id, every[n][2]) for n in chosen]
        traced = trace_texts(tracer, forced, prompts, batch_tokens)
        if traced.tokens is None or traced.final is None or traced.agreement is None:
            raise ContractError("the pass kept no tokens")
        place = {n: row for row, n in enumerate(chosen)}
        for sample, name, _, text in every:
            row = place[first[_identity(text)]]
            m, image = int(traced.prompt_tokens[row]), int(traced.image_tokens[row])
            found[sample.example_id][name] = Read(
                text, traced.tokens[row][:, 0], traced.final[row], m, image, traced.agreement[row]
            )
            loop += m + len(text.continuation)
    replays = [held["full@full"].agreement for held in found.values() if "full@full" in held]
    return found, Cost(
        texts=len(every),
        computed=tracer.computed - computed,
        distinct=tracer.distinct - distinct,
        loop=loop,
        answered=sum(tokens for _, tokens in replays),
        replayed=sum(equal for equal, _ in replays),
    )


def _replay(vlm: Vlm, prompter: Prompter, work: _Work, examples: Sequence[Example]) -> float:
    """Agreement on the first full answers, for the head of a store that is not filled yet."""
    texts = (text for example in examples for name, _, text in work.texts(example) if name == "full@full")
    first = list(islice(texts, REPLAYED_TEXTS))
    return replay_agreement(vlm, prompter, first) if first else float("nan")


def _identity(text: Forced) -> tuple[str, Asked, tuple[int, ...]]:
    return text.image_key, text.question, text.continuation


def _evidence(vlm: Vlm, example: Example, found: Mapping[str, Read]) -> Json:
    """What one sample's texts say, in plain numbers."""
    scores = {name: sequence_score(read.logp.float().numpy()) for name, read in found.items()}
    return {"example_id": example.example_id, "kl": _divergences(vlm, found), "scores": scores}


def _divergences(vlm: Vlm, found: Mapping[str, Read]) -> dict[str, list[float]]:
    """KL(full || condition) at each position of the full answer, all conditions in one go."""
    import torch

    from probekit.forward.reduce.divergence import divergences

    others = {str(c): found[name] for c in Condition
              if c is not Condition.FULL and (name := f"full@{c}") in found}  # fmt: skip
    if not others:
        return {}
    full = found["full@full"].final
    repeated = torch.cat([full] * len(others)).to(vlm.device)
    shown = torch.cat([read.final for read in others.values()]).to(vlm.device)
    with torch.no_grad():
        values = divergences(repeated, shown, vlm.logits, vlm.vocabulary)
    pieces = values.reshape(len(others), len(full)).cpu()
    return {name: piece.tolist() for name, piece in zip(others, pieces, strict=True)}


def begins_with_blank(vlm: Vlm, token: int) -> bool:
    """Whether a token carries the blank before its word."""
    return str(vlm.tokenizer.convert_ids_to_tokens([token])[0])[:1] in ("\u0120", "\u2581", " ")


def _anchor_in_context(vlm: Vlm, context: str, anchor: str, blank: bool) -> tuple[int, ...]:
    """An anchor's tokens as the model would write it behind its header. SPEC 4.2.

    Args:
        blank: whether the model's own answers begin with a blank; the anchor then does, too.

    Raises:
        ContractError: the tokens do not decode to the anchor.
    """
    tokenizer: Any = vlm.tokenizer
    text = f" {anchor}" if blank else anchor
    before = tokenizer.encode(context, add_special_tokens=False)
    whole = tokenizer.encode(context + text, add_special_tokens=False)
    # behind its header a word may be cut otherwise than alone; a header that fuses with it is no guide
    ids = whole[len(before) :] if whole[: len(before)] == before else None
    ids = ids or tokenizer.encode(text, add_special_tokens=False)
    said = str(tokenizer.decode(ids, clean_up_tokenization_spaces=False))
    if said.strip() != anchor:
        raise ContractError(
            f"the anchor {anchor!r} comes back as {said!r} from the tokenizer", where=vlm.name
        )
    return tuple(ids)
