"""What something in the scene is for, ready for or waiting for."""

from __future__ import annotations

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context
from probekit.judges.rules.lexicon import words

EXPERIENCED = words(
    "enjoyable engaging exciting fun memorable challenging pleasant thrilling interesting entertaining "
    "delightful exhilarating experience experiences moment moments challenge excitement "
    "enjoyment joy thrill affection love care concern except as cares caring known important essential "
    "advisable necessary crucial vital recommended"
)
"""Before ``for``: what someone merely lives through, and what is not a purpose at all."""

LIVED = words("moment moments experience experiences")
REACHING = words("reaching reach reaches going heading")
SOUGHT = words("expecting awaiting anticipating seeking awaits await awaited anticipates expects")
ENABLING = words(
    "allow allows allowing enable enables enabling accommodate accommodates accommodating invite "
    "invites inviting attract attracts attracting encourage encourages encouraging help helps helping "
    "remind reminds reminding warn warns warning guide guides guiding alert alerts alerting serve "
    "serves serving entice entices enticing"
)
READY = words("hoping ready prepared preparing prepares prepare waiting waits wait eager poised about")
MEANT = words("designed meant intended used")
SERVED = words("visitors customers spectators passengers guests people pedestrians drivers viewers")


def purpose(c: Context) -> str | None:
    """The words that make the mention a purpose, or ``None``."""
    return _for(c) or _sought(c) or _enabled(c) or _infinitive(c) or _so_that(c)


def _for(c: Context) -> str | None:
    """``a bench for [people]``, ``waiting for the [bus]``; a possessor is not what a thing is for."""
    k = c.governor
    if c.word(k) != "for" or c.word(c.head + 1) == "'s":
        return None
    if c.word(k - 1) in EXPERIENCED or (c.word(k - 1) in REACHING and c.definite):
        return None
    back = k - 1
    while c.word(back) in {"of", "and"} or c.nounlike(back) or c.word(back).endswith("ing"):
        back -= 1
    if any(c.word(m) in LIVED and c.word(m + 1) == "of" for m in range(back, k)):
        return None
    return c.quote(k - 1, c.last)


def _sought(c: Context) -> str | None:
    """Objects of intensional verbs: ``expecting a [train]``."""
    k = c.governor
    return c.quote(k, c.last) if c.word(k) in SOUGHT and c.word(c.head + 1) != "'s" else None


def _enabled(c: Context) -> str | None:
    """``allowing [passengers] to board``: those whom the thing is there to serve."""
    k = c.governor
    if c.word(k) not in ENABLING or c.definite:
        return None
    infinitive = c.word(c.head + 1) == "to" or c.word(k).startswith(("accommodat", "attract", "invit"))
    return c.quote(k, c.last) if infinitive or c.word(c.last) in SERVED else None


def _infinitive(c: Context) -> str | None:
    """``ready to catch the [ball]``, ``used for cutting the [cake]``, ``for people to ride [bikes]``.

    Only the verb's own object: what follows with a preposition is where or with what it happens.
    """
    edge = c.chain[-1][0]
    if any(word in lex.POSSESSIVE for word in c.words[c.start : c.first]):
        return None
    through = False
    for k in range(edge - 1, max(-1, edge - 9), -1):
        word = c.word(k)
        if word in {",", "while", "and", "or", "which", "that"} and k != edge - 1:
            return None
        if word == "for":
            gerund = c.word(k + 1).endswith("ing") and c.verblike(k + 1)
            if (gerund and not through) or (not c.definite and "to" in c.words[k:edge]):
                return c.quote(k, c.last)
            return None
        if word == "to" and c.word(k + 1) not in lex.DETERMINERS:
            passive = c.word(k + 1) == "be" and c.word(edge - 1) == "by"
            if passive and not c.definite:
                return c.quote(k, c.last)
            if c.word(k - 1) in READY | MEANT and not through:
                return c.quote(k - 1, c.last)
        if word in {"with", "on", "in", "at", "near", "from", "into", "onto", "towards", "by"}:
            through = True
    return None


def _so_that(c: Context) -> str | None:
    """``so that [people] can sit``."""
    if c.definite or c.words[max(0, c.start - 2) : c.start] != ("so", "that"):
        return None
    return c.quote(c.start - 2, c.last)
