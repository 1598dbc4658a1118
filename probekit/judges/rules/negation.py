"""Denial: the mention stands in the scope of a negation."""

from __future__ import annotations

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context, Determination
from probekit.judges.rules.lexicon import words

GOVERNING = words("without lack lacks lacking lacked absence devoid minus nor neither never")
BEFORE_OF = words("lack absence devoid free empty instead none absent scarcity clear void")
CLAUSAL = words("not n't never nobody nor neither nothing without no none")
GONE = words("absent missing nowhere unseen invisible")
IN_VIEW = words(
    "visible present seen shown depicted pictured there here found included apparent evident "
    "discernible observed noticeable"
)
IMAGE = words("image picture scene photo photograph frame view sight shot")
BARRIERS = words(
    "but except however although though while whereas besides because than apart yet which who that how "
    "what whether where when if : aside"
)
WEAK = words(
    "typically usually normally often something expected only just merely simply far necessarily "
    "always solely unlike uncommon unusual common clear entirely"
)
"""After ``not`` these leave the mention asserted: ``not only a car``, ``not far from a car``."""

IDIOMS = (
    ("no", "doubt"), ("no", "more", "than"), ("no", "less", "than"), ("no", "fewer", "than"),
    ("no", "matter"),
    ("no", "wonder"), ("none", "other", "than"), ("nothing", "but"), ("no", "exception"), ("not", "as"),
)  # fmt: skip
REACH = 9
"""Words over which a negation still reaches an indefinite; run-on sentences go on much longer."""

PLENTY = words("shortage lack absence end")


def negation(c: Context) -> str | None:
    """The words that deny the mention, or ``None``."""
    return _subject_denied(c) or _determined(c) or _governed(c) or _in_clause(c)


def _subject_denied(c: Context) -> str | None:
    """``the dog is not visible``, ``people are absent``: the predicate denies that it is in view."""
    right = c.head + 1
    if c.word(right) == "'s" or c.word(c.governor) in lex.PREPOSITIONS:
        return None
    for k in range(right, min(len(c.words), right + 12)):
        word = c.word(k)
        if word in {",", "but", "and", "while"} or (c.verblike(k) and word not in lex.AUXILIARIES):
            return None
        if word in GONE and c.word(k - 1) in lex.AUXILIARIES | lex.ADVERBS:
            return c.quote(c.start, k)
        if word in {"not", "n't"} and c.word(k + 1) not in WEAK:
            end = _out_of_view(c, k + 1)
            return None if end is None else c.quote(c.start, end)
    return None


def _out_of_view(c: Context, first: int) -> int | None:
    """Where the denied predicate ends when it speaks of being in view."""
    for m in range(first, first + 4):
        if c.word(m) in IN_VIEW:
            return m
        if c.word(m) in {"in", "part"} and (c.word(m + 1) in IMAGE or c.word(m + 2) in IMAGE):
            return m + 1
        if c.word(m) == "of" and c.word(m + 2) in IMAGE:
            return m + 2
        if c.word(m) not in lex.AUXILIARIES | lex.ADVERBS | lex.PREPOSITIONS and not c.word(m).endswith("ly"):
            return None
    return None


def _determined(c: Context) -> str | None:
    """``no people``, ``no cars or [trucks]``: a negative determiner in the list of noun phrases."""
    for start, head in c.chain:
        if c.determination(start, head) is Determination.NEGATIVE:
            cue = next(k for k in range(start, head) if c.word(k) in lex.NEGATIVE_DETERMINERS)
            return None if cancelled(c, cue) else c.quote(cue, c.last)
    return None


def _governed(c: Context) -> str | None:
    """``without a car``, ``lack of cars``, ``neither a car nor a [bus]``, ``instead of a [car]``."""
    cue = c.governor
    word, before = c.word(cue), c.word(cue - 1)
    if (word in {"of", "from"} and before in BEFORE_OF and not (before == "none" and c.definite)) or (
        word == "than" and before == "rather"
    ):
        cue -= 1
    elif word not in GOVERNING:
        return None
    return None if cancelled(c, cue) else c.quote(cue, c.last)


def _in_clause(c: Context) -> str | None:
    """``is not holding a [phone]``, ``no signs of [people]``: an indefinite below a negated verb or noun.

    A definite mention is presupposed and survives (``not looking at the [dog]``), and so does one that
    stands in another clause than the negation.
    """
    if c.definite:
        return None
    listed = c.chain[-1][0]
    instance = c.words[c.start - 2 : c.start] == ("such", "as")
    for k in range(listed - 1, max(-1, listed - 1 - REACH), -1):
        word = c.word(k)
        if (word == "," and not instance) or (word in BARRIERS and word != "as"):
            return None
        if word in {"and", "or"} and (c.subject or _new_clause(c, k)):
            return None
        if word in CLAUSAL:
            narrow = word == "no" and not instance
            if narrow and any(c.word(m) in lex.DEFINITE for m in range(k, listed)):
                return None
            if word == "no" and c.word(k + 1) == "longer":
                return c.quote(k, c.last)
            return None if cancelled(c, k) else c.quote(k, c.last)
    return None


def _new_clause(c: Context, conjunction: int) -> bool:
    """Whether a subject and its verb, or a verb of its own, follow the conjunction."""
    for m in range(conjunction + 1, c.start):
        if c.word(m) in lex.FINITE or c.word(m) in {"there", "it"}:
            return True
    return False


def cancelled(c: Context, cue: int) -> bool:
    """Whether the cue denies nothing: an idiom, ``not only``, or a second negation above it."""
    if any(c.words[cue : cue + len(idiom)] == idiom for idiom in IDIOMS):
        return True
    if c.word(cue) in {"not", "n't", "never"} and c.word(cue + 1) in WEAK:
        return True
    if c.word(cue) == "no":
        inner = c.words[cue + 1 : c.start]
        if c.word(cue + 1) in PLENTY or "than" in inner or "but" in inner or "except" in inner:
            return True
    above = c.words[max(0, cue - 3) : cue]
    return any(word in {"not", "n't", "no", "never", "without"} for word in above) and "," not in above
