"""Kinds, habits, conditions and comparisons: the text speaks of such things, not of one that is there."""

from __future__ import annotations

from probekit.judges.rules.context import Context, Determination
from probekit.judges.rules.lexicon import words

PREVENT = words("prevent prevents preventing avoid avoids avoiding deter deters deterring discourage")
HABITUAL = words("often usually typically commonly generally frequently normally regularly sometimes")
COMPARED = (
    ("like",), ("similar", "to"), ("reminiscent", "of"), ("size", "of"), ("unlike",), ("akin", "to"),
    ("popular", "among"), ("popular", "with"), ("sign", "of"), ("symbol", "of"), ("typical", "of"),
    ("characteristic", "of"), ("passion", "for"), ("love", "of"), ("as", "if"),
)  # fmt: skip
ASKING = words("is are does do can has have could")
DUTY = words(
    "important essential advisable necessary crucial possible vital common best recommended unusual rare"
)


def generic(c: Context) -> str | None:
    """The words that make the mention generic, or ``None``."""
    if c.definite:
        return None
    return _compared(c) or _kept_away(c) or _habit(c) or _duty(c) or _condition(c)


def _compared(c: Context) -> str | None:
    before = c.words[: c.chain[-1][0]]
    for phrase in COMPARED:
        if before[-len(phrase) :] == phrase:
            if phrase == ("like",) and before[-2:-1] and before[-2] in {"looks", "look", "would", ","}:
                continue
            return c.quote(c.chain[-1][0] - len(phrase), c.last)
    if before[-1:] == ("by",) and c.own is Determination.BARE and c.word(c.last) in {
        "train", "bus", "car", "boat", "bike", "bicycle", "plane", "truck",
    }:  # fmt: skip
        return c.quote(c.start - 1, c.last)
    return None


def _kept_away(c: Context) -> str | None:
    """``preventing [motorcycles] from entering``."""
    mark = c.governor
    return c.quote(mark, c.last) if c.word(mark) in PREVENT else None


def _habit(c: Context) -> str | None:
    """``a place where [people] gather``, ``[people] often meet here``."""
    after = c.word(c.head + 1)
    progressive = after in {"are", "is", "were"} and c.word(c.head + 2).endswith("ing")
    happening = progressive or after in {"have", "has", "had"}
    if c.own is not Determination.BARE or happening:
        return None
    if c.word(c.start - 1) == "where":
        return c.quote(c.start - 1, c.last)
    if after in HABITUAL:
        return c.quote(c.start, c.head + 1)
    mark = c.governor
    if c.word(mark) == "by" and any(c.word(k) in HABITUAL for k in range(max(0, mark - 3), mark)):
        return c.quote(mark - 2, c.last)
    return None


def _duty(c: Context) -> str | None:
    """``it is advisable for [drivers] to slow down``, ``it is not common to see a [cat] here``."""
    mark = c.governor
    if c.word(mark) == "for" and c.word(mark - 1) in DUTY:
        return c.quote(mark - 1, c.last)
    for k in range(max(0, c.start - 6), c.start):
        if c.words[k : k + 2] in {("common", "to"), ("unusual", "to"), ("rare", "to"), ("uncommon", "to")}:
            return c.quote(k, c.last)
    return None


def _condition(c: Context) -> str | None:
    """``if a [car] comes``."""
    before = c.word(c.start - 1)
    if before in {"if", "whenever"} and c.word(c.start - 2) != "as":
        return c.quote(c.start - 1, c.last)
    return None


def asked(c: Context) -> str | None:
    """The question when the sentence asks if there is such a thing, which neither claims nor denies it."""
    opens = 2 if c.word(1) == ":" else 0
    asks = (
        c.words[-1] == "?"
        and not c.definite
        and not c.subject
        and c.word(opens) in ASKING
        and c.word(opens + 1) in {"there", "you", "the", "this", "any", "a", "an"}
    )
    return c.quote(opens, c.last) if asks else None
