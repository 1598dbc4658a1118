"""One maker a family: configuration, processor, chat template, random weights, saved to a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from probekit.errors import InputError
from probekit.families.tiny.gemma_like import gemma3, gemma4, gemma4_shared_keys, paligemma, paligemma2
from probekit.families.tiny.llava_like import (
    aya_vision,
    llava,
    llava_next,
    llava_onevision,
    mistral3,
    pixtral,
)
from probekit.families.tiny.others import instructblip, mllama
from probekit.families.tiny.qwen_like import (
    glm4v,
    glm4v_moe,
    qwen2_5_vl,
    qwen2_vl,
    qwen3_5,
    qwen3_5_moe,
    qwen3_vl,
    qwen3_vl_moe,
)
from probekit.families.tiny.size import Size
from probekit.families.tiny.tiled import deepseek_vl, idefics3, internvl, molmo2

Maker = Callable[[Size], tuple[Any, Any]]
"""``size -> (model, processor)``."""

_MAKERS: tuple[Maker, ...] = (
    llava,
    pixtral,
    llava_next,
    llava_onevision,
    qwen2_vl,
    qwen2_5_vl,
    qwen3_vl,
    qwen3_vl_moe,
    qwen3_5,
    qwen3_5_moe,
    glm4v,
    glm4v_moe,
    internvl,
    gemma3,
    gemma4,
    gemma4_shared_keys,
    mistral3,
    idefics3,
    paligemma,
    paligemma2,
    deepseek_vl,
    molmo2,
    aya_vision,
    instructblip,
    mllama,
)

TINY: Mapping[str, Maker] = MappingProxyType({maker.__name__: maker for maker in _MAKERS})
"""Makers by family."""


def make(family: str, folder: Path, size: Size | None = None) -> Path:
    """Save a random member of ``family`` into ``folder``, to be loaded like any model.

    Raises:
        InputError: there is no maker for that family.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()
    size = size or Size()
    if family not in TINY:
        raise InputError(f"no tiny member of {family!r}", hint=f"Known: {', '.join(TINY)}.")
    torch.manual_seed(size.seed)
    model, processor = TINY[family](size)
    _sharpen(model, size.sharpness)
    model.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@torch.no_grad()
def _sharpen(model: Any, factor: float) -> None:
    """Make attention uneven, and fill tables that start as zeros, through which no picture would be seen."""
    for name, weight in model.named_parameters():
        if name.endswith(("q_proj.weight", "k_proj.weight", "att_proj.weight")):
            weight.mul_(factor)
        elif weight.dim() > 1 and not weight.any():
            weight.normal_(std=weight.shape[-1] ** -0.5)
