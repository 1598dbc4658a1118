"""LLaVA and its kin: a vision tower, a projector, a plain causal decoder."""

from __future__ import annotations

from typing import Any

from probekit.families.tiny.parts import USER_ASSISTANT, square, template, text, tower
from probekit.families.tiny.size import Size
from probekit.families.tiny.tokenizer import byte_tokenizer


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
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**tower(size)),
        text_config=LlamaConfig(**text(size, tokenizer)),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
    )
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": size.image}, crop_size=square(size)),
        tokenizer=tokenizer,
        patch_size=size.patch,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
        chat_template=template(USER_ASSISTANT, "<image>\n"),
    )
    return LlavaForConditionalGeneration(config), processor


def pixtral(size: Size) -> tuple[Any, Any]:
    """Pixtral: images of any shape, rows ended by a token of their own, Mistral decoder."""
    from transformers import LlavaConfig, LlavaForConditionalGeneration, MistralConfig

    tokenizer, processor = _pixtral_processor(size, merge=1)
    config = LlavaConfig(
        vision_config=_pixtral_tower(size),
        text_config=MistralConfig(**text(size, tokenizer), sliding_window=None),
        image_token_id=tokenizer.convert_tokens_to_ids("[IMG]"),
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
    )
    return LlavaForConditionalGeneration(config), processor


def mistral3(size: Size) -> tuple[Any, Any]:
    """Mistral-3: Pixtral's tower with patches merged two by two."""
    from transformers import Mistral3Config, Mistral3ForConditionalGeneration, MistralConfig

    tokenizer, processor = _pixtral_processor(size, merge=2)
    config = Mistral3Config(
        vision_config=_pixtral_tower(size),
        text_config=MistralConfig(**text(size, tokenizer), sliding_window=None),
        image_token_index=tokenizer.convert_tokens_to_ids("[IMG]"),
        vision_feature_layer=-1,
        spatial_merge_size=2,
        tie_word_embeddings=False,
    )
    return Mistral3ForConditionalGeneration(config), processor


def _pixtral_tower(size: Size) -> Any:
    from transformers import PixtralVisionConfig

    return PixtralVisionConfig(**{**tower(size), "image_size": 4 * size.image})


def _pixtral_processor(size: Size, merge: int) -> tuple[Any, Any]:
    from transformers import PixtralImageProcessor, PixtralProcessor

    marks = ("[IMG]", "[IMG_BREAK]", "[IMG_END]", "[INST]", "[/INST]")
    tokenizer = byte_tokenizer(marks, words=size.words)
    processor = PixtralProcessor(
        image_processor=PixtralImageProcessor(
            size={"longest_edge": 2 * size.image}, patch_size=size.patch * merge
        ),
        tokenizer=tokenizer,
        patch_size=size.patch,
        spatial_merge_size=merge,
        chat_template=(
            "{% for m in messages %}{% if m['role'] == 'user' %}[INST]{% for c in m['content'] %}"
            "{{ '[IMG]' if c['type'] == 'image' else c['text'] }}{% endfor %}"
            "{{ '[/INST]' if add_generation_prompt else '' }}{% endif %}{% endfor %}"
        ),
    )
    return tokenizer, processor


def llava_next(size: Size) -> tuple[Any, Any]:
    """LLaVA-1.6: the whole picture first, then tiles, Mistral decoder with a sliding window."""
    from transformers import (
        CLIPVisionConfig,
        LlavaNextConfig,
        LlavaNextForConditionalGeneration,
        LlavaNextImageProcessor,
        LlavaNextProcessor,
        MistralConfig,
    )

    tokenizer = byte_tokenizer(("<image>",), words=size.words)
    pinpoints = _pinpoints(size)
    config = LlavaNextConfig(
        vision_config=CLIPVisionConfig(**tower(size)),
        text_config=MistralConfig(**text(size, tokenizer), sliding_window=None),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=pinpoints,
        vision_feature_layer=-1,
        image_seq_length=(size.image // size.patch) ** 2,
    )
    processor = LlavaNextProcessor(
        image_processor=LlavaNextImageProcessor(
            size={"shortest_edge": size.image}, crop_size=square(size), image_grid_pinpoints=pinpoints
        ),
        tokenizer=tokenizer,
        patch_size=size.patch,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template(USER_ASSISTANT, "<image>\n"),
    )
    return LlavaNextForConditionalGeneration(config), processor


def llava_onevision(size: Size) -> tuple[Any, Any]:
    """LLaVA-OneVision: SigLIP tower, tiles, Qwen2 decoder."""
    from transformers import (
        LlavaOnevisionConfig,
        LlavaOnevisionForConditionalGeneration,
        LlavaOnevisionImageProcessor,
        LlavaOnevisionProcessor,
        LlavaOnevisionVideoProcessor,
        Qwen2Config,
        SiglipVisionConfig,
    )

    from probekit.families.tiny.parts import CHATML

    marks = ("<image>", "<video>", "<|im_start|>", "<|im_end|>")
    tokenizer = byte_tokenizer(marks, bos=False, words=size.words)
    pinpoints = _pinpoints(size)
    config = LlavaOnevisionConfig(
        vision_config=SiglipVisionConfig(**tower(size), vision_use_head=False),
        text_config=Qwen2Config(**text(size, tokenizer)),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        video_token_index=tokenizer.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=pinpoints,
        vision_feature_layer=-1,
    )
    processor = LlavaOnevisionProcessor(
        image_processor=LlavaOnevisionImageProcessor(size=square(size), image_grid_pinpoints=pinpoints),
        tokenizer=tokenizer,
        video_processor=LlavaOnevisionVideoProcessor(size=square(size)),
        num_image_tokens=(size.image // size.patch) ** 2,
        vision_feature_select_strategy="full",
        chat_template=template(CHATML, "<image>\n"),
    )
    return LlavaOnevisionForConditionalGeneration(config), processor


def _pinpoints(size: Size) -> list[list[int]]:
    edge = size.image
    return [[edge, 2 * edge], [2 * edge, edge], [2 * edge, 2 * edge]]


def aya_vision(size: Size) -> tuple[Any, Any]:
    """Aya Vision: tiles and a thumbnail, Cohere2 decoder with a logit scale and a sliding window."""
    from transformers import (
        AyaVisionConfig,
        AyaVisionForConditionalGeneration,
        AyaVisionProcessor,
        Cohere2Config,
        GotOcr2ImageProcessor,
        SiglipVisionConfig,
    )

    marks = ("<image>", "<|START_OF_IMG|>", "<|END_OF_IMG|>", "<|IMG_PATCH|>", "<|IMG_LINE_BREAK|>")
    tokenizer = byte_tokenizer((*marks, "TILE", "TILE_GLOBAL"), words=size.words)
    config = AyaVisionConfig(
        vision_config=SiglipVisionConfig(**tower(size), vision_use_head=False),
        text_config=Cohere2Config(
            **text(size, tokenizer),
            sliding_window=12,
            layer_types=["sliding_attention" if n % 2 == 0 else "full_attention" for n in range(size.layers)],
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<|IMG_PATCH|>"),
        vision_feature_layer=-1,
        downsample_factor=2,
    )
    processor = AyaVisionProcessor(
        image_processor=GotOcr2ImageProcessor(size=square(size), crop_to_patches=True, max_patches=4),
        tokenizer=tokenizer,
        patch_size=size.patch,
        img_size=size.image,
        downsample_factor=2,
        chat_template=template(USER_ASSISTANT, "<image>"),
    )
    return AyaVisionForConditionalGeneration(config), processor
