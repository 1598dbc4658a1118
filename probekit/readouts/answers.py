"""What a written answer to "is there a ...?" says: yes, no, or neither.

The first yes or no decides, as whole words, whatever their case and markup. Three things go beyond
that, because a word is not always the meaning:

* a denied existence ("there isn't one", "I do not see any") is a no without the word;
* a yes followed by a denied existence contradicts itself and is unknown;
* words that carry no answer do not count ("no doubt", "no idea", "yes or no").

With the object asked about, a denial of something else does not count once the object itself is named,
and a plain statement that the object is there counts as yes, or makes a no unknown.
"""

import re
import unicodedata
from dataclasses import dataclass

from probekit.benchmarks.yesno import Answer

_EMPTY = re.compile(
    r"\byes\b\W{0,3}(?:or|and|/)\W{0,3}\bno\b|\bno\b\W{0,3}(?:or|and|/)\W{0,3}\byes\b"
    r"|\bno\s+(?:doubt|question|idea|way|clue|problem|worries|matter)\b"
    r"|\bno\s+(?:image|picture|photo)s?\s+(?:is |was |were |are |has been )?"
    r"(?:provided|attached|given|available|uploaded|shown|to )"
    r"|\b(?:is|are)(?:\s+not|n't)\s+enough\b|\b(?:enough|no)\s+(?:information|context|detail|details)\b"
    r"|(?<=\w )no\.\s?\d"
)
"""Phrases with a yes or a no in them that are not an answer."""

_WORD = re.compile(r"\b(?:yes|no)\b(?!-)")

_BLIND = (
    r"(?!\s+(?:(?:the|this|an|any|your)\s+)?(?:image|picture|photo|enough|access|information|context"
    r"|clearly|well|ability|if|whether|what)\b)"
)
"""After a verb of seeing: what is not seen is the picture itself, so nothing is denied."""

_DENIED = re.compile(
    r"\bthere\s*(?:is|are|was|were|'s|'re|seems? to be|appears? to be)\s+(?:\w+\s+)?"
    r"(?:not|no|none|nothing|zero)\b"
    r"|\bthere\s+(?:isn't|aren't|wasn't|weren't|ain't)\b"
    r"|\bthere\s+(?:do|does)(?:\s+not|n't)\s+(?:appear|seem|look)\b"
    r"|\b(?:do|does|did)(?:\s+not|n't)\s+(?:\w+\s+)?"
    rf"(?:see|find|spot|detect|observe|notice|contain|show|depict|include|have|exist)\b{_BLIND}"
    r"|\b(?:do|does)(?:\s+not|n't)\s+appear\s+(?:in|to be (?:in|present|visible|any|there))\b"
    rf"|\b(?:can|could)(?:\s*not|'t|n't)\s+(?:\w+\s+)?(?:see|find|spot|detect|observe|locate)\b{_BLIND}"
    r"|\b(?:is|are|was|were)(?:\s+not|n't)\s+(?:\w+\s+)?"
    r"(?:present|visible|there|shown|depicted|seen|any|in (?:the|this) (?:image|picture|photo|scene))\b"
    r"|\b(?:is|are)\s+absent\b"
    r"|\b(?:see|find|spot|has|have|contains?|shows?|depicts?|includes?|with)\s+no\b"
    r"|\bno\s+(?:[\w'-]+\s+){1,4}?(?:(?:is|are|can be)\s+)?(?:\w+ly\s+)?"
    r"(?:visible|present|seen|shown|there|here|in (?:the|this))\b"
    r"|\bnot\s+(?:that i can see|in (?:the|this) (?:image|picture|photo|scene)|visible|present|any)\b"
    r"|\bnone\b"
)
"""A denied existence."""

_CLAUSE_END = re.compile(r"[.;!?\n]|,?\s+\b(?:but|although|though|however)\b|,")
_CLAUSE_BREAK = re.compile(r"[.;!?\n,]|\b(?:but|and|although|though|however)\b")
_AFTER_SUBJECT = re.compile(r"(?:is|are|was|were|do|does|did|can|could)\b")
_DETERMINER = re.compile(
    r"no\s+(?!(?:there|i|it|its|the|this|that|they|we|he|she|you|a|an|not|in|on|from|based|because|as)\b)[a-z]"
)
_HEDGE = re.compile(
    r"\b(?:may|might|could|possibly|probably|perhaps|maybe|if|whether|unclear|not sure|cannot|can't|unsure)\b"
)
_COUNT = r"(?:an?|the|one|two|three|four|five|some|several|many|multiple|at least one)"
_AFTER = (
    r"(?=\s*(?:[.,;:!?)\n]|$)|\s+(?:in|on|at|by|near|behind|beside|next|visible|present|parked|standing"
    r"|sitting|lying|and|with|to|that|which|here|there|is|are|under|above|below)\b)"
)


@dataclass(frozen=True)
class _Mark:
    """A piece of the text that says yes or no, and the clause it stands in."""

    answer: Answer
    start: int
    clause: str
    existence: bool
    determiner: bool = False


def parse_answer(text: str, about: str | None = None) -> Answer:
    """Read an answer to the question whether something is there.

    Args:
        text: what the model wrote.
        about: the object asked about, when it is known.

    Returns:
        yes, no or unknown; unknown when there is neither word nor denial, or when they contradict.
    """
    plain = _plain(text)
    marks = _marks(plain)
    named = None if not about else re.compile(rf"\b{_singular_or_plural(about)}\b")
    affirmed = _affirms(plain, about)
    if named is not None:
        elsewhere = plain
        for mark in marks:
            if mark.existence or mark.determiner:
                elsewhere = elsewhere.replace(mark.clause, " ")
        if affirmed or named.search(elsewhere):
            marks = [m for m in marks if not (m.existence or m.determiner) or named.search(m.clause)]
    if not marks:
        return Answer.YES if affirmed else Answer.UNKNOWN
    first, later = marks[0], marks[1:]
    if first.answer is Answer.YES:
        return Answer.UNKNOWN if any(mark.existence for mark in later) else Answer.YES
    denied = named is not None and any(m.existence and named.search(m.clause) for m in marks)
    return Answer.UNKNOWN if affirmed and about and not denied else Answer.NO


def official_answer(text: str) -> Answer:
    """POPE's own rule: no when the first sentence has the word No, no or not; else yes, always.

    SPEC 3.3: the sentence ends at the first ".", commas are dropped, words are split at blanks. Empty
    answers, NO in capitals and a no before a line break all count as yes.
    """
    words = text.split(".")[0].replace(",", "").split(" ")
    return Answer.NO if {"No", "not", "no"} & set(words) else Answer.YES


def _plain(text: str) -> str:
    """Lower case, one kind of apostrophe, and markup turned into blanks."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'").replace("`", " ").casefold()
    return re.sub(r"[*_#\"<>\[\]{}|]", " ", folded).strip()


def _marks(plain: str) -> list[_Mark]:
    """Every yes, no and denied existence, in the order of the text."""
    empty = [match.span() for match in _EMPTY.finditer(plain)]
    marks = []
    for match in _WORD.finditer(plain):
        if any(start <= match.start() < end for start, end in empty):
            continue
        answer = Answer.YES if match.group() == "yes" else Answer.NO
        determiner = answer is Answer.NO and _DETERMINER.match(plain, match.start()) is not None
        marks.append(_Mark(answer, match.start(), _clause(plain, match.start()), False, determiner))
    for match in _DENIED.finditer(plain):
        if any(start < match.end() and match.start() < end for start, end in empty):
            continue
        marks.append(_Mark(Answer.NO, match.start(), _clause(plain, match.start()), True))
    return sorted(marks, key=lambda mark: mark.start)


def _clause(plain: str, start: int) -> str:
    """The text from a mark to the end of its clause; with the subject, where that stands before it."""
    end = _CLAUSE_END.search(plain, start)
    if _AFTER_SUBJECT.match(plain, start):
        breaks = [m.end() for m in _CLAUSE_BREAK.finditer(plain, 0, start)]
        start = breaks[-1] if breaks else 0
    return plain[start : end.start() if end else len(plain)]


def _affirms(plain: str, about: str | None) -> bool:
    """Whether the text states plainly that the object, or "one", is there."""
    if _HEDGE.search(plain):
        return False
    there = r"\bthere\s*(?:is|are|'s|'re)\s+(?:\w+ly\s+|indeed\s+)?"
    if re.search(rf"{there}(?:one|some|several)(?=\s*(?:[.,;!?]|$|in (?:the|this)))", plain):
        return True
    if not about:
        return False
    thing = rf"{_COUNT}\s+(?:[\w-]+\s+){{0,2}}?{_singular_or_plural(about)}\b{_AFTER}"
    verb = r"\b(?:(?:i|we) (?:can )?see|shows?|contains?|depicts?|features?|includes?)\s+"
    visible = (
        rf"(?<!no )\b{_singular_or_plural(about)}\s+(?:is|are)\s+(?:\w+ly\s+)?"
        r"(?:visible|present|shown|in (?:the|this))\b"
    )
    return any(re.search(p, plain) for p in (there + thing, verb + thing, visible))


def _singular_or_plural(noun: str) -> str:
    """A pattern for the noun and its plural."""
    word = re.escape(_plain(noun))
    irregular = {"person": "people", "mouse": "mice", "knife": "knives", "sheep": "sheep"}
    last = noun.casefold().split()[-1] if noun.split() else noun
    if last in irregular:
        return rf"(?:{word}|{word.removesuffix(re.escape(last))}{irregular[last]})"
    return rf"{word}(?:s|es)?"
