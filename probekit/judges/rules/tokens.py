"""The sentence around a mention, cut into words, with the way back to the characters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

WORD = re.compile(
    r"n['’]t\b"
    r"|can(?=not\b)"
    r"|['’](?:s|re|ve|ll|d|m)\b"
    r"|(?:ca|wo|[a-z]+?)(?=n['’]t\b)"
    r"|[^\W_]+"
    r"|[^\w\s]",
    re.IGNORECASE,
)
"""Words, split contractions and possessives, single punctuation marks; ``can't`` is ``ca`` and ``n't``."""

ABBREVIATIONS = frozenset({"mr", "mrs", "ms", "dr", "st", "vs", "etc", "approx", "e", "i", "g"})
CLOSING = frozenset({'"', "”", "'", "’", ")"})
"""A mark that directly follows the end of a sentence belongs to it."""

ENDS = frozenset({".", "!", "?", ";"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a text.

    Attributes:
        words: its words and marks in lower case, with ``’`` written as ``'``.
        starts, ends: character offsets of each word in the whole text.
    """

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@lru_cache(maxsize=256)
def sentences(text: str) -> tuple[Sentence, ...]:
    """Cut ``text`` into sentences at full stops, question and exclamation marks, semicolons and newlines.

    A full stop inside an abbreviation or a number does not end a sentence; one that is directly followed
    by a capital letter does, because models forget the space.
    """
    found: list[Sentence] = []
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    quoting = False

    def close() -> None:
        if words:
            found.append(Sentence(tuple(words), tuple(starts), tuple(ends)))
            words.clear()
            starts.clear()
            ends.clear()

    for match in WORD.finditer(text):
        start, end = match.span()
        if ends and "\n" in text[ends[-1] : start]:
            close()
        word = match.group().lower().replace("’", "'")
        if word == "'":
            quoting, word = _apostrophe(text, start, quoting)
        words.append(word)
        starts.append(start)
        ends.append(end)
        if words[-1] in ENDS | CLOSING and _closes(text, words, end):
            close()
    close()
    return tuple(found)


def _apostrophe(text: str, at: int, quoting: bool) -> tuple[bool, str]:
    """Whether a single quotation is open after the mark, and the word it is: ``'s`` after a plural."""
    before, after = text[at - 1 : at], text[at + 1 : at + 3]
    if quoting:
        return False, "'"
    if before.lower() == "s" and after[:1] == " " and after[1:].islower():
        return False, "'s"
    return (not before or before.isspace()) and after[:1].isalnum(), "'"


def _closes(text: str, words: list[str], end: int) -> bool:
    """Whether the mark that was just read ends its sentence."""
    if words[-1] in CLOSING:
        return len(words) > 1 and words[-2] in ENDS
    following = text[end : end + 1]
    if following and following in "\"”'’)":
        return False
    if words[-1] != ".":
        return True
    if following and not following.isspace() and not following.isupper():
        return False
    return not (len(words) > 1 and words[-2] in ABBREVIATIONS)
