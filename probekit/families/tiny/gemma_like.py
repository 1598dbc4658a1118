"""Gemma-3, Gemma-4, PaliGemma: image tokens that see each other both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probekit.families.tiny.parts import square, text, tower
from probekit.families.tiny.size import Size
from probekit.families.tiny.tokenizer import byte_tokenizer

TURNS = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m['role'] }}\n{% for c in m['content'] %}"
    "{{ IMAGE if c['type'] == 'image' else c['text'] }}{% endfor %}<end_of_turn>\n{% endfor %}"
    "{{ '<start_of_turn>model\n' if add_generation_prompt else '' }}"
)

MARKS = ("<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<end_of_image>", "<image_soft_token>")


def gemma3(size: Size) -> tuple[Any, Any]:
    """Gemma-3: sliding windows in some layers, bidirectional image blocks."""
    from transformers import (
        Gemma3Config,
        Gemma3ForConditionalGeneration,
        Gemma3ImageProcessor,
        Gemma3Processor,
        Gemma3TextConfig,
        SiglipVisionConfig,
    )

    named = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    tokenizer = byte_tokenizer(MARKS, words=size.words, named=named)
    side = size.image // size.patch // 2
    config = Gemma3Config(
        text_config=Gemma3TextConfig(**text(size, tokenizer), **_windows(size)),
        vision_config=SiglipVisionConfig(**tower(size), vision_use_head=False),
        mm_tokens_per_image=side * side,
        image_token_id=tokenizer.convert_tokens_to_ids("<image_soft_token>"),
        boi_token_index=tokenizer.convert_tokens_to_ids("<start_of_image>"),
        eoi_token_index=tokenizer.convert_tokens_to_ids("<end_of_image>"),
    )
    processor = Gemma3Processor(
        image_processor=Gemma3ImageProcessor(size=square(size), do_pan_and_scan=False),
        tokenizer=tokenizer,
        image_seq_length=side * side,
        chat_template=TURNS.replace("IMAGE", "'<start_of_image>'"),
    )
    return Gemma3ForConditionalGeneration(config), processor


def gemma4(size: Size) -> tuple[Any, Any]:
    """Gemma-4, the large ones: images of any shape that see themselves both ways in layers with a window."""
    return _gemma4(size, use_bidirectional_attention="vision", hidden_size_per_layer_input=0)


def gemma4_shared_keys(size: Size) -> tuple[Any, Any]:
    """Gemma-4 E2B and E4B: the later layers take earlier layers' keys and an input of their own a token."""
    return _gemma4(
        size,
        num_hidden_layers=4,
        layer_types=["sliding_attention", "full_attention"] * 2,
        num_kv_shared_layers=2,
        hidden_size_per_layer_input=8,
        vocab_size_per_layer_input=size.words,
        use_bidirectional_attention=None,
    )


def _gemma4(size: Size, **special: Any) -> tuple[Any, Any]:
    from transformers import (
        Gemma4AudioFeatureExtractor,
        Gemma4Config,
        Gemma4ForConditionalGeneration,
        Gemma4ImageProcessor,
        Gemma4Processor,
        Gemma4TextConfig,
        Gemma4VideoProcessor,
        Gemma4VisionConfig,
    )

    named = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
        "audio_token": "<audio>",
        "boa_token": "<start_of_audio>",
        "eoa_token": "<end_of_audio>",
    }
    marks = (*MARKS, "<audio>", "<start_of_audio>", "<end_of_audio>", "<|video|>")
    tokenizer = byte_tokenizer(marks, words=size.words, named=named)
    ids = {mark: tokenizer.convert_tokens_to_ids(mark) for mark in marks}
    config = Gemma4Config(
        text_config=Gemma4TextConfig(
            **text(size, tokenizer)
            | {k: v for k, v in _windows(size).items() if k != "query_pre_attn_scalar"}
            | {"global_head_dim": size.width // size.heads, "final_logit_softcapping": 30.0}
            | special,
        ),
        vision_config=Gemma4VisionConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            head_dim=16,
            patch_size=size.patch,
            pooling_kernel_size=2,
            position_embedding_size=64,
            default_output_length=16,
        ),
        audio_config=None,
        image_token_id=ids["<image_soft_token>"],
        boi_token_id=ids["<start_of_image>"],
        eoi_token_id=ids["<end_of_image>"],
        video_token_id=ids["<|video|>"],
        audio_token_id=ids["<audio>"],
        boa_token_id=ids["<start_of_audio>"],
        eoa_token_index=ids["<end_of_audio>"],
    )
    soft = {"patch_size": size.patch, "pooling_kernel_size": 2, "max_soft_tokens": 70}
    processor = Gemma4Processor(
        feature_extractor=Gemma4AudioFeatureExtractor(),
        image_processor=Gemma4ImageProcessor(**soft),
        tokenizer=tokenizer,
        video_processor=Gemma4VideoProcessor(**soft),
        image_seq_length=70,
        chat_template=TURNS.replace("IMAGE", "'<image_soft_token>'"),
    )
    return Gemma4ForConditionalGeneration(config), processor


def paligemma(size: Size) -> tuple[Any, Any]:
    """PaliGemma: the whole prompt sees itself both ways, the answer is causal."""
    from transformers import GemmaConfig

    return _paligemma(size, lambda given: GemmaConfig(**given, head_dim=size.width // size.heads))


def paligemma2(size: Size) -> tuple[Any, Any]:
    """PaliGemma 2: the same over Gemma-2, which has windows and soft caps."""
    from transformers import Gemma2Config

    return _paligemma(size, lambda given: Gemma2Config(**given, **_windows(size)))


def _paligemma(size: Size, decoder: Callable[[dict[str, Any]], Any]) -> tuple[Any, Any]:
    from transformers import (
        PaliGemmaConfig,
        PaliGemmaForConditionalGeneration,
        PaliGemmaProcessor,
        SiglipImageProcessor,
        SiglipVisionConfig,
    )

    tokenizer = byte_tokenizer(("<image>",), words=size.words, written=False)
    tokens = (size.image // size.patch) ** 2
    processor = PaliGemmaProcessor(
        image_processor=SiglipImageProcessor(size=square(size), image_seq_length=tokens),
        tokenizer=tokenizer,
        chat_template=(
            "{% for m in messages %}{% for c in m['content'] %}"
            "{{ '<image>' if c['type'] == 'image' else c['text'] }}{% endfor %}{% endfor %}"
        ),
    )
    config = PaliGemmaConfig(
        text_config=decoder(text(size, tokenizer)),
        vision_config=SiglipVisionConfig(**tower(size), vision_use_head=False, projection_dim=size.width),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        projection_dim=size.width,
        hidden_size=size.width,
        vocab_size=len(tokenizer),
    )
    return PaliGemmaForConditionalGeneration(config), processor


def _windows(size: Size) -> dict[str, Any]:
    return {
        "head_dim": size.width // size.heads,
        "query_pre_attn_scalar": size.width // size.heads,
        "sliding_window": 12,
        "layer_types": ["full_attention" if n % 2 else "sliding_attention" for n in range(size.layers)],
    }
