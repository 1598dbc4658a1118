"""Uncertainty about the object itself, not about its kind, place or activity."""

from __future__ import annotations

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context

EXISTENCE = frozenset("visible present seen nearby around there here in on at near behind".split())
STATES = frozenset("equipped furnished decorated stocked filled set covered topped".split())
UNSURE = frozenset("unclear uncertain unsure possible possibility unknown".split())


def hedge(context: Context) -> str | None:
    """The words that make the object's existence uncertain, or ``None``."""
    c = context
    return (
        _what_may_be(c)
        or _adverb(c)
        or _subject_modal(c)
        or _below_hedge(c)
        or _disjunction(c)
        or _looks_like(c)
    )


def same_kind(c: Context, limit: int) -> bool:
    """Whether the object's own category is already named in the sentence before word ``limit``."""
    own = {c.word(c.last).rstrip("s")} | set(c.category.split()[-1:])
    for k in range(min(limit, len(c.words))):
        word = c.word(k)
        if c.category == "person" and word in lex.PERSON_WORDS:
            return True
        if word in own or word.rstrip("s") in own:
            return True
    return False


def _additive(c: Context) -> bool:
    return any(
        c.word(k) in {"another", "other", "more", "additional", "second"} for k in range(c.start, c.first)
    )


def _what_may_be(c: Context) -> str | None:
    """``what appears to be a [dog]``, ``what could be a [bench]``."""
    before = c.words[: c.chain[-1][0]]
    for k in range(len(before) - 1, max(-1, len(before) - 6), -1):
        if before[k] in {"what", "something"} and len(before) > k + 1:
            after = before[k + 1]
            if after in lex.MODALS | lex.SEEM or after in {"looks", "look", "looked"}:
                return c.quote(k, c.last)
            if after == "that" and k + 2 < len(before) and before[k + 2] in lex.MODALS | lex.SEEM | {"looks"}:
                return c.quote(k, c.last)
    return None


def _adverb(c: Context) -> str | None:
    """``possibly a [bird]``: the adverb stands at the noun phrase."""
    for start, _ in c.chain:
        k = start - 1
        while c.word(k) in lex.ADVERBS and c.word(k) not in lex.HEDGE_ADVERBS:
            k -= 1
        if c.word(k) in lex.HEDGE_ADVERBS:
            if c.definite or (c.subject and c.word(k - 1) == "," and False):
                return None
            joined = c.word(k - 1) in {"and", "or"} or _additive(c)
            if not joined and same_kind(c, k):
                return None
            return c.quote(k, c.last)
        if c.word(k) not in {"or", "and", ","}:
            break
    return None


def _subject_modal(c: Context) -> str | None:
    """``a [bench] might be on the left``: the object's being there is what is uncertain."""
    if c.definite:
        return None
    k = c.head + 1
    if c.word(k) in lex.MODALS | lex.SEEM:
        rest = c.words[k + 1 : k + 5]
        while rest and rest[0] in {"also", "to", "be", "possibly"}:
            if rest[0] == "be" and len(rest) > 1 and rest[1] in EXISTENCE:
                return c.quote(c.start, k + 2)
            rest = rest[1:]
    return None


def _below_hedge(c: Context) -> str | None:
    """``appears to be holding a [phone]``, ``there may be a [cat]``: introduced only under the hedge."""
    if c.definite:
        return None
    nominal = False
    for k in range(c.chain[-1][0] - 1, -1, -1):
        word = c.word(k)
        if word in {",", ":", "but", "while", "for", "where", "who", "because", "as"} or (
            word == "that" and c.word(k - 1) != "possible"
        ):
            return None
        if word in {"and", "or"} and c.subject:
            return None
        if word in {"with", "in", "on", "at"} and (c.nounlike(k - 1) or c.word(k - 1) in STATES):
            nominal = True
        if word in lex.MODALS | lex.SEEM | lex.HEDGE_ADVERBS:
            if nominal or c.subject:
                return None
            copular = all(
                c.word(m) in {"to", "be", "also"} | lex.ADVERBS for m in range(k + 1, c.chain[-1][0])
            )
            there = c.word(k - 1) == "there" or c.word(k - 1) in {"there"}
            if copular and not there and not _additive(c) and same_kind(c, k):
                return None
            if word in lex.MODALS and c.word(k + 1) in {"have", "also"} and c.word(k + 2) == "been":
                return None
            return c.quote(k, c.last)
        if word in lex.FINITE and word not in {"do", "does"}:
            return None
    return None


def _disjunction(c: Context) -> str | None:
    """``a truck or a [bus]``: one of them, and the text does not say which."""
    if c.definite:
        return None
    k = c.start - 1
    if c.word(k) == "or" and c.nounlike(k - 1) and c.own.value == "indefinite":
        start = c.phrase_start(k - 1)
        if any(c.word(m) in {"a", "an"} for m in range(start, k)) and not same_kind(c, k):
            return c.quote(start, c.last)
    k = c.head + 1
    if c.word(k) == "or" and c.own.value == "indefinite" and c.word(c.start) in {"a", "an"}:
        end = k + 1
        while c.word(end) in lex.DETERMINERS or (c.nounlike(end) and c.nounlike(end + 1)):
            end += 1
        if c.category == "person" and c.word(end) in lex.PERSON_WORDS:
            return None
        if c.nounlike(end):
            return c.quote(c.start, end)
    return None


def _looks_like(c: Context) -> str | None:
    before = c.words[: c.start]
    if before[-2:] in {("looks", "like"), ("look", "like")} and before[-3:-2] != ("to",):
        return c.quote(c.start - 2, c.last)
    return None
