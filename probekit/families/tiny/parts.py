"""What makers share: parts of configurations and chat templates."""

from __future__ import annotations

from typing import Any

from probekit.families.tiny.size import Size

USER_ASSISTANT = (
    "{% for m in messages %}{{ 'USER: ' if m['role'] == 'user' else ' ASSISTANT: ' }}"
    "{% for c in m['content'] %}{{ IMAGE if c['type'] == 'image' else c['text'] }}{% endfor %}"
    "{% endfor %}{{ ' ASSISTANT:' if add_generation_prompt else '' }}"
)

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}"
    "{{ IMAGE if c['type'] == 'image' else c['text'] }}{% endfor %}<|im_end|>\n{% endfor %}"
    "{{ '<|im_start|>assistant\n' if add_generation_prompt else '' }}"
)


def template(text: str, image: str) -> str:
    """A chat template that writes ``image`` where a picture goes."""
    return text.replace("IMAGE", repr(image))


def text(size: Size, tokenizer: Any) -> dict[str, Any]:
    """A Llama-like decoder."""
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


def tower(size: Size) -> dict[str, Any]:
    """A CLIP- or SigLIP-like vision tower of one square picture."""
    return {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": size.image,
        "patch_size": size.patch,
    }


def square(size: Size) -> dict[str, int]:
    """Size of the one square picture, as image processors take it."""
    return {"height": size.image, "width": size.image}
