"""Capturing against the bare pass: time, memory, growth, and Hugging Face's own way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from bench.measure import Measured, ratio
from bench.models import model, prompt_tokens, text
from probekit.captures import Capture, parse_capture
from probekit.forward.inputs import padded
from probekit.forward.layout import Layout
from probekit.forward.trace import Tracer
from probekit.pipeline.extract import captures_of

DEAR = {"ic", "glsim"}


def cheap_captures(condition: str = "full") -> list[Capture]:
    """Captures of all detectors except Internal Confidence and GLSim."""
    from probekit.detectors import DETECTORS

    keys = captures_of([name for name in DETECTORS if name not in DEAR])
    return [c for c in map(parse_capture, keys) if c.condition == condition]


def _bare(tracer: Tracer, texts: list[Any]) -> Callable[[], object]:
    """The model on the very inputs the tracer would give it, plain sdpa, logits of the captions."""
    from probekit.families.vision import see

    shared = tracer.prompter.encode_shared(
        [t.question for t in texts], [t.image_key for t in texts], [t.image for t in texts], share=False
    )
    layout = Layout(shared.prompts, tuple(texts), 4)
    caption = max(len(t.continuation) for t in texts) + 1
    # the padding mask that a processor gives; Hugging Face knows nothing of causal padding on the right
    mask = torch.from_numpy((layout.groups >= 0).astype(np.int64))

    def run() -> object:
        with torch.no_grad():
            vision = see(tracer.vlm, shared.vision, shared.pictures)
            call = padded(tracer.vlm, layout, vision, shared.picture)
            arguments = {**call.arguments, "attention_mask": mask}
            return tracer.vlm.model(**arguments, use_cache=False, logits_to_keep=caption)

    return run


def capture_overhead(repeats: int, family: str = "llava") -> Measured:
    """All cheap captures over the bare forward pass, with and without picture, on the same batches."""
    vlm, prompter = model(family)
    texts = [text(n, 100 + 4 * n, rows=6, family=family) for n in range(4)]
    blind = [type(t)(t.example_id, None, "", t.question, t.continuation, t.targets) for t in texts]
    full = Tracer(vlm, prompter, cheap_captures(), sharing=False)
    second = Tracer(vlm, prompter, cheap_captures("text_only"), sharing=False)
    bare_full, bare_blind = _bare(full, texts), _bare(second, blind)

    def ours() -> None:
        vlm.decoder.set_attn_implementation("probekit_rows")
        full.run(texts)
        second.run(blind)

    def bare() -> None:
        vlm.decoder.set_attn_implementation("sdpa")
        bare_full()
        bare_blind()

    name = "capture_overhead" if family == "llava" else f"capture_overhead_{family}"
    detail = (
        f"{family}, 12 layers, width 512, 4 captions of about 700 tokens, 24 mentions, and the text-only pass"
    )
    return ratio(name, ours, bare, repeats=repeats, detail=detail)


def against_eager(repeats: int, tokens: int, family: str = "llava") -> Measured:
    """Hugging Face eager with maps and states, over ours, one caption of a given length."""
    from probekit.families.vision import see

    vlm, prompter = model(family)
    prompt = prompt_tokens(prompter, text(1, 8, family=family))
    one = [text(1, tokens - prompt, rows=8, family=family)]
    tracer = Tracer(vlm, prompter, cheap_captures(), sharing=False)

    def eager() -> None:
        vlm.decoder.set_attn_implementation("eager")
        with torch.no_grad():
            shared = prompter.encode_shared([one[0].question], ["i"], [one[0].image], share=False)
            layout = Layout(shared.prompts, tuple(one), 4)
            vision = see(vlm, shared.vision, 1)
            call = padded(vlm, layout, vision, (0,))
            output = vlm.model(
                **call.arguments, use_cache=False, output_attentions=True, output_hidden_states=True
            )
            _same_numbers(output, layout)

    def ours() -> None:
        vlm.decoder.set_attn_implementation("probekit_rows")
        tracer.run(one)

    name = "against_eager" if tokens == 700 else f"against_eager_{tokens}"
    name = name if family == "llava" else f"{name}_{family}"
    detail = f"{family}, one caption, {tokens} tokens, 8 mentions; from picture and text to the same numbers"
    return ratio(name, eager, ours, repeats=repeats, detail=detail)


def _same_numbers(output: Any, layout: Layout) -> None:
    """Masses, states and token statistics of the mentions, from Hugging Face's maps, states and logits."""
    rows = torch.from_numpy(np.unique(layout.queries[0]))
    kinds = torch.nn.functional.one_hot(torch.from_numpy(layout.groups[0])).float()
    for maps, states in zip(output.attentions, output.hidden_states[1:], strict=True):
        maps[0, :, rows].float() @ kinds
        states[0, rows].mean(0)
    first = int(layout.prompt_lengths[0]) - 1
    logp = output.logits[0, first:-1].float().log_softmax(-1)
    logp.topk(2, -1), -(logp.exp() * logp).sum(-1), logp.var(-1)


def plain_nnsight(repeats: int) -> Measured:
    """A plain nnsight trace that saves whole states and eager attention maps, over ours."""
    import nnsight
    from nnsight import NNsight

    vlm, prompter = model("llava")
    one = [text(1, 50, rows=6)]
    tracer = Tracer(vlm, prompter, cheap_captures(), sharing=False)
    shared = prompter.encode_shared([one[0].question], ["i"], [one[0].image], share=False)
    layout = Layout(shared.prompts, tuple(one), 4)
    wrapped = NNsight(vlm.model)

    def whole() -> None:
        from probekit.families.vision import see

        vlm.decoder.set_attn_implementation("eager")
        with torch.no_grad():
            vision = see(vlm, shared.vision, 1)
            call = padded(vlm, layout, vision, (0,))
            with wrapped.trace(**call.arguments, use_cache=False):
                kept = nnsight.save([])
                for layer in wrapped.model.language_model.layers:
                    kept.append(layer.self_attn.output[1])
                    kept.append(layer.output)
                kept.append(wrapped.lm_head.output)

    def ours() -> None:
        vlm.decoder.set_attn_implementation("probekit_rows")
        tracer.run(one)

    return ratio("against_plain_nnsight", whole, ours, repeats=repeats, detail="one caption, 700 tokens")


def peak_memory(repeats: int) -> Measured:
    """Peak above the weights, ours over the bare pass, 2,000 tokens; each in a process of its own."""
    import statistics

    ours = [_child("peak", "ours") for _ in range(repeats)]
    bare = [_child("peak", "bare") for _ in range(repeats)]
    value = statistics.median(ours) / statistics.median(bare)
    detail = (
        f"{statistics.median(ours):.0f} MB over {statistics.median(bare):.0f} MB, one caption, 2,000 tokens"
    )
    return Measured("peak_memory", value, "ratio", f"{detail}; {repeats} processes a side")


def memory_growth(repeats: int) -> Measured:
    """Resident memory after 200 traces over after 20, in a process of its own."""
    import statistics

    values = [_child("growth", "ours") for _ in range(max(1, repeats // 2))]
    spread = f"{min(values):.4f} to {max(values):.4f} in {len(values)} processes"
    return Measured("memory_growth", statistics.median(values), "ratio", spread)


def _child(what: str, side: str) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "bench.memory", what, side], capture_output=True, text=True, check=True
    )
    return float(done.stdout.strip().splitlines()[-1])
