"""Contracts on behaviour: a generation is given back, and the picture matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from probekit.captures import TokenStatistics
from probekit.families.conversation import openers
from probekit.families.prompting import IMAGE
from probekit.forward import rows as attention
from probekit.forward.check.bench import Bench, opener, relative
from probekit.forward.check.oracle import arguments, attention_kernel
from probekit.forward.check.report import Outcome, Status
from probekit.forward.decode import decodes_in_trees
from probekit.forward.generate import Generator, Question, left_padded
from probekit.forward.trace import Tracer
from probekit.forward.work import Forced

LEAST_EFFECT = 1e-4
"""Change of the logits, relative to their largest, below which the picture is taken not to matter."""

NEW_TOKENS = 8

BLIND = "probekit_blind"

_hidden: Tensor | None = None


@torch.no_grad()
def replay(bench: Bench) -> Outcome:
    """A greedy generation with a cache is given back by the teacher-forced pass: tokens and logits."""
    vlm = bench.vlm
    questions = [
        Question(text.example_id, text.image_key, text.image, text.question) for text in bench.texts[:2]
    ]
    generations = Generator(vlm, bench.prompter, max_new_tokens=NEW_TOKENS).run(questions)
    texts = [
        bench.text(number, bench.texts[number].question, generation.token_ids, picture=number)
        for number, generation in enumerate(generations)
        if generation.token_ids
    ]
    if not texts:
        return bench.skipped("replay", "the model ended every answer at once")
    tracer = Tracer(vlm, bench.prompter, [TokenStatistics()], sharing=False, keep_tokens=True)
    traced = tracer.run(texts)
    assert traced.agreement is not None
    assert traced.final is not None
    equal, total = (sum(part) for part in zip(*traced.agreement, strict=True))
    note = f"{equal} of {total} generated tokens given back"
    if equal / total < (1.0 if vlm.dtype == torch.float32 else 0.9):
        return bench.found("replay", 1 - equal / total, 0.0, note)
    worst = 0.0
    for text, states in zip(texts, traced.final, strict=True):
        stepwise = _stepwise(bench, text)
        steps = min(len(stepwise), len(states))
        worst = max(worst, relative(vlm.logits(states[:steps].to(vlm.device)), stepwise[:steps]))
    return bench.found("replay", worst, bench.tolerance.values, f"{note}; logits of every step")


def shared_answers(bench: Bench) -> Outcome:
    """Answers to three questions about one picture over one cache, against transformers' own generation."""
    vlm, text = bench.vlm, bench.texts[1]
    if not decodes_in_trees(vlm):
        return bench.skipped(
            "shared answers", "not switched on for this model; every question is answered alone"
        )
    generator = Generator(vlm, bench.prompter, max_new_tokens=NEW_TOKENS)
    asked = [
        Question(str(number), "one", text.image, question, "one")
        for number, question in enumerate((text.question, "Is there a dog?", "What is it, if not that?"))
    ]
    shared = generator.run(asked)
    alone = [generator.run([replace(question, image_key="")])[0] for question in asked]
    equal = sum(
        len(_common(one.token_ids, other.token_ids)) for one, other in zip(shared, alone, strict=True)
    )
    total = sum(max(len(a.token_ids), len(b.token_ids)) for a, b in zip(shared, alone, strict=True))
    if total == 0:
        return bench.skipped("shared answers", "the model ended every answer at once")
    # After one near tie an answer goes another way: in half precision some are allowed to.
    allowed = 0.0 if vlm.dtype == torch.float32 else 1 / 3
    note = f"{equal} of {total} tokens alike, up to the first that differs"
    return bench.found("shared answers", 1 - equal / total, allowed, note)


def _common(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """What two sequences begin with alike."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return [word for word, _ in pairs]


def _stepwise(bench: Bench, text: Forced) -> Tensor:
    """Logits of every step of a generation about one picture, ``(step, V)``."""
    images = [[image() for image in openers(text.image)]]
    output = bench.vlm.model.generate(
        **left_padded(bench.vlm, bench.prompter.encode([text.question], images)),
        max_new_tokens=NEW_TOKENS,
        do_sample=False,
        num_beams=1,
        output_logits=True,
        return_dict_in_generate=True,
        pad_token_id=bench.vlm.pad_token_id,
    )
    return torch.cat(tuple(output.logits)).float()


@torch.no_grad()
def intervention(bench: Bench) -> Outcome:
    """Zeroing the attention that lands on the image span changes the logits; zeroing nothing does not."""
    if bench.vlm.family.cross_attention:
        return _another_picture(bench)
    vlm, text, eager = bench.vlm, bench.texts[0], bench.eager[0]
    _register()
    inputs, prompt = arguments(vlm, bench.prompter, text)
    image = np.flatnonzero(prompt.groups == IMAGE)
    with attention_kernel(vlm, BLIND):
        untouched = _logits(bench, inputs, np.array([], dtype=np.int64))
        blinded = _logits(bench, inputs, image)
    queries = slice(len(prompt) - 1, None)
    control = relative(untouched[queries], eager.logits[queries])
    if control > bench.tolerance.values:
        return bench.found(
            "intervention", control, bench.tolerance.values, "zeroing nothing changed the logits"
        )
    return _effect(relative(blinded[queries], untouched[queries]), "attention to the image span zeroed")


def _another_picture(bench: Bench) -> Outcome:
    vlm, text, eager = bench.vlm, bench.texts[0], bench.eager[0]
    inputs, _ = arguments(vlm, bench.prompter, replace(text, image=opener(99, (224, 224))))
    logits = vlm.model(**inputs, use_cache=False).logits[0].float().cpu()
    queries = slice(len(eager.prompt) - 1, None)
    return _effect(relative(logits[queries], eager.logits[queries]), "another picture in its place")


def _effect(size: float, note: str) -> Outcome:
    status: Status = "passed" if size > LEAST_EFFECT else "failed"
    return Outcome("intervention", status, size, LEAST_EFFECT, f"{note}; must exceed")


def _logits(bench: Bench, inputs: dict[str, Any], keys: np.ndarray) -> Tensor:
    global _hidden
    _hidden = torch.from_numpy(keys).to(bench.vlm.device)
    try:
        logits: Tensor = bench.vlm.model(**inputs, use_cache=False).logits[0].float().cpu()
    finally:
        _hidden = None
    return logits


def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(BLIND, _blind)
    AttentionMaskInterface.register(BLIND, sdpa_mask)


def _blind(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention with the columns of some keys set to zero after the softmax."""
    scale = scaling if scaling is not None else query.shape[-1] ** -0.5
    every = torch.arange(query.shape[2], device=query.device).expand(query.shape[0], -1)
    causal = kwargs.get("is_causal")
    causal = bool(getattr(module, "is_causal", True) if causal is None else causal)
    rows = attention.attention_rows(
        query, key, attention_mask, every, scale, causal, kwargs.get("softcap"), kwargs.get("s_aux")
    ).clone()
    if _hidden is not None:
        rows[..., _hidden] = 0.0
    values = value.repeat_interleave(query.shape[1] // value.shape[1], 1).float()
    return (rows @ values).to(query.dtype).transpose(1, 2).contiguous(), None
