"""What something in the scene is for, ready for or waiting for."""

from __future__ import annotations

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context

EXPERIENCED = frozenset(
    "enjoyable engaging exciting fun memorable challenging pleasant thrilling interesting entertaining exhilarating "
    "experience moment challenge backdrop".split()
)
INTENSIONAL = frozenset(
    "waiting wait waits waited looking look searching search searches hoping asking calling expecting expect anticipating "
    "anticipate awaiting await awaits seeking".split()
)
NOT_FOR = frozenset({"except", "as", "care", "cares", "caring", "reaching", "known", "reach", "reaches"})
ENABLE = frozenset(
    "allow allows allowing enable enables enabling accommodate accommodates accommodating invite invites inviting "
    "attract attracts attracting encourage encourages encouraging".split()
)
READY = frozenset("ready prepared preparing prepares prepare about waiting eager poised set getting".split())
MEANT = frozenset("designed meant intended used reserved suitable dedicated".split())


def purpose(context: Context) -> str | None:
    """The words that make the mention a purpose, or ``None``."""
    c = context
    return _for(c) or _intensional(c) or _enabled(c) or _ready_to(c) or _so_that(c)


def _for(c: Context) -> str | None:
    k = c.governor
    if c.word(k) != "for" or c.word(c.head + 1) == "'s":
        return None
    if c.word(k - 1) in NOT_FOR or any(c.word(m) in EXPERIENCED for m in range(max(0, k - 2), k)):
        return None
    return c.quote(k - 1, c.last)


def _intensional(c: Context) -> str | None:
    k = c.governor
    if c.word(k) in {"expecting", "awaiting", "anticipating", "seeking", "awaits", "await"}:
        return c.quote(k, c.last)
    return None


def _enabled(c: Context) -> str | None:
    k = c.governor
    if c.word(k) in ENABLE and not c.definite:
        return c.quote(k, c.last)
    return None


def _ready_to(c: Context) -> str | None:
    """``ready to catch the [ball]``, ``preparing to hit a [ball]``, ``waiting to board a [bus]``."""
    for k in range(c.chain[-1][0] - 1, max(-1, c.chain[-1][0] - 6), -1):
        if c.word(k) in {",", "and", "while"}:
            return None
        if c.word(k) == "to" and c.word(k - 1) in READY | MEANT:
            return c.quote(k - 1, c.last)
        if c.word(k) == "for" and c.word(k + 1).endswith("ing"):
            return c.quote(k, c.last)
        if c.word(k) == "for" and not c.definite:
            return c.quote(k, c.last)
    return None


def _so_that(c: Context) -> str | None:
    before = c.words[max(0, c.start - 2) : c.start]
    if before in {("so", "that"), ("where", "")} and not c.definite:
        return c.quote(c.start - 2, c.last)
    return None
