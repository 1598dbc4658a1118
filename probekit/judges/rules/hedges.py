"""Uncertainty about the object itself, not about its kind, place or activity."""

from __future__ import annotations

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context, Determination
from probekit.judges.rules.lexicon import words
from probekit.judges.rules.purpose import ENABLING

THERE = words("visible present seen nearby around there here in on at near behind under inside among")
STATES = words("equipped furnished decorated stocked filled set covered topped adorned lined")
COPULAR = words(
    "to be been also a an the some type kind sort form part piece made up composed consisting of or "
    "close - up"
)
LINKING = lex.MODALS | lex.SEEM | words("looks look looked like to be either")
SCENE = words("scene atmosphere setting image picture photo area location place event room occasion mood")
"""Of these a hedge gives a description; the people and things inside the description are there."""

PURPOSIVE = ENABLING | words(
    "for hoping ready prepared preparing waiting used designed meant intended prevent prevents preventing"
)
ENDS_SCOPE = PURPOSIVE | words(", : but while where when who because as which")
NESTING = lex.PREPOSITIONS - words("of for as like including than")
"""After a noun these hang the mention on it instead of on the hedge."""

REACH = 12
"""Words over which a hedge still reaches an indefinite."""

UNKNOWN = words("likely unclear uncertain unsure unknown possible conceivable plausible")


def hedge(c: Context) -> str | None:
    """The words that make the object's existence uncertain, or ``None``."""
    return (
        _what_may_be(c) or _adverb(c) or _subject_modal(c) or _below(c) or _alternative(c) or _looks_like(c)
    )


def already_named(c: Context, before: int) -> bool:
    """Whether the category is named earlier in the sentence, so that only its kind is in doubt."""
    own = lex.KIN.get(c.category, frozenset()) | {c.word(c.last), c.category}
    if c.category == "person":
        own |= {"he", "she"}
    named = c.words[:before]
    if named[:1] in {("it",), ("they",), ("this",), ("these",)} and c.before:
        named = (*c.before[-1].words, *named)
    return any(_stem(word) in own or word in own or _ends(word, c.category) for word in named)


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _ends(word: str, category: str) -> bool:
    return len(word) > len(category) + 2 and word.endswith(category)


def _additional(c: Context, hedge_at: int) -> bool:
    """``and possibly a [truck]``, ``possibly another [person]``: something besides what was named."""
    inside = c.words[c.start : c.first]
    joined = c.word(hedge_at - 1) in {"and", "or"} and c.word(hedge_at) in lex.HEDGE_ADVERBS
    if "another" in inside or joined or "there" in c.words[max(0, hedge_at - 2) : hedge_at]:
        return True
    if not {"other", "more", "additional", "multiple"} & set(inside):
        return False
    clause = c.words[:hedge_at][-8:]
    return not any(
        word in lex.KIN.get(c.category, {c.category}) for word in clause if word not in lex.PRONOUNS
    )


def _what_may_be(c: Context) -> str | None:
    """``what appears to be a [dog]``, ``something that looks like a [dog]``."""
    edge = c.chain[-1][0]
    for k in range(edge - 1, max(-1, edge - 8), -1):
        if c.word(k) not in {"what", "something", "object", "figure", "shape"}:
            continue
        verb = k + 2 if c.word(k + 1) in {"that", "which"} else k + 1
        if any(c.word(m) not in LINKING and c.word(m) not in lex.ADVERBS for m in range(verb, edge)):
            continue
        if c.word(verb) in lex.MODALS | lex.SEEM or (
            c.word(verb) in {"looks", "look", "looked"} and c.word(verb + 1) == "like"
        ):
            return c.quote(k, c.last)
    return None


def _adverb(c: Context) -> str | None:
    """``possibly a [bird]``: the adverb stands at the noun phrase, or at the list that holds it."""
    if c.definite:
        return None
    for start, _ in c.chain:
        k = start - 1
        while c.word(k) in lex.ADVERBS and c.word(k) not in lex.HEDGE_ADVERBS:
            k -= 1
        if c.word(k) in lex.HEDGE_ADVERBS:
            if not _additional(c, k) and already_named(c, k):
                return None
            return c.quote(k, c.last)
    return None


def _subject_modal(c: Context) -> str | None:
    """``a [bench] might be on the left``: its being there is what is uncertain."""
    k = c.head + 1
    if c.definite or c.word(k) not in lex.MODALS | lex.SEEM | {"would"}:
        return None
    rest = k + 1
    while c.word(rest) in {"also", "to", "possibly", "well"}:
        rest += 1
    if c.word(rest) != "be" or c.word(rest + 1) not in THERE:
        return None
    if c.word(k) in lex.SEEM and c.word(rest + 1) not in {"visible", "present", "there"}:
        return None
    return c.quote(c.start, rest + 1)


def _below(c: Context) -> str | None:
    """``appears to be holding a [phone]``, ``there may be a [cat]``: introduced only under the hedge.

    A definite mention is presupposed. One that hangs on a noun inside the hedged phrase (``appears to be a
    kitchen with a [sink]``) is asserted of a place whose kind alone is in doubt.
    """
    if c.definite or c.word(c.head + 1) == "'s":
        return None
    edge = c.chain[-1][0]
    nested = False
    for k in range(edge - 1, max(-1, edge - 1 - REACH), -1):
        word = c.word(k)
        if word in ENDS_SCOPE:
            return None
        if word == "that" and c.word(k - 1) not in UNKNOWN:
            return None
        if word in {"and", "or"} and c.subject:
            return None
        if word in NESTING and (c.nounlike(k - 1) or c.word(k - 1) in STATES):
            nested = True
        if word in UNKNOWN and c.word(k + 1) in {"that", "whether", "if"}:
            return c.quote(k, c.last)
        if word in lex.MODALS | lex.SEEM | lex.HEDGE_ADVERBS:
            if nested or c.subject or (word == "likely" and c.word(k + 1) == "to"):
                return None
            kind = not any(
                (c.word(m) in lex.PREPOSITIONS and c.word(m) not in COPULAR)
                or (c.verblike(m) and c.word(m) not in COPULAR)
                for m in range(k + 1, edge)
            )
            copular = kind and (c.word(k + 1) in {"to", "be"} or word in lex.HEDGE_ADVERBS)
            if copular and not _additional(c, k) and already_named(c, k):
                return None
            if copular and c.word(edge - 1) == "of" and c.word(k - 1) in SCENE:
                return None
            return c.quote(k, c.last)
        if (
            word in lex.FINITE
            and word not in {"do", "does"}
            and c.word(k - 1) not in {"there", "to"} | lex.MODALS
        ):
            return None
    return None


def _alternative(c: Context) -> str | None:
    """``a truck or a [bus]``: one of them, and the text does not say which."""
    if c.own is not Determination.INDEFINITE and len(c.chain) == 1:
        return None
    if c.definite or c.word(c.governor) in {"for", "of"} or c.category == "person":
        return None
    if _purposive(c):
        return None
    k = c.start - 1
    if c.word(k) == "or" and c.nounlike(k - 1):
        start = c.phrase_start(k - 1)
        if c.word(start) in {"a", "an"} and not already_named(c, k):
            return c.quote(start, c.last)
        return None
    k = c.head + 1
    if c.word(k) == "or" and c.word(c.start) in {"a", "an"}:
        end = k + 1
        while c.word(end) in lex.DETERMINERS or (c.nounlike(end) and c.nounlike(end + 1)):
            end += 1
        if c.nounlike(end) and c.word(end) not in lex.KIN.get(c.category, frozenset()):
            return c.quote(c.start, end)
    return None


def _purposive(c: Context) -> bool:
    """Whether the phrase is governed by what something is for: the alternatives then are purposes."""
    for k in range(c.chain[-1][0] - 1, -1, -1):
        if c.word(k) in PURPOSIVE:
            return True
        if c.word(k) == "," or c.word(k) in lex.FINITE:
            return False
    return False


def _looks_like(c: Context) -> str | None:
    """``it looks like a [dog]``."""
    before = c.words[: c.start]
    if c.word(c.head + 1) == "'s":
        return None
    if before[-2:] in {("looks", "like"), ("look", "like"), ("looked", "like")} and not c.definite:
        return None if already_named(c, c.start) else c.quote(c.start - 2, c.last)
    return None
