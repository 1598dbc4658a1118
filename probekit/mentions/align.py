"""Which generated tokens wrote which characters (SPEC 0.8). Only ids and a decoder; no tokenizer is imported.

Characters are counted by decoding prefixes of the generated ids; text is never tokenised anew, since encoding
is not the inverse of decoding, and offsets that tokenizers report can be empty or start at a blank.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

Decode = Callable[[Sequence[int]], str]
"""Token ids to text, special tokens left out."""

INCOMPLETE = "\ufffd"
"""What decoders print for the first bytes of a character whose other bytes are still to come."""

_SHORT = 3
"""Longest window of tokens worth keeping: one token settled, one or two more."""


@dataclass(frozen=True)
class Offsets:
    """Characters settled by each prefix of the token ids.

    Attributes:
        text: the decoded text.
        ends: ``ends[k]`` characters of `text` are final after ``k`` tokens; length T + 1, never falling.
        pending: ``pending[k]``: the first ``k`` tokens end inside a character.
    """

    text: str
    ends: tuple[int, ...]
    pending: tuple[bool, ...]

    def token_of(self, character: int) -> int:
        """Index of the first token that wrote part of a character.

        A character whose bytes are spread over several tokens belongs, at its start, to the first of them.
        """
        token = bisect_right(self.ends, character) - 1
        while token > 0 and self.pending[token] and self.ends[token] == character:
            token -= 1
        return token

    def token_completing(self, character: int) -> int:
        """Index of the token after which a character is whole."""
        return bisect_right(self.ends, character) - 1

    @property
    def written(self) -> int:
        """Tokens up to and including the last one that wrote a character; an end marker is not among them."""
        return 0 if not self.text else self.token_completing(len(self.text) - 1) + 1


def remembering(decode: Decode) -> Decode:
    """A decoder that keeps its answers to short windows; captions share most of theirs."""
    short = lru_cache(maxsize=1 << 17)(lambda ids: decode(list(ids)))
    return lambda ids: short(tuple(ids)) if len(ids) <= _SHORT else decode(ids)


def offsets(token_ids: Sequence[int], decode: Decode) -> Offsets:
    """Character offsets of generated tokens.

    Decodes short windows, the way streaming decoders do, so that the work grows linearly with the tokens.
    When the windows do not add up to the decoded whole (a decoder that rewrites what it has already printed),
    every prefix is decoded instead.
    """
    text = decode(token_ids)
    return _by_windows(token_ids, decode, text) or _by_prefixes(token_ids, decode, text)


def align(start: int, end: int, token_offsets: Offsets) -> tuple[int, int] | None:
    """Token span of the characters ``[start, end)`` of the decoded text.

    Returns:
        ``(t*, last)``, both inclusive: the token that covers the first character and the one that covers the
        last. A merged token that covers several words is taken. ``None`` when the span lies outside the text.
    """
    if not 0 <= start < end <= len(token_offsets.text):
        return None
    return token_offsets.token_of(start), token_offsets.token_completing(end - 1)


def _by_windows(ids: Sequence[int], decode: Decode, text: str) -> Offsets | None:
    """Offsets from windows that begin one settled step back; ``None`` when they disagree with `text`."""
    ends, pending = [0], [False]
    settled = 0
    left = read = 0
    before = ""
    for count in range(1, len(ids) + 1):
        window = decode(ids[left:count])
        if not window.startswith(before):
            if not window.endswith(INCOMPLETE):
                return None
            # Byte-fallback decoders spoil the whole run of bytes while its last character is unfinished.
            ends.append(settled)
            pending.append(True)
            continue
        fresh = window[len(before) :]
        whole = fresh.rstrip(INCOMPLETE)
        if text[settled : settled + len(whole)] != whole:
            return None
        ends.append(settled + len(whole))
        pending.append(len(whole) < len(fresh))
        if fresh and len(whole) == len(fresh):
            settled += len(fresh)
            left, read = read, count
            before = decode(ids[left:read])
    return Offsets(text, tuple(ends), tuple(pending)) if ends[-1] == len(text) else None


def _by_prefixes(ids: Sequence[int], decode: Decode, text: str) -> Offsets:
    """Offsets from decoding every prefix, at a cost that grows with the square of the tokens."""
    ends, pending = [0], [False]
    for count in range(1, len(ids) + 1):
        prefix = decode(ids[:count])
        agreed = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(prefix, text, strict=False)))
        ends.append(len(text) if count == len(ids) else max(ends[-1], agreed))
        pending.append(agreed < len(prefix) and prefix.endswith(INCOMPLETE))
    return Offsets(text, tuple(ends), tuple(pending))
