"""InternVL, Idefics3, DeepSeek-VL, Molmo2: pictures cut into tiles or crops, or one plain square."""

from __future__ import annotations

from typing import Any

import torch

from probekit.families.tiny.parts import CHATML, USER_ASSISTANT, square, template, text, tower
from probekit.families.tiny.size import Size
from probekit.families.tiny.tokenizer import byte_tokenizer


def internvl(size: Size) -> tuple[Any, Any]:
    """InternVL 2.5 and 3: tiles first, the whole picture last, Qwen2 decoder."""
    from transformers import (
        GotOcr2ImageProcessor,
        InternVLConfig,
        InternVLForConditionalGeneration,
        InternVLProcessor,
        InternVLVideoProcessor,
        InternVLVisionConfig,
        Qwen2Config,
    )

    named = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    marks = (*named.values(), "<|im_start|>", "<|im_end|>")
    tokenizer = byte_tokenizer(marks, bos=False, words=size.words, named=named)
    edge = [size.image, size.image]
    each = (size.image // size.patch // 2) ** 2
    config = InternVLConfig(
        text_config=Qwen2Config(**text(size, tokenizer)),
        vision_config=InternVLVisionConfig(
            **{**tower(size), "image_size": edge, "patch_size": [size.patch, size.patch]}
        ),
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=each,
        tie_word_embeddings=False,
    )
    processor = InternVLProcessor(
        image_processor=GotOcr2ImageProcessor(
            size=square(size), crop_to_patches=True, min_patches=1, max_patches=4
        ),
        tokenizer=tokenizer,
        video_processor=InternVLVideoProcessor(size=square(size)),
        image_seq_length=each,
        chat_template=template(CHATML, "<IMG_CONTEXT>\n"),
    )
    return InternVLForConditionalGeneration(config), processor


def idefics3(size: Size) -> tuple[Any, Any]:
    """Idefics3: tiles with row and column marks, the whole picture last."""
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessor,
        Idefics3Processor,
        Idefics3VisionConfig,
        LlamaConfig,
    )

    marks = ("<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>")
    places = tuple(f"<row_{r}_col_{c}>" for r in range(1, 7) for c in range(1, 7))
    tokenizer = byte_tokenizer((*marks, *places), words=size.words + len(places))
    config = Idefics3Config(
        text_config=LlamaConfig(**text(size, tokenizer)),
        vision_config=Idefics3VisionConfig(**tower(size)),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        pad_token_id=tokenizer.pad_token_id,
    )
    processor = Idefics3Processor(
        image_processor=Idefics3ImageProcessor(
            size={"longest_edge": 2 * size.image}, max_image_size={"longest_edge": size.image}
        ),
        tokenizer=tokenizer,
        image_seq_len=(size.image // size.patch // 2) ** 2,
        chat_template=(
            "<s>{% for m in messages %}{{ m['role'] | capitalize }}:{% for c in m['content'] %}"
            "{{ '<image>' if c['type'] == 'image' else c['text'] }}{% endfor %}<end_of_utterance>\n"
            "{% endfor %}{{ 'Assistant:' if add_generation_prompt else '' }}"
        ),
    )
    return Idefics3ForConditionalGeneration(config), processor


def deepseek_vl(size: Size) -> tuple[Any, Any]:
    """DeepSeek-VL: SigLIP tower, Llama decoder."""
    from transformers import (
        DeepseekVLConfig,
        DeepseekVLForConditionalGeneration,
        DeepseekVLImageProcessor,
        DeepseekVLProcessor,
        LlamaConfig,
        SiglipVisionConfig,
    )

    named = {"image_token": "<image_placeholder>"}
    tokenizer = byte_tokenizer(tuple(named.values()), words=size.words, named=named)
    config = DeepseekVLConfig(
        text_config=LlamaConfig(**text(size, tokenizer)),
        vision_config=SiglipVisionConfig(**tower(size), vision_use_head=False),
        image_token_id=tokenizer.convert_tokens_to_ids("<image_placeholder>"),
        tie_word_embeddings=False,
    )
    processor = DeepseekVLProcessor(
        image_processor=DeepseekVLImageProcessor(size=square(size), min_size=14),
        tokenizer=tokenizer,
        num_image_tokens=(size.image // size.patch) ** 2,
        chat_template=template(USER_ASSISTANT, "<image_placeholder>"),
    )
    return DeepseekVLForConditionalGeneration(config), processor


def molmo2(size: Size) -> tuple[Any, Any]:
    """Molmo2: the whole picture first, then overlapping crops, pooled by attention."""
    from transformers import (
        Molmo2Config,
        Molmo2ForConditionalGeneration,
        Molmo2ImageProcessor,
        Molmo2Processor,
        Molmo2VideoProcessor,
    )

    marks: tuple[str, ...] = ("<im_start>", "<im_end>", "<im_patch>", "<im_col>", "<low_res_im_start>")
    marks += (
        "<frame_start>",
        "<frame_end>",
        "<im_low>",
        "<|image|>",
        "<|video|>",
        "<|im_start|>",
        "<|im_end|>",
    )
    named = {"image_token": "<|image|>", "video_token": "<|video|>"}
    tokenizer = byte_tokenizer(marks, words=size.words, named=named, written=False)
    head = size.width // size.heads
    small = {"hidden_size": 32, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16}
    edge = [size.image, size.image]
    words = {k: v for k, v in text(size, tokenizer).items() if k != "vocab_size"}
    config = Molmo2Config(
        text_config={**words, "vocab_size": len(tokenizer) - 8, "additional_vocab_size": 8, "head_dim": head},
        vision_config={
            **small,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "image_size": edge,
            "patch_size": size.patch,
            "num_position_embeddings": (size.image // size.patch) ** 2,
        },
        adapter_config={
            **small,
            "vision_feature_layer": [-1, -2],
            "intermediate_size": 64,
            "text_hidden_size": size.width,
        },
        image_start_token_id=tokenizer.convert_tokens_to_ids("<im_start>"),
        low_res_image_start_token_id=tokenizer.convert_tokens_to_ids("<low_res_im_start>"),
        image_end_token_id=tokenizer.convert_tokens_to_ids("<im_end>"),
        image_patch_id=tokenizer.convert_tokens_to_ids("<im_patch>"),
        frame_start_token_id=tokenizer.convert_tokens_to_ids("<frame_start>"),
        frame_end_token_id=tokenizer.convert_tokens_to_ids("<frame_end>"),
    )
    processor = Molmo2Processor(
        image_processor=Molmo2ImageProcessor(
            size=square(size), patch_size=size.patch, max_crops=4, overlap_margins=[1, 1]
        ),
        video_processor=Molmo2VideoProcessor(size=square(size), patch_size=size.patch),
        tokenizer=tokenizer,
        chat_template=template(CHATML, "<|image|>"),
    )
    model = Molmo2ForConditionalGeneration(config)
    with torch.no_grad():  # a product of fresh gates, added to word embeddings, would be nothing beside them
        for weight in model.model.multi_modal_projector.parameters():
            weight.mul_(9)
    return model, processor
