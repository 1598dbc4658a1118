"""A Hugging Face model as a THRONE judge: sequence-to-sequence, such as flan-t5."""

from collections.abc import Sequence
from typing import Any

from probekit.errors import InputError
from probekit.metrics.throne_votes import Ask

MAX_LENGTH = 16
"""Tokens of an answer, the start token included."""


def is_sequence_to_sequence(model: str, revision: str | None = None) -> bool:
    """Whether a model has an encoder and a decoder, from its configuration alone.

    Raises:
        InputError: there is no such model.
    """
    from transformers import AutoConfig

    try:
        return bool(AutoConfig.from_pretrained(model, revision=revision).is_encoder_decoder)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot load the judge: {error}", where=model, hint="Give a hub name or a folder."
        ) from None


def ask_with_transformers(
    model: str,
    *,
    revision: str | None = None,
    device: str | None = None,
    dtype: str = "bfloat16",
    batch: int = 16,
) -> Ask:
    """A judge that answers greedily, at most 16 tokens, the model loaded once (SPEC 3.2).

    Args:
        model: hub name or folder of a sequence-to-sequence model.
        revision: commit or tag; ``None`` for the default.
        device: where it runs; ``None`` for a GPU when there is one.
        dtype: of the weights.
        batch: prompts run together, padded to the longest.

    Raises:
        InputError: the model or its tokenizer cannot be loaded.
    """
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(model, revision=revision)
        loaded: Any = AutoModelForSeq2SeqLM.from_pretrained(
            model, revision=revision, dtype=getattr(torch, dtype)
        )
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(
            f"cannot load the judge: {error}", where=model, hint="Give a hub name or a folder."
        ) from None
    loaded = loaded.to(place).eval()

    def ask(prompts: Sequence[str]) -> list[str]:
        answers: list[str] = []
        for first in range(0, len(prompts), batch):
            encoded = tokenizer(list(prompts[first : first + batch]), padding=True, return_tensors="pt")
            inputs = {name: encoded[name].to(place) for name in ("input_ids", "attention_mask")}
            with torch.inference_mode():
                ids = loaded.generate(**inputs, max_length=MAX_LENGTH, do_sample=False, num_beams=1)
            answers += [str(text) for text in tokenizer.batch_decode(ids, skip_special_tokens=True)]
        return answers

    return ask
