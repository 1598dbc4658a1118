"""Kinds, habits and comparisons; the word as a modifier inside a compound; other senses of the word."""

from __future__ import annotations

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context

PLACES = frozenset(
    "station stations stop stops park parks lot lots track tracks court courts field fields room rooms shop shops store "
    "stores yard depot dock docks garage rack racks lane lanes path paths crossing crosswalk terminal show shows market "
    "race races festival event events competition competitions ride rides game games match season parade driver drivers "
    "rider riders owner owners lover lovers trainer handler enthusiast enthusiasts fan fans practice trip tour tours pass "
    "license food bed house leash collar walker flyer flyers flying riding racing walking watching boarding skiing "
    "jumping lift lifts resort slope slopes pole poles gear equipment bowl rental".split()
)
COLOUR_NEXT = frozenset({"and", "-", ",", "in"})


def not_object(c: Context) -> str | None:
    """The words that show the mention is not the category at all, or ``None``."""
    after = c.word(c.last + 1)
    word = c.word(c.last)
    if c.category == "orange" and word == "orange" and (c.nounlike(c.last + 1) or after in COLOUR_NEXT):
        return c.quote(c.first, c.last + 1)
    if c.category == "train" and after in {"station", "stations", "tracks", "track", "platform"}:
        return c.quote(c.first, c.last + 1)
    if c.category == "person" and word in {"passenger", "pedestrian", "driver"} and c.nounlike(c.last + 1):
        return c.quote(c.first, c.last + 1)
    if c.category == "bed" and c.word(c.first - 1) in {"hay", "flower", "truck", "river", "garden"}:
        return c.quote(c.first - 1, c.last)
    return None


def generic(c: Context) -> str | None:
    """The words that make the mention generic, or ``None``."""
    after = c.word(c.last + 1)
    if after in PLACES and c.nounlike(c.last + 1) and not c.word(c.last).endswith("s"):
        return c.quote(c.first, c.last + 1)
    if after == "'s" and c.word(c.last + 2) in {"room", "restroom", "bathroom"}:
        return c.quote(c.first, c.last + 2)
    if c.word(c.governor) == "from" or c.word(c.governor) in {"preventing", "prevent", "prevents"}:
        if c.word(c.governor) != "from":
            return c.quote(c.governor, c.last)
    before = c.words[: c.start]
    if before[-1:] == ("where",) and c.own.value == "bare":
        return c.quote(c.start - 1, c.last)
    if before[-2:] == ("sign", "of") and not c.definite:
        return c.quote(c.start - 2, c.last)
    if before[-1:] == ("like",) or before[-2:] in {("similar", "to"), ("such", "as")}:
        return c.quote(c.start - 1, c.last) if not c.definite else None
    return None
