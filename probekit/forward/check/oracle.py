"""The oracle: Hugging Face's own eager outputs, one text at a time, nothing of this library between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from probekit.families import EncodedPrompt, Prompter, Vlm
from probekit.families.conversation import openers
from probekit.forward.work import Forced


@dataclass(frozen=True)
class Eager:
    """Outputs of one text.

    Attributes:
        states: hs[0..L], ``(position, D)`` each, hs[L] after the final norm.
        attention: of the layers that attend, ``(head, query, key)`` each, for the queries from the
            prompt's last token on; whole maps of a large model would not fit.
        logits: ``(position, V)``, float32.
        prompt: the encoded prompt.
        ids: prompt and continuation.
    """

    states: tuple[Tensor, ...]
    attention: tuple[Tensor, ...]
    logits: Tensor
    prompt: EncodedPrompt
    ids: tuple[int, ...]


@contextmanager
def attention_kernel(vlm: Vlm, name: str) -> Iterator[None]:
    """While the block runs, the decoder uses another attention kernel."""
    before = vlm.decoder.config._attn_implementation
    vlm.decoder.set_attn_implementation(name)
    try:
        yield
    finally:
        vlm.decoder.set_attn_implementation(before)


def arguments(vlm: Vlm, prompter: Prompter, text: Forced) -> tuple[dict[str, Any], EncodedPrompt]:
    """What Hugging Face's model is called with for one whole text, unpadded."""
    batch = prompter.encode([text.question], [[image() for image in openers(text.image)]])
    prompt, tail = batch.prompts[0], len(text.continuation)
    ids = torch.tensor([prompt.ids + text.continuation])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    for key, values in prompt.token_types.items():
        inputs[key] = torch.tensor([list(values) + [vlm.family.caption_type] * tail])
    for key, value in batch.vision.items():
        if key == "cross_attention_mask":
            value = torch.cat([value, value[:, -1:].expand(-1, tail, *value.shape[2:])], 1)
        inputs[key] = value.to(vlm.dtype) if value.is_floating_point() else value
    return {key: value.to(vlm.device) for key, value in inputs.items()}, prompt


@torch.no_grad()
def eager_outputs(vlm: Vlm, prompter: Prompter, text: Forced) -> Eager:
    """Run one text eagerly, with every state and every attention map."""
    inputs, prompt = arguments(vlm, prompter, text)
    maps: list[Tensor] = []

    def keep(module: Any, args: Any, output: Any) -> None:
        maps.append(output[1][0, :, len(prompt) - 1 :].cpu())

    layers: list[Any] = [layer.self_attn for layer in vlm.layers if hasattr(layer, "self_attn")]
    hooks = [layer.register_forward_hook(keep) for layer in layers]
    try:
        with attention_kernel(vlm, "eager"):
            output = vlm.model(**inputs, output_hidden_states=True, use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    inner = getattr(output, "language_model_outputs", None) or output
    return Eager(
        states=tuple(state[0].cpu() for state in inner.hidden_states),
        attention=tuple(maps),
        logits=output.logits[0].float().cpu(),
        prompt=prompt,
        ids=prompt.ids + text.continuation,
    )
