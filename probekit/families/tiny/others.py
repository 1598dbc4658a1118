"""Architectures of their own kind: a Q-Former before the decoder, cross-attention inside it."""

from __future__ import annotations

from typing import Any

import torch

from probekit.families.tiny.parts import USER_ASSISTANT, square, template, text, tower
from probekit.families.tiny.size import Size
from probekit.families.tiny.tokenizer import byte_tokenizer


def instructblip(size: Size) -> tuple[Any, Any]:
    """InstructBLIP: a Q-Former that reads the instruction, Llama decoder."""
    from transformers import (
        BertTokenizerFast,
        BlipImageProcessor,
        InstructBlipConfig,
        InstructBlipForConditionalGeneration,
        InstructBlipProcessor,
        LlamaConfig,
    )

    queries = 8
    tokenizer = byte_tokenizer(("<image>",), words=size.words)
    letters = [chr(code) for code in range(97, 123)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "?", ".", ",", "<", ">", ":"]
    words += letters + ["##" + letter for letter in letters]
    reader = BertTokenizerFast(vocab={word: number for number, word in enumerate(words)})
    config = InstructBlipConfig(
        text_config=LlamaConfig(**text(size, tokenizer)),
        vision_config={**tower(size), "initializer_range": 0.02},
        qformer_config={
            "vocab_size": len(words),
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "encoder_hidden_size": 32,
        },
        num_query_tokens=queries,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )
    processor = InstructBlipProcessor(
        image_processor=BlipImageProcessor(size=square(size)),
        tokenizer=tokenizer,
        qformer_tokenizer=reader,
        num_query_tokens=queries,
    )
    tokenizer.chat_template = (
        "{% for m in messages %}{% for c in m['content'] %}"
        "{{ '' if c['type'] == 'image' else c['text'] }}{% endfor %}{% endfor %}"
        "{{ ' Answer:' if add_generation_prompt else '' }}"
    )
    return InstructBlipForConditionalGeneration(config), processor


def mllama(size: Size) -> tuple[Any, Any]:
    """Llama-3.2-Vision: pictures enter through cross-attention layers."""
    from transformers import (
        MllamaConfig,
        MllamaForConditionalGeneration,
        MllamaImageProcessor,
        MllamaProcessor,
    )

    named = {"image_token": "<|image|>"}
    tokenizer = byte_tokenizer(("<|image|>", "<|python_tag|>"), words=size.words, named=named)
    image = tokenizer.convert_tokens_to_ids("<|image|>")
    config = MllamaConfig(
        text_config={
            **text(size, tokenizer),
            "num_hidden_layers": size.layers,
            "cross_attention_layers": [1],
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_global_layers": 1,
            "attention_heads": 2,
            "image_size": size.image,
            "patch_size": size.patch,
            "vision_output_dim": 64,
            "intermediate_layers_indices": [0],
            "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]],
            "max_num_tiles": 2,
        },
        image_token_index=image,
    )
    processor = MllamaProcessor(
        image_processor=MllamaImageProcessor(size=square(size), max_image_tiles=2),
        tokenizer=tokenizer,
        chat_template=template(USER_ASSISTANT, "<|image|>"),
    )
    model = MllamaForConditionalGeneration(config)
    for name, weight in model.named_parameters():
        if "gate" in name and "gate_proj" not in name:
            torch.nn.init.constant_(weight, 0.5)  # closed at first, so that no picture would matter
    return model, processor
