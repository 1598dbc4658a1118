"""Qwen-VL and GLM-V: images of any shape, merged patches, multimodal rotary positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probekit.families.tiny.parts import CHATML, template, text
from probekit.families.tiny.size import Size
from probekit.families.tiny.tokenizer import byte_tokenizer

MARKS = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>", "<|im_start|>", "<|im_end|>")


def qwen2_vl(size: Size) -> tuple[Any, Any]:
    """Qwen2-VL."""
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration, Qwen2VLProcessor

    tokenizer = _tokenizer(size)
    config = Qwen2VLConfig(
        text_config=_text(size, tokenizer),
        vision_config={
            "depth": 2,
            "embed_dim": 32,
            "hidden_size": size.width,
            "mlp_ratio": 2,
            "num_heads": 2,
            "patch_size": size.patch,
            "spatial_merge_size": 2,
            "in_channels": 3,
        },
        **_ids(tokenizer),
    )
    return Qwen2VLForConditionalGeneration(config), _processor(size, tokenizer, Qwen2VLProcessor)


def qwen2_5_vl(size: Size) -> tuple[Any, Any]:
    """Qwen2.5-VL: windows in the vision tower."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration, Qwen2_5_VLProcessor

    tokenizer = _tokenizer(size)
    config = Qwen2_5_VLConfig(
        text_config=_text(size, tokenizer),
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
        **_ids(tokenizer),
    )
    return Qwen2_5_VLForConditionalGeneration(config), _processor(size, tokenizer, Qwen2_5_VLProcessor)


def qwen3_vl(size: Size) -> tuple[Any, Any]:
    """Qwen3-VL: features of several tower layers are added to the first decoder layers."""
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration, Qwen3VLProcessor

    tokenizer = _tokenizer(size)
    config = Qwen3VLConfig(
        text_config={**_text(size, tokenizer), "head_dim": size.width // size.heads},
        vision_config={**_late_tower(size), "deepstack_visual_indexes": [0, 1]},
        **_ids(tokenizer),
    )
    return Qwen3VLForConditionalGeneration(config), _processor(size, tokenizer, Qwen3VLProcessor)


def qwen3_vl_moe(size: Size) -> tuple[Any, Any]:
    """Qwen3-VL with experts."""
    from transformers import Qwen3VLMoeConfig, Qwen3VLMoeForConditionalGeneration, Qwen3VLProcessor

    tokenizer = _tokenizer(size)
    config = Qwen3VLMoeConfig(
        text_config={
            **_text(size, tokenizer),
            "head_dim": size.width // size.heads,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": size.width,
        },
        vision_config={**_late_tower(size), "deepstack_visual_indexes": [0, 1]},
        **_ids(tokenizer),
    )
    return Qwen3VLMoeForConditionalGeneration(config), _processor(size, tokenizer, Qwen3VLProcessor)


def qwen3_5(size: Size) -> tuple[Any, Any]:
    """Qwen3.5: linear attention in all layers but every second (every fourth in real ones)."""
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration, Qwen3VLProcessor

    tokenizer = _tokenizer(size)
    config = Qwen3_5Config(
        text_config=_recurrent(size, tokenizer), vision_config=_late_tower(size), **_ids(tokenizer)
    )
    return Qwen3_5ForConditionalGeneration(config), _processor(size, tokenizer, Qwen3VLProcessor)


def qwen3_5_moe(size: Size) -> tuple[Any, Any]:
    """Qwen3.5 with experts, one of them shared."""
    from transformers import Qwen3_5MoeConfig, Qwen3_5MoeForConditionalGeneration, Qwen3VLProcessor

    tokenizer = _tokenizer(size)
    experts = {
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": size.width,
        "shared_expert_intermediate_size": size.width,
    }
    config = Qwen3_5MoeConfig(
        text_config=_recurrent(size, tokenizer) | experts,
        vision_config=_late_tower(size),
        **_ids(tokenizer),
    )
    return Qwen3_5MoeForConditionalGeneration(config), _processor(size, tokenizer, Qwen3VLProcessor)


def glm4v(size: Size) -> tuple[Any, Any]:
    """GLM-4.1V: further norms in every layer."""
    from transformers import Glm4vConfig, Glm4vForConditionalGeneration

    return _glm(size, Glm4vConfig, Glm4vForConditionalGeneration, _text)


def glm4v_moe(size: Size) -> tuple[Any, Any]:
    """GLM-4.5V: experts behind a first layer without."""
    from transformers import Glm4vMoeConfig, Glm4vMoeForConditionalGeneration

    def decoder(size: Size, tokenizer: Any) -> dict[str, Any]:
        given = _text(size, tokenizer)
        rope = given["rope_parameters"] | {"partial_rotary_factor": 1.0}
        return given | {
            "rope_parameters": rope,
            "head_dim": size.width // size.heads,
            "n_routed_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": size.width,
        }

    return _glm(size, Glm4vMoeConfig, Glm4vMoeForConditionalGeneration, decoder)


def _glm(
    size: Size, configuration: Any, architecture: Any, decoder: Callable[[Size, Any], dict[str, Any]]
) -> tuple[Any, Any]:
    from transformers import Glm4vImageProcessor, Glm4vProcessor, Glm4vVideoProcessor

    marks: tuple[str, ...] = ("<|image|>", "<|video|>", "<|begin_of_image|>", "<|end_of_image|>")
    marks += ("<|begin_of_video|>", "<|end_of_video|>", "<|im_start|>", "<|im_end|>")
    tokenizer = byte_tokenizer(marks, bos=False, words=size.words)
    names = {
        "image_token_id": "<|image|>",
        "video_token_id": "<|video|>",
        "image_start_token_id": "<|begin_of_image|>",
        "image_end_token_id": "<|end_of_image|>",
        "video_start_token_id": "<|begin_of_video|>",
        "video_end_token_id": "<|end_of_video|>",
    }
    tower = {k: v for k, v in _late_tower(size).items() if k != "num_position_embeddings"}
    config = configuration(
        text_config=decoder(size, tokenizer),
        vision_config={**tower, "image_size": 4 * size.image},
        **{name: tokenizer.convert_tokens_to_ids(mark) for name, mark in names.items()},
    )
    pixels = size.image * size.image
    edges = {"shortest_edge": pixels // 4, "longest_edge": pixels * 4}
    processor = Glm4vProcessor(
        image_processor=Glm4vImageProcessor(size=edges, patch_size=size.patch, merge_size=2),
        tokenizer=tokenizer,
        video_processor=Glm4vVideoProcessor(size=edges, patch_size=size.patch, merge_size=2),
        chat_template=template(CHATML, "<|begin_of_image|><|image|><|end_of_image|>"),
    )
    return architecture(config), processor


def _tokenizer(size: Size) -> Any:
    return byte_tokenizer(MARKS, bos=False, words=size.words)


def _ids(tokenizer: Any) -> dict[str, int]:
    names = {
        "image_token_id": "<|image_pad|>",
        "video_token_id": "<|video_pad|>",
        "vision_start_token_id": "<|vision_start|>",
        "vision_end_token_id": "<|vision_end|>",
    }
    return {name: tokenizer.convert_tokens_to_ids(mark) for name, mark in names.items()}


def _text(size: Size, tokenizer: Any) -> dict[str, Any]:
    head = size.width // size.heads
    section = [head // 2 - 2 * (head // 6), head // 6, head // 6]
    rope = {"rope_type": "default", "mrope_section": section, "rope_theta": 1e6}
    return {**text(size, tokenizer), "rope_parameters": rope}


def _recurrent(size: Size, tokenizer: Any) -> dict[str, Any]:
    head = size.width // size.heads
    return {
        **_text(size, tokenizer),
        "head_dim": head,
        "linear_key_head_dim": head,
        "linear_value_head_dim": head,
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "layer_types": ["full_attention" if n % 2 else "linear_attention" for n in range(size.layers)],
    }


def _late_tower(size: Size) -> dict[str, Any]:
    return {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "out_hidden_size": size.width,
        "patch_size": size.patch,
        "spatial_merge_size": 2,
        "in_channels": 3,
        "num_position_embeddings": 64,
    }


def _processor(size: Size, tokenizer: Any, kind: Any) -> Any:
    from transformers import Qwen2VLImageProcessor
    from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor

    pixels = size.image * size.image
    edges = {"shortest_edge": pixels // 4, "longest_edge": pixels * 2}
    return kind(
        image_processor=Qwen2VLImageProcessor(size=edges, patch_size=size.patch, merge_size=2),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(size=edges, patch_size=size.patch, merge_size=2),
        chat_template=template(CHATML, "<|vision_start|><|image_pad|><|vision_end|>"),
    )
