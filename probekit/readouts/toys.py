"""Five tiny tokenizers of different kinds, trained on a few sentences, to try a readout on.

They differ in what a space is: part of the next word, a mark before the first word too or only between
words, nothing at all, or a token of its own.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from jaxtyping import Float

from probekit.readouts.forms import ANSWER_PREFIX
from probekit.readouts.tokenizer import FastTokenizer, Tokenizer

_SENTENCES = (
    "USER: Is there a dog in the image? ASSISTANT: Yes",
    "USER: Is there a cat in the image? ASSISTANT: No",
    "USER: Is there an oven in the picture? ASSISTANT: yes, there is",
    "USER: Is there a bus in the picture? ASSISTANT: no, there is not",
    "Yes",
    "No",
    "yes",
    "no",
    "Yes, a dog and a cat. No, the image shows a bus and an oven.",
)
_CORPUS = _SENTENCES * 20


def byte_level_bpe() -> FastTokenizer:
    """A space belongs to the word after it, as in GPT-2, Llama 3 and Qwen."""
    from tokenizers import Tokenizer as Inner
    from tokenizers import decoders, models, pre_tokenizers, trainers

    inner = Inner(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False
    )
    inner.train_from_iterator(_CORPUS, trainer)
    return FastTokenizer("byte-level BPE", inner)


def unigram_with_prefix_space() -> FastTokenizer:
    """A mark before every word, the first of a text included, as SentencePiece does in LLaMA 2."""
    return _unigram("SentencePiece, prefix space", "always")


def unigram_without_prefix_space() -> FastTokenizer:
    """A mark only where the text has a space."""
    return _unigram("SentencePiece, no prefix space", "never")


def word_piece() -> FastTokenizer:
    """Spaces vanish and letters are lowered, as in BERT: all forms of a word are one."""
    from tokenizers import Tokenizer as Inner
    from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

    inner = Inner(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece(prefix="##")
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=["[UNK]"], show_progress=False)
    inner.train_from_iterator(_CORPUS, trainer)
    return FastTokenizer("WordPiece, uncased", inner)


def space_apart() -> FastTokenizer:
    """A space is a token of its own: " Yes" is two tokens, so the first position shows only the space."""
    from tokenizers import Regex, decoders, models, pre_tokenizers, trainers
    from tokenizers import Tokenizer as Inner

    inner = Inner(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(r"\s|\w+|[^\w\s]"), behavior="isolated")
    inner.decoder = decoders.Fuse()
    trainer = trainers.BpeTrainer(vocab_size=200, show_progress=False)
    inner.train_from_iterator(_CORPUS, trainer)
    return FastTokenizer("space as a token", inner)


TOYS: Mapping[str, Callable[[], FastTokenizer]] = MappingProxyType(
    {
        "byte_level_bpe": byte_level_bpe,
        "unigram_with_prefix_space": unigram_with_prefix_space,
        "unigram_without_prefix_space": unigram_without_prefix_space,
        "word_piece": word_piece,
        "space_apart": space_apart,
    }
)
"""The five kinds, by name."""


def toy_logits(
    tokenizer: Tokenizer, answers: tuple[str, ...], context: str = ANSWER_PREFIX
) -> Float[np.ndarray, "question vocabulary"]:
    """First-position logits of a model that says each of ``answers`` after ``context``.

    The first token of the answer, as the tokenizer writes it there, has 0.9 of the probability; the
    rest is spread evenly.
    """
    before = len(tokenizer.encode(context))
    first = [tokenizer.encode(context + answer)[before] for answer in answers]
    return _peaked(first, tokenizer.size)


def toy_continuation(
    tokenizer: Tokenizer, answers: tuple[str, ...], context: str = ANSWER_PREFIX
) -> Callable[[tuple[int, ...]], Float[np.ndarray, "question vocabulary"]]:
    """What the same model says after the first tokens of a form: the answer's own next token."""
    before = len(tokenizer.encode(context))
    said = [tuple(tokenizer.encode(context + answer))[before:] for answer in answers]

    def after(prefix: tuple[int, ...]) -> Float[np.ndarray, "question vocabulary"]:
        length = len(prefix)
        following = [ids[length] if len(ids) > length and ids[:length] == prefix else None for ids in said]
        return _peaked(following, tokenizer.size)

    return after


def _peaked(tokens: list[int] | list[int | None], size: int) -> Float[np.ndarray, "question vocabulary"]:
    """Log-probabilities with 0.9 on one token a row; flat where there is none."""
    values = np.full((len(tokens), size), np.log(0.1 / (size - 1)))
    for row, token in enumerate(tokens):
        if token is None:
            values[row] = -np.log(size)
        else:
            values[row, token] = np.log(0.9)
    return values


def _unigram(name: str, prepend: str) -> FastTokenizer:
    from tokenizers import Tokenizer as Inner
    from tokenizers import decoders, models, pre_tokenizers, trainers

    inner = Inner(models.Unigram())
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend)
    inner.decoder = decoders.Metaspace(prepend_scheme=prepend)
    trainer = trainers.UnigramTrainer(
        vocab_size=120, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
    )
    inner.train_from_iterator(_CORPUS, trainer)
    return FastTokenizer(name, inner)
