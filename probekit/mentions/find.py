"""Every occurrence of a vocabulary's objects in a text, with exact character spans."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from probekit.mentions.phrases import WORD, Phrase
from probekit.mentions.vocabulary import Vocabulary

_GAP = re.compile(r"[ \t\u00a0]*[-\u2010\u2011]?[ \t\u00a0]*\n?[ \t]*|['\u2019]")
"""What may stand between two words of one expression: blanks, one line break, a hyphen, an apostrophe."""

_LONGEST_GAP = 8


@dataclass(frozen=True, slots=True)
class Found:
    """One occurrence of an object word.

    Attributes:
        start: first character of the object word in the text.
        end: one past its last character.
        surface: the text between them, as written.
        category: the object category.
    """

    start: int
    end: int
    surface: str
    category: str


@dataclass(frozen=True, slots=True)
class OtherSense:
    """An object word that is not the object here: a compound or another meaning.

    Attributes:
        start: first character of the word.
        end: one past its last character.
        surface: the word as written.
        category: the category the word would otherwise stand for.
        expression: the expression that decided it.
    """

    start: int
    end: int
    surface: str
    category: str
    expression: str


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int


def find(text: str, vocabulary: Vocabulary) -> tuple[Found, ...]:
    """Occurrences in reading order; each is its own mention. Case does not matter.

    Time grows linearly with the text.
    """
    if vocabulary.rules != "longest":
        from probekit.mentions.chair_rules import find_as_chair

        return find_as_chair(text, vocabulary)
    return tuple(hit for hit in _scan(text, vocabulary) if isinstance(hit, Found))


def other_senses(text: str, vocabulary: Vocabulary) -> tuple[OtherSense, ...]:
    """Object words that a blocker hides, in reading order."""
    if vocabulary.rules != "longest":
        return ()
    return tuple(hit for hit in _scan(text, vocabulary) if isinstance(hit, OtherSense))


def _scan(text: str, vocabulary: Vocabulary) -> Iterator[Found | OtherSense]:
    words = [_Word(m.group().lower(), m.start(), m.end()) for m in WORD.finditer(text)]
    table = vocabulary.by_first_word
    place = 0
    while place < len(words):
        candidates = table.get(words[place].text, ())
        match = next((entry for entry in candidates if _matches(text, words, place, entry[0])), None)
        if match is None:
            place += 1
            continue
        phrase, category = match
        if category is not None:
            start, end = words[place + phrase.first].start, words[place + phrase.last].end
            yield Found(start, end, text[start:end], category)
        else:
            yield from _hidden(text, words[place : place + len(phrase.words)], phrase, vocabulary)
        place += len(phrase.words)


def _hidden(text: str, words: list[_Word], blocker: Phrase, vocabulary: Vocabulary) -> Iterator[OtherSense]:
    """The object words inside a blocker, the longest first at each place."""
    place = 0
    while place < len(words):
        for phrase, category in vocabulary.by_first_word.get(words[place].text, ()):
            if category is not None and _matches(text, words, place, phrase):
                start, end = words[place + phrase.first].start, words[place + phrase.last].end
                yield OtherSense(start, end, text[start:end], category, blocker.surface)
                place += len(phrase.words) - 1
                break
        place += 1


def _matches(text: str, words: list[_Word], place: int, phrase: Phrase) -> bool:
    if place + len(phrase.words) > len(words):
        return False
    for offset in range(1, len(phrase.words)):
        if words[place + offset].text != phrase.words[offset]:
            return False
        low, high = words[place + offset - 1].end, words[place + offset].start
        if high - low > _LONGEST_GAP or _GAP.fullmatch(text, low, high) is None:
            return False
    return True
