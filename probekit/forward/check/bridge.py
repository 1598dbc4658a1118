"""A second opinion: TransformerLens' bridge reads the same weights on its own."""

from __future__ import annotations

import contextlib
import copy
import io
import logging

import torch

from probekit.forward.check.bench import Bench, absolute, relative
from probekit.forward.check.oracle import arguments
from probekit.forward.check.report import Outcome

NAME = "TransformerLens"


@torch.no_grad()
def transformer_lens(bench: Bench) -> Outcome:
    """Logits, every block's output and attention patterns of the bridge against Hugging Face's.

    The bridge changes the model it is given, so it gets its own copy. Where that does not fit the
    device, where the architecture is not among those it reads, or where it raises, the contract is
    skipped with the reason: it says nothing about the numbers here.
    """
    try:
        from transformer_lens.factories.architecture_adapter_factory import SUPPORTED_ARCHITECTURES
        from transformer_lens.model_bridge import TransformerBridge
    except ImportError:
        return bench.skipped(NAME, "not installed")
    vlm = bench.vlm
    architecture = type(vlm.model).__name__
    if architecture not in SUPPORTED_ARCHITECTURES:
        return bench.skipped(NAME, f"does not read {architecture}")
    inputs, prompt = arguments(vlm, bench.prompter, bench.texts[0])
    eager = bench.eager[0]
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        own = copy.deepcopy(vlm.model)
        own.set_attn_implementation("eager")
        with contextlib.redirect_stdout(io.StringIO()):
            bridge = TransformerBridge.boot_transformers(vlm.name, hf_model=own, tokenizer=vlm.tokenizer)
            ids = inputs.pop("input_ids")
            found, cache = bridge.run_with_cache(ids, names_filter=_read, **inputs)
    except torch.OutOfMemoryError:
        return bench.skipped(NAME, "a second copy of the weights does not fit the device")
    except Exception as error:  # whatever the other library trips over
        return bench.skipped(NAME, f"raises {type(error).__name__}: {str(error).strip()}")
    finally:
        logging.disable(level)
    queries = slice(len(prompt) - 1, None)
    values = relative(found[0, queries], eager.logits[queries])
    for layer in range(vlm.depth - 1):
        state = cache[f"blocks.{layer}.hook_resid_post"][0, queries]
        values = max(values, relative(state, eager.states[layer + 1][queries]))
    patterns = [name for layer in range(vlm.depth) if (name := f"blocks.{layer}.attn.hook_pattern") in cache]
    rows = 0.0
    for name, theirs in zip(patterns, eager.attention, strict=False):
        rows = max(rows, absolute(cache[name][0, :, queries], theirs))
    allowed = bench.tolerance
    if rows / allowed.masses > values / allowed.values:
        return bench.found(NAME, rows, allowed.masses, f"attention patterns of {len(patterns)} layers")
    note = f"logits, block outputs, attention of {len(patterns)} layers"
    return bench.found(NAME, values, allowed.values, note)


def _read(name: str) -> bool:
    return name.endswith(("hook_resid_post", "attn.hook_pattern"))
