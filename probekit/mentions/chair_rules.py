"""The published CHAIR metric's reading of a caption, with spans of the original text (SPEC 3.1).

Lower-case, Penn Treebank tokens, singular of each token, greedy merge of neighbouring pairs, the toilet seat
rule, look-up in the object list. The tokens come from NLTK and the singulars from TextBlob's port of pattern,
because the published counts follow their rules to the letter: ``bus`` loses its s and is never found; nor is
a word before a full stop inside the caption, since only the caption's last full stop is split off.
"""

from dataclasses import dataclass
from functools import lru_cache

from probekit.mentions.find import Found
from probekit.mentions.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class _Item:
    """A token or a merged pair: what it is read as, and the characters that say so."""

    reading: str
    start: int
    end: int


def find_as_chair(text: str, vocabulary: Vocabulary) -> tuple[Found, ...]:
    """Mentions in reading order, exactly those the published metric counts.

    The published code loses track of positions once it drops a "seat"; these spans are the words' own. Of a
    pair that is read as one of its words (``baby bird``, ``toilet seat``) the span is that word.
    """
    items = _merged(_tokens(text, sentences=vocabulary.rules == "chair-sentences"), vocabulary)
    readings = {item.reading for item in items}
    if {"toilet", "seat"} <= readings:
        items = [item for item in items if item.reading != "seat"]
    return tuple(
        Found(item.start, item.end, text[item.start : item.end], vocabulary.forms[item.reading])
        for item in items
        if item.reading in vocabulary.forms
    )


def _merged(tokens: list[_Item], vocabulary: Vocabulary) -> list[_Item]:
    items: list[_Item] = []
    place = 0
    while place < len(tokens):
        both = tokens[place : place + 2]
        pair = " ".join(token.reading for token in both)
        reading = vocabulary.pairs.get(pair)
        if reading is None:
            items.append(tokens[place])
            place += 1
            continue
        if pair not in vocabulary.forms:
            both = [token for token in both if token.reading == reading] or both
        items.append(_Item(reading, both[0].start, both[-1].end))
        place += 2
    return items


def _tokens(text: str, *, sentences: bool) -> list[_Item]:
    """Singular tokens with their characters in ``text``."""
    lower = _lower(text)
    if not sentences:
        return _located(_treebank(lower), lower, 0, len(lower))
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    items: list[_Item] = []
    for start, end in PunktSentenceTokenizer().span_tokenize(lower):
        items += _located(_treebank(lower[start:end]), lower, start, end)
    return items


def _treebank(text: str) -> list[str]:
    from nltk.tokenize import TreebankWordTokenizer

    # Runs of blanks make the tokenizer's patterns quadratic, and its tokens never contain one.
    return [str(token) for token in TreebankWordTokenizer().tokenize(" ".join(text.split()))]


def _located(tokens: list[str], text: str, start: int, end: int) -> list[_Item]:
    """Tokens are pieces of the text in order, except that double quotes are rewritten."""
    items: list[_Item] = []
    for token in tokens:
        written = '"' if token in ("``", "''") and not _follows(text, token, start) else token
        at = text.find(written, start, end)
        if at < 0:
            continue
        start = at + len(written)
        items.append(_Item(_singular(token), at, start))
    return items


def _follows(text: str, token: str, start: int) -> bool:
    """Whether ``token`` is the next thing in ``text`` that is not a blank."""
    while start < len(text) and text[start].isspace():
        start += 1
    return text.startswith(token, start)


@lru_cache(maxsize=65536)
def _singular(word: str) -> str:
    from textblob.en.inflect import singularize

    return str(singularize(word))


def _lower(text: str) -> str:
    """Lower case with the same number of characters, so that spans stay true."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(one if len(one.lower()) != 1 else one.lower() for one in text)
