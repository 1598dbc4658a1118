"""Tokens of characters, against the offsets of trained byte-level and SentencePiece-like tokenizers."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from probekit.mentions import Vocabulary, find
from probekit.mentions.align import Offsets, align, offsets, remembering

CORPUS = [
    "A hot stove. A hot dog. A hot dog.",
    "There is a traffic light, a dog and a car near the bench.",
    "A cat sits on a couch; the cat's toy is a ball.",
    "naïve café 日本 🐕 dogs",
] * 5
WORDS = [
    "A",
    "hot",
    "dog",
    "traffic light",
    "café",
    "日本の犬",
    "🐕‍🦺",
    "İ",
    "dog's",
    "\n\n",
    "naïve",
    "xyzzy",
    "cat",
]


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def llama_like() -> Tokenizer:
    """Blanks written as the first character of a piece, unknown characters as bytes, one leading blank."""
    letters = sorted(set("".join(CORPUS)) - set(" 日本犬🐕\n"))
    pieces = ["<unk>", "</s>", *[f"<0x{byte:02X}>" for byte in range(256)], "▁", *letters]
    merges = [
        ("d", "o"),
        ("do", "g"),
        ("▁", "dog"),
        ("h", "o"),
        ("ho", "t"),
        ("▁", "hot"),
        ("▁", "A"),
        ("▁", "a"),
    ]
    vocabulary = {piece: place for place, piece in enumerate([*pieces, *["".join(pair) for pair in merges]])}
    tokenizer = Tokenizer(
        models.BPE(vocabulary, merges, byte_fallback=True, unk_token="<unk>", fuse_unk=True)
    )
    tokenizer.add_special_tokens(["</s>"])
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


TOKENIZERS = {"byte_level": byte_level(), "llama_like": llama_like()}


def decoder(tokenizer: Tokenizer) -> Callable[[Sequence[int]], str]:
    return lambda ids: tokenizer.decode(list(ids))


def by_definition(
    ids: Sequence[int], decode: Callable[[Sequence[int]], str], character: int, text: str
) -> int:
    """First token that wrote part of a character: the first prefix that once agreed with the text beyond it,
    or that has agreed up to it and ends in unfinished bytes."""
    agreed = 0
    for count in range(1, len(ids) + 1):
        prefix = decode(ids[:count])
        equal = (i for i, (a, b) in enumerate(zip(prefix, text, strict=False)) if a != b)
        agreed = max(agreed, min(next(equal, len(prefix)), len(text)))
        if agreed > character or (agreed == character and prefix.endswith("\ufffd")):
            return count - 1
    raise AssertionError("character never written")


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_equals_prefix_decoding(name: str, words: list[str]) -> None:
    tokenizer = TOKENIZERS[name]
    decode = decoder(tokenizer)
    ids = tokenizer.encode(" ".join(words)).ids
    text = decode(ids)
    found = offsets(ids, decode)
    assert found.text == text
    for character in range(len(text)):
        assert found.token_of(character) == by_definition(ids, decode, character, text)


@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_equals_the_offsets_of_the_encoder(words: list[str]) -> None:
    """On ids that came from encoding, the encoder's own offsets are an oracle."""
    tokenizer = TOKENIZERS["byte_level"]
    text = " ".join(words)
    encoding = tokenizer.encode(text)
    found = offsets(encoding.ids, decoder(tokenizer))
    for character in range(len(text)):
        covering = [k for k, (low, high) in enumerate(encoding.offsets) if low <= character < high]
        assert (found.token_of(character), found.token_completing(character)) == (covering[0], covering[-1])


@pytest.mark.parametrize("name", TOKENIZERS)
def test_first_sub_token_of_the_second_hot_dog(name: str) -> None:
    tokenizer = TOKENIZERS[name]
    decode = decoder(tokenizer)
    ids = tokenizer.encode("A hot stove. A hot dog. A hot dog.").ids
    token_offsets = offsets(ids, decode)
    hot_dogs = [hit for hit in find(token_offsets.text, Vocabulary.coco()) if hit.category == "hot dog"]
    span = align(hot_dogs[1].start, hot_dogs[1].end, token_offsets)
    assert span is not None
    hots = [k for k in range(len(ids)) if decode(ids[: k + 1]).endswith("hot")]
    assert len(hots) == 3
    first, last = span
    assert first <= hots[2] <= last
    assert decode(ids[:first]).rstrip() == "A hot stove. A hot dog. A"
    assert decode(ids[: last + 1]) == "A hot stove. A hot dog. A hot dog"


def test_merged_token_over_several_words_is_taken() -> None:
    pieces = ["a ", "hot dog and", " a", " dog"]
    decode = lambda ids: "".join(pieces[one] for one in ids)  # noqa: E731
    token_offsets = offsets([0, 1, 2, 3], decode)
    assert align(2, 9, token_offsets) == (1, 1)
    assert align(15, 18, token_offsets) == (3, 3)


def test_bare_blank_piece_is_not_the_object() -> None:
    tokenizer = TOKENIZERS["llama_like"]
    ids = [tokenizer.token_to_id(piece) for piece in ("▁A", "▁", "dog", "</s>")]
    token_offsets = offsets(ids, decoder(tokenizer))
    assert token_offsets.text == "A dog"
    assert align(2, 5, token_offsets) == (2, 2)
    assert token_offsets.written == 3


def test_a_decoder_that_rewrites_what_it_printed_falls_back_to_prefixes() -> None:
    pieces = ["a dog", " .", " the", " dog", " ,", " cat"]

    def decode(ids: Sequence[int]) -> str:
        return "".join(pieces[one] for one in ids).replace(" .", ".").replace(" ,", ",")

    token_offsets = offsets(range(6), decode)
    assert token_offsets.text == "a dog. the dog, cat"
    starts = (2, 5, 7, 11, 14, 16)
    assert [token_offsets.token_of(character) for character in starts] == [0, 1, 2, 3, 4, 5]


def test_bytes_that_are_no_character_do_not_move_the_rest() -> None:
    tokenizer = TOKENIZERS["byte_level"]
    decode = decoder(tokenizer)
    broken = tokenizer.encode("日").ids[:1]
    ids = [*tokenizer.encode("a dog").ids, *broken, *tokenizer.encode(" cat").ids, *broken]
    token_offsets = offsets(ids, decode)
    text = token_offsets.text
    assert text == "a dog\ufffd cat\ufffd"
    cat = text.index("cat")
    assert token_offsets.token_of(cat) == by_definition(ids, decode, cat, text)
    assert token_offsets.ends[-1] == len(text)


def test_outside_the_text_is_none() -> None:
    empty = offsets([], lambda ids: "")
    assert empty == Offsets("", (0,), (False,))
    assert empty.written == 0
    assert align(0, 1, empty) is None
    assert align(2, 2, offsets([0], lambda ids: "dog" * len(ids))) is None


@pytest.mark.parametrize("name", TOKENIZERS)
def test_work_grows_linearly(name: str) -> None:
    tokenizer = TOKENIZERS[name]
    decoded = 0

    def decode(ids: Sequence[int]) -> str:
        nonlocal decoded
        decoded += len(ids)
        return tokenizer.decode(list(ids))

    ids = tokenizer.encode("The naïve 🐕 dog saw 日本 and a café. " * 60).ids
    offsets(ids, decode)
    assert decoded < 12 * len(ids)


def test_remembering_changes_nothing() -> None:
    tokenizer = TOKENIZERS["llama_like"]
    ids = tokenizer.encode("A hot dog saw 日本 and a café. A hot dog.").ids
    calls = 0

    def decode(some: Sequence[int]) -> str:
        nonlocal calls
        calls += 1
        return tokenizer.decode(list(some))

    kept = remembering(decode)
    assert offsets(ids, kept) == offsets(ids, decoder(tokenizer))
    before = calls
    offsets(ids, kept)
    assert calls - before < len(ids) / 2
