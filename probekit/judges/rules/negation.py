"""Denial: the mention stands in the scope of a negation."""

from __future__ import annotations

from probekit.judges.rules import lexicon as lex
from probekit.judges.rules.context import Context, Determination

PREPOSITIONAL = frozenset({"without", "lack", "lacks", "lacking", "lacked", "absence", "devoid", "minus"})
OF_NOUNS = frozenset({"lack", "absence", "devoid", "free", "empty", "instead", "none", "absent", "scarcity"})
CLAUSAL = frozenset({"not", "n't", "never", "nobody", "nor", "neither", "nothing", "cannot"})
VISIBLE = frozenset(
    "visible present seen shown depicted pictured there here found included apparent evident discernible "
    "observed noticeable".split()
)
GONE = frozenset({"absent", "missing", "nowhere", "unseen", "invisible"})
BARRIERS = frozenset(
    "but except however although though while whereas besides because than apart yet".split()
)
CANCELLED_BY = frozenset(
    {"only", "just", "merely", "simply", "far", "necessarily", "always", "solely", "unlike"}
)
IDIOMS = (
    ("no", "doubt"), ("no", "more", "than"), ("no", "less", "than"), ("no", "fewer", "than"), ("no", "matter"),
    ("no", "longer", "than"), ("no", "wonder"), ("none", "other", "than"), ("nothing", "but"), ("no", "exception"),
)  # fmt: skip
PLENTY = frozenset({"shortage", "lack", "absence", "end"})


def negation(context: Context) -> str | None:
    """The words that deny the mention, or ``None``."""
    return _subject_denied(context) or _determined(context) or _governed(context) or _in_clause(context)


def _subject_denied(c: Context) -> str | None:
    """``the dog is not visible``, ``people are absent``: the predicate denies that it is in view."""
    right = c.head + 1
    if c.word(right) == "'s":
        return None
    limit = min(len(c.words), right + 14)
    for k in range(right, limit):
        word = c.word(k)
        if word in {",", "but", "and", "which", "who"} and k > right and not c.nounlike(k + 1):
            return None
        if word in GONE and c.word(k - 1) in lex.AUXILIARIES | lex.ADVERBS:
            return c.quote(c.start, k)
        if word in {"not", "n't", "cannot"} and not c.word(k + 1) in CANCELLED_BY:
            if any(c.verblike(m) and c.word(m) not in lex.AUXILIARIES for m in range(right, k)):
                return None
            for m in range(k + 1, min(limit, k + 5)):
                if c.word(m) in VISIBLE or (c.word(m), c.word(m + 1)) in {("in", "view"), ("in", "sight")}:
                    return c.quote(c.start, m)
                if c.word(m) in {"in", "part"} and c.word(m + 2) in {
                    "image",
                    "picture",
                    "scene",
                    "photo",
                    "frame",
                }:
                    return c.quote(c.start, m + 2)
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
    """``without a car``, ``lack of cars``, ``neither a car nor a [bus]``."""
    mark = c.governor
    word = c.word(mark)
    cue = mark
    if word in PREPOSITIONAL or word in {"nor", "neither", "never"}:
        pass
    elif word == "of" and c.word(mark - 1) in OF_NOUNS and not (c.word(mark - 1) == "none" and c.definite):
        cue = mark - 1
    elif word == "than" and c.word(mark - 1) == "rather":
        cue = mark - 1
    else:
        return None
    return None if cancelled(c, cue) else c.quote(cue, c.last)


def _in_clause(c: Context) -> str | None:
    """``is not holding a [phone]``, ``no signs of [people]``: an indefinite below a negated verb or noun."""
    if c.definite:
        return None
    for k in range(c.chain[-1][0] - 1, -1, -1):
        word = c.word(k)
        if word in BARRIERS or word in {":", "which", "that"}:
            return None
        if word == "," or (word in {"and", "or"} and c.subject):
            return None
        if word in {"and"} and c.word(k + 1) in lex.AUXILIARIES | lex.DEFINITE:
            return None
        if word in CLAUSAL or word == "without" or (word == "no" and c.word(k + 1) not in {"longer"}):
            if word == "no" and any(c.word(m) in lex.DEFINITE for m in range(k, c.start)):
                return None
            if word in {"neither"} and c.word(k + 1) == "of" and c.word(k + 2) in lex.DEFINITE and c.subject:
                return None
            return None if cancelled(c, k) else c.quote(k, c.last)
        if word == "longer" and c.word(k - 1) == "no":
            return c.quote(k - 1, c.last)
    return None


def cancelled(c: Context, cue: int) -> bool:
    """Whether the cue at ``cue`` denies nothing: an idiom, ``not only``, or a second negation above it."""
    if any(c.words[cue : cue + len(idiom)] == idiom for idiom in IDIOMS):
        return True
    if c.word(cue) in {"not", "n't"} and c.word(cue + 1) in CANCELLED_BY:
        return True
    if c.word(cue) == "no" and (
        c.word(cue + 1) in PLENTY or "than" in c.words[cue + 1 : c.start] or "but" in c.words[cue : c.start]
    ):
        return True
    above = c.words[max(0, cue - 3) : cue]
    return any(word in {"not", "n't", "no", "never", "without", "nor"} for word in above)
