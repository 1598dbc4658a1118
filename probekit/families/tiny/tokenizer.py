"""A byte-level tokenizer that needs no training and reads any text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

ENDINGS = ("<pad>", "<s>", "</s>")
MERGES = ("Ġ t", "Ġt h", "Ġth e", "Ġ a", "Ġ i", "Ġi s", "Y e", "Ye s", "N o", "Ġ Yes", "Ġ No")


def byte_tokenizer(
    specials: tuple[str, ...],
    *,
    bos: bool = True,
    words: int = 320,
    named: Mapping[str, str] | None = None,
    written: bool = True,
) -> Any:
    """A `PreTrainedTokenizerFast` over bytes with a few merges.

    Args:
        specials: further special tokens, after padding, beginning and end.
        bos: whether there is a beginning-of-sequence token.
        words: size of the vocabulary; unused words fill it up.
        named: special tokens that processors look up as attributes, such as ``image_token``.
        written: whether encoding writes the beginning-of-sequence token.
    """
    from transformers import PreTrainedTokenizerFast

    vocabulary: dict[str, int] = {}
    for word in (*ENDINGS, *specials, *sorted(pre_tokenizers.ByteLevel.alphabet())):
        vocabulary.setdefault(word, len(vocabulary))
    for merge in MERGES:
        vocabulary.setdefault(merge.replace(" ", ""), len(vocabulary))
    while len(vocabulary) < words:
        vocabulary[f"<unused{len(vocabulary)}>"] = len(vocabulary)
    pairs = [(merge.split(" ")[0], merge.split(" ")[1]) for merge in MERGES]
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    if bos and written:
        backend.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", vocabulary["<s>"])]
        )
    backend.add_special_tokens([AddedToken(word, special=True) for word in (*ENDINGS, *specials)])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<s>" if bos else None,
        eos_token="</s>",
        pad_token="<pad>",
        padding_side="left",
        extra_special_tokens=dict(named or {}),
        clean_up_tokenization_spaces=False,
    )
