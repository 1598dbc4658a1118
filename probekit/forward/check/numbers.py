"""Contracts on numbers: attention, states and logits are Hugging Face's eager ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from probekit.captures import GROUPS, AttentionMass, HiddenState, Logits
from probekit.errors import FamilyError
from probekit.forward import rows as attention
from probekit.forward.check.bench import Bench, absolute, relative
from probekit.forward.check.oracle import arguments, attention_kernel, eager_outputs
from probekit.forward.check.report import Outcome
from probekit.forward.refusals import silent_layers
from probekit.forward.trace import Tracer

_HYBRID = "some decoder layers have no attention over the text; attention captures are refused by name"


@torch.no_grad()
def attention_rows(bench: Bench) -> Outcome:
    """Rows of every caption query in every layer and head, key by key."""
    vlm, worst = bench.vlm, 0.0
    layers: list[Any] = [layer.self_attn for layer in vlm.layers if hasattr(layer, "self_attn")]
    if not layers or vlm.family.cross_attention:
        return bench.skipped("attention rows", _HYBRID)
    attention.register()
    for text, eager in zip(bench.texts, bench.eager, strict=True):
        inputs, prompt = arguments(vlm, bench.prompter, text)
        queries = torch.arange(len(prompt) - 1, len(eager.ids) - 1)
        found: list[Tensor] = []
        hooks = [layer.register_forward_hook(_second(found)) for layer in layers]
        try:
            with attention_kernel(vlm, attention.KERNEL), attention.rows_wanted(queries[None].to(vlm.device)):
                vlm.model(**inputs, use_cache=False)
        finally:
            for hook in hooks:
                hook.remove()
        for mine, theirs in zip(found, eager.attention, strict=True):
            worst = max(worst, absolute(mine[0], theirs[:, :-1]))
    note = "every caption query, key by key" + ("" if bench.attends else f"; {len(layers)} layers attend")
    return bench.found("attention rows", worst, bench.tolerance.rows, note)


def attention_masses(bench: Bench) -> Outcome:
    """Masses of key groups at the targets' queries, and that they sum to one."""
    if not bench.attends:
        return bench.skipped("attention masses", _HYBRID)
    worst = 0.0
    for text, traced, eager in zip(bench.texts, bench.singles, bench.eager, strict=True):
        mass = traced.arrays[AttentionMass(window=1)][:, 0]
        groups = np.concatenate([eager.prompt.groups, np.full(len(text.continuation), len(GROUPS) - 1)])
        onehot = torch.from_numpy(groups[:, None] == np.arange(len(GROUPS))).float()
        for row, target in enumerate(text.targets):
            expected = torch.stack([layer[:, target.token].float() @ onehot for layer in eager.attention])
            worst = max(worst, absolute(mass[row], expected), absolute(mass[row].sum(-1), torch.ones(())))
    return bench.found("attention masses", worst, bench.tolerance.masses, "sums over spans; they add to one")


def hidden_states(bench: Bench) -> Outcome:
    """hs[0..L] at every target of every text, hs[L] after the final norm."""
    worst = 0.0
    for text, traced, eager in zip(bench.texts, bench.singles, bench.eager, strict=True):
        for index in range(bench.vlm.depth + 1):
            found = traced.arrays[HiddenState(layer=index, window=1)]
            places = [len(eager.prompt) + target.token for target in text.targets]
            worst = max(worst, relative(found, eager.states[index][places]))
    return bench.found("hidden states", worst, bench.tolerance.values, f"hs[0..{bench.vlm.depth}]")


@torch.no_grad()
def final_norm(bench: Bench) -> Outcome:
    """The norm applied to the kept pre-norm state gives the kept post-norm state: normed once."""
    vlm, worst = bench.vlm, 0.0
    for traced in bench.singles:
        raw = traced.arrays[HiddenState(layer="last", norm="pre", window=1)]
        norm = vlm.decoder.norm
        normed = norm(raw.to(next(norm.parameters()).device)).cpu()
        worst = max(worst, relative(normed, traced.arrays[HiddenState(layer=vlm.depth, window=1)]))
    return bench.found("final norm", worst, bench.tolerance.values, "norm(last layer) is hs[L]")


@torch.no_grad()
def logits(bench: Bench) -> Outcome:
    """Logits made from the kept state by the head, scale and soft cap."""
    worst = 0.0
    for text, traced, eager in zip(bench.texts, bench.singles, bench.eager, strict=True):
        found = bench.vlm.logits(traced.arrays[Logits()].to(bench.vlm.device))
        places = [len(eager.prompt) + target.token - 1 for target in text.targets]
        worst = max(worst, relative(found, eager.logits[places]))
    return bench.found("logits", worst, bench.tolerance.values, "head(hs[L]) at the targets' queries")


@torch.no_grad()
def text_only(bench: Bench) -> Outcome:
    """States and logits of a text without any picture, as text-only probes read them."""
    text = replace(bench.texts[1], image=None)
    captures = [capture for capture in bench.captures if isinstance(capture, HiddenState | Logits)]
    try:
        traced = Tracer(bench.vlm, bench.prompter, captures, sharing=False).run([text])
    except FamilyError as error:
        return bench.skipped("text only", error.what)
    eager = eager_outputs(bench.vlm, bench.prompter, text)
    places = torch.tensor([len(eager.prompt) + target.token for target in text.targets])
    worst = relative(bench.vlm.logits(traced.arrays[Logits()].to(bench.vlm.device)), eager.logits[places - 1])
    expected = list(eager.states)
    if len(expected) <= bench.vlm.depth:  # cross-attention layers are passed over and left out
        for layer in silent_layers(bench.vlm):
            expected.insert(layer + 1, expected[layer])
    for index in range(bench.vlm.depth + 1):
        found = traced.arrays[HiddenState(layer=index, window=1)]
        worst = max(worst, relative(found, expected[index][places]))
    return bench.found("text only", worst, bench.tolerance.values, "states and logits without a picture")


def _second(found: list[Tensor]) -> Any:
    def keep(module: Any, args: Any, output: Any) -> None:
        found.append(output[1])

    return keep
