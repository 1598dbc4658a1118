"""One maker a family: configuration, processor, chat template, random weights, saved to a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch

from probekit.errors import InputError
from probekit.families.tiny.size import Size
from probekit.families.tiny.tokenizer import byte_tokenizer

Maker = Callable[[Size], tuple[Any, Any]]
"""``size -> (model, processor)``."""

USER_ASSISTANT = (
    "{% for m in messages %}{{ 'USER: ' if m['role'] == 'user' else ' ASSISTANT: ' }}"
    "{% for c in m['content'] %}{{ '<image>\n' if c['type'] == 'image' else c['text'] }}{% endfor %}"
    "{% endfor %}{{ ' ASSISTANT:' if add_generation_prompt else '' }}"
)

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}"
    "{{ IMAGE if c['type'] == 'image' else c['text'] }}{% endfor %}<|im_end|>\n{% endfor %}"
    "{{ '<|im_start|>assistant\n' if add_generation_prompt else '' }}"
)


def _text(size: Size, tokenizer: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": size.width,
        "intermediate_size": 2 * size.width,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "num_key_value_heads": size.kv_heads,
        "max_position_embeddings": 8192,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }


def _clip(size: Size) -> dict[str, Any]:
    return {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": size.image,
        "patch_size": size.patch,
    }


def llava(size: Size) -> tuple[Any, Any]:
    """LLaVA-1.5: CLIP tower, Llama decoder."""
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer = byte_tokenizer(("<image>",), words=size.words)
    tokenizer.image_token = "<image>"
    image = tokenizer.convert_tokens_to_ids("<image>")
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**_clip(size)),
        text_config=LlamaConfig(**_text(size, tokenizer)),
        image_token_id=image,
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
    )
    edge = {"height": size.image, "width": size.image}
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": size.image}, crop_size=edge),
        tokenizer=tokenizer,
        patch_size=size.patch,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
        chat_template=USER_ASSISTANT,
    )
    return LlavaForConditionalGeneration(config), processor


def qwen2_5_vl(size: Size) -> tuple[Any, Any]:
    """Qwen2.5-VL: images of any shape, merged patches, multimodal rotary positions."""
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
    )
    from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor

    marks = (
        "<|vision_start|>",
        "<|vision_end|>",
        "<|image_pad|>",
        "<|video_pad|>",
        "<|im_start|>",
        "<|im_end|>",
    )
    tokenizer = byte_tokenizer(marks, bos=False, words=size.words)
    ids = {mark: tokenizer.convert_tokens_to_ids(mark) for mark in marks}
    head = size.width // size.heads
    section = [head // 2 - 2 * (head // 6), head // 6, head // 6]
    config = Qwen2_5_VLConfig(
        text_config={
            **_text(size, tokenizer),
            "rope_parameters": {"rope_type": "default", "mrope_section": section, "rope_theta": 1e6},
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "out_hidden_size": size.width,
            "patch_size": size.patch,
            "spatial_merge_size": 2,
            "window_size": 8 * size.patch,
            "fullatt_block_indexes": [1],
            "in_channels": 3,
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )
    pixels = size.image * size.image
    edges = {"shortest_edge": pixels // 4, "longest_edge": pixels * 2}
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(size=edges, patch_size=size.patch, merge_size=2),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(size=edges, patch_size=size.patch, merge_size=2),
        chat_template=CHATML.replace("IMAGE", "'<|vision_start|><|image_pad|><|vision_end|>'"),
    )
    return Qwen2_5_VLForConditionalGeneration(config), processor


TINY: Mapping[str, Maker] = MappingProxyType({"llava": llava, "qwen2_5_vl": qwen2_5_vl})


def make(family: str, folder: Path, size: Size | None = None) -> Path:
    """Save a random member of ``family`` into ``folder``, to be loaded like any model.

    Raises:
        InputError: there is no maker for that family.
    """
    size = size or Size()
    if family not in TINY:
        raise InputError(f"no tiny member of {family!r}", hint=f"Known: {', '.join(TINY)}.")
    torch.manual_seed(size.seed)
    model, processor = TINY[family](size)
    model.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
