"""How a caption of the grammar uses a mention: asserted, or one of four ways of not asserting."""

import re
from typing import Literal

UsageName = Literal["existential", "hedged", "negation", "purpose", "depictive"]

_NEGATION = re.compile(r"\bno\b", re.IGNORECASE)
_DEPICTIVE = re.compile(r"\b(?:poster|picture|painting) of\b", re.IGNORECASE)
_HEDGE = re.compile(r"\b(?:possibly|perhaps|may be|might be|could be)\b", re.IGNORECASE)
_PURPOSE = re.compile(r"\bfor\b", re.IGNORECASE)


def sentence_at(text: str, start: int) -> tuple[int, int]:
    """Return the (start, end) characters of the sentence that holds character `start`."""
    begin = text.rfind(". ", 0, start)
    end = text.find(". ", start)
    return (0 if begin < 0 else begin + 2, len(text) if end < 0 else end + 1)


def usage_of(text: str, start: int, end: int) -> UsageName:
    """Return how the mention `text[start:end]` is used.

    Exact for every caption and answer of the grammar. Text that a model wrote is judged by the
    same signs: a denial, a `poster of` or a `for` before the mention in its sentence, a hedge
    anywhere in it.

    Raises:
        ValueError: the span is empty or outside the text.
    """
    if not 0 <= start < end <= len(text):
        raise ValueError(f"span {start}:{end} is not inside a text of {len(text)} characters")
    first, last = sentence_at(text, start)
    before, sentence = text[first:start], text[first:last]
    if _NEGATION.search(before):
        return "negation"
    if _DEPICTIVE.search(before):
        return "depictive"
    if _HEDGE.search(sentence):
        return "hedged"
    if _PURPOSE.search(before):
        return "purpose"
    return "existential"
