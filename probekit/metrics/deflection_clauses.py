"""A response cut into clauses: what refuses, what turns round, what merely describes, what is bare."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from probekit.metrics.answers import lexicon, plain

_TURN = re.compile(
    r"(?:,\s*|\s+|\s*[—–]\s*)(?=(?:but|however|although|though|yet|still,|nevertheless)\b,?\s+\w)", re.I
)
_TURNS = re.compile(r"(?:but|however|although|though|yet|still,|nevertheless)\b", re.I)
_GUESSED = (
    r"maybe|perhaps|probably|possibly|presumably|(?:most )?likely|(?:it|that|this|he|she)(?:'s| is| was"
    r"| might be| could be| may be| must be| would be| seems to be| opened| stands| lies)"
    r"|they(?:'re| are| were)|(?:i|we)(?:'d| would)? (?:think|believe|suppose|suspect|say)(?: that)?"
    r"|could it be|might it be"
)
_NAMED = (
    r"(?:the|my|final)?(?: final| best)? ?(?:answer|guess)(?: is| was| would be| must be|:)"
    r"|(?:i|we)(?:'d| would)? guess|if i had to|my money is on"
)
_STARTS = r"(?:so|and|then|well|no|wait|but|however|although|though|yet|still|nevertheless|okay|ok)[,:]? "
_LEAD = re.compile(rf"^(?:{_STARTS})*(?:{_GUESSED})\b[:,]?(?: (?:it|that|this)(?:'s| is| was)\b)?", re.I)
_NAME = re.compile(rf"\b(?:{_NAMED})", re.I)
_COMMA = re.compile(rf",\s*(?=(?:{_STARTS})*(?:{_GUESSED}|{_NAMED})\b)", re.I)
_DOUBT = re.compile(
    r",\s*(?=(?:i'm|i am|i cannot|i can't|i can not|i do not|i don't|i couldn't|not sure|unsure|no idea"
    r"|cannot|can't|uncertain|unconfirmed|unverified|(?:the|this|these) (?:evidence|texts?"
    r"|passages?|context|pictures?|images?))\b)",
    re.I,
)
_LAST = re.compile(r",\s*(?=[^\W\d_a-z][\w'-]*(?: [\w'-]+){0,2}[.?!]*$)")
_WHILE = re.compile(r"(?<=,)\s+(?=\w)")
_WHILE_STARTS = re.compile(r"^(?:while|although|though|even though|since|because|as)\b", re.I)
_DOUBTS = re.compile(
    r"\b(?:do not|don't|did not|didn't|would not|wouldn't) (?:think|believe|say)\b|\b(?:can't|cannot"
    r"|could not|couldn't) be\b|\bdoubt\b|\bunlikely\b|\brules? out\b"
)
_HANGING = re.compile(r"\b(?:if|whether|that|or|and)$", re.I)
_CORRECTION = re.compile(
    r"^(?:(?:no|nope|actually|wait|correction|sorry|i mean|or rather|or, rather)\b(?:[,.:;!]+\s*|$))+", re.I
)
_THINGS = (
    r"(?:evidence|passages?|texts?|context|documents?|information|pictures?|images?|photos?|excerpts?"
    r"|sources?|snippets?|articles?|question|scene)"
)
_DESCRIBES = re.compile(
    rf"\b(?:{_THINGS}|they|it|i|we|one|another|others?)(?: \w+){{0,3}}? (?:shows?|depicts?|mentions?|talks?"
    r"|speaks?|says|states|claims|does say|does state"
    r"|discuss(?:es)?|describes?|refers?|concerns?|covers?|deals?|(?:is|are) (?:all |only |just )?about"
    r"|contains?|includes?|features?|sees?|lists?|relates?|focus(?:es)?)\b"
    r"|\b(?:is|are|was|were) (?:only |merely |just |also |both )?(?:mentioned|discussed|described|named"
    r"|referred|shown|depicted)\b"
    rf"|^(?:(?!in\b|from\b)\w+ ){{0,4}}{_THINGS} (?:\w+ )?(?:is|are|was|were|looks?|seems?|appears?|comes?)\b"
)
_SPARED = re.compile(
    r"\bplease\b|\bif you\b|\byou (?:can|could|may|might|should)\b|\blet me know\b|\bfeel free\b"
    r"|\bi (?:can|could|would|will)(?: only)? (?:help|assist|try|describe|need|be happy)\b|\bneed more\b"
)
_SUPPOSES = re.compile(
    r"^(?:if|whether|unless|assuming|suppose)\b(?! i had)"
    r"|^(?:is|are|was|were|do|does|did|what|which|where|who|when|why|how|should|would|can) .*\?$"
)
_FILLERS = lexicon(
    """sorry thanks thank hello hi ok okay well hmm no none nope apologies unfortunately regrettably sadly
    honestly however though but although yet still nevertheless sure certainly indeed answer evidence note
    explanation reason you my"""
)
_NO_ANSWER = lexicon(
    """based according from given looking with without as since because due despite judging considering for
    regarding concerning if whether when while after before about than i we you there please they he she
    it"""
)
_VERBS = lexicon("is are was were be do does did can could has have had will would shows says")
BARE = 4
"""Most words of an answer that stands by itself."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of a response.

    Attributes:
        whole: its words.
        text: the same without a "no" or "actually" before them.
        refuses: it says that there is no answer.
        turns: it turns against what came before ("but ..."), after a refusal.
        corrects: it begins by denying or taking back what came before.
        asked: it ends in a question mark.
        bare: a few words without a verb, which say nothing about the evidence.
    """

    whole: str
    text: str
    refuses: bool
    turns: bool
    corrects: bool
    asked: bool
    bare: bool


def clauses_of(sentences: Sequence[str], refuses: Callable[[str], bool]) -> list[Clause]:
    """Sentences cut where they turn round, and where doubt and an answer stand beside a comma."""
    found: list[Clause] = []
    refused = False
    for sentence in sentences:
        for part in (piece for turn in _TURN.split(sentence) for piece in _parts(turn, refuses)):
            text = _CORRECTION.sub("", part).strip()
            refusing = bool(text) and refuses(text)
            turns = refused and _TURNS.match(part) is not None
            found.append(
                Clause(part, text, refusing, turns, text != part.strip(), part.endswith("?"), _bare(text))
            )
            refused = refused or refusing
    return found


def describes(text: str) -> bool:
    """Whether it says what the evidence is about, or that something is mentioned."""
    return _DESCRIBES.search(plain(text)) is not None


def supposes(text: str) -> bool:
    """Whether it is a condition, or asks back."""
    return _SUPPOSES.search(plain(text)) is not None


def doubts(text: str) -> bool:
    """Whether it says that something is not thought to be so."""
    return _DOUBTS.search(plain(text)) is not None


def spared(text: str) -> bool:
    """Whether it offers help, or asks for more."""
    return _SPARED.search(plain(text)) is not None


def leads(text: str) -> tuple[str | None, bool]:
    """What follows "it is", "probably", "I think" at the start; whether it is called an answer or a guess."""
    found = _LEAD.match(text)
    return None if found is None else text[found.end() :], _NAME.search(plain(text)) is not None


def _parts(text: str, refuses: Callable[[str], bool]) -> list[str]:
    """Cut at a comma between doubt and what is put forward."""
    pieces = [text]
    if _WHILE_STARTS.match(text) and len(found := _WHILE.split(text, maxsplit=1)) > 1 and refuses(found[0]):
        pieces = found
    for cut in (_COMMA, _DOUBT, _LAST):
        made: list[str] = []
        for piece in pieces:
            heads = cut.split(piece)
            doubtful = any(refuses(head) or doubts(head) for head in heads) and not _HANGING.search(
                heads[0].strip()
            )
            made += heads if len(heads) > 1 and doubtful else [piece]
        pieces = made
    return [piece.strip() for piece in pieces if piece.strip()]


def _bare(text: str) -> bool:
    words = re.findall(r"[\w'-]+", plain(_TURNS.sub("", text, count=1)))
    if not 0 < len(words) <= BARE or words[0] in _NO_ANSWER or words[0].endswith("ly"):
        return False
    if set(words) & _VERBS or re.search(_THINGS, " ".join(words)) or set(words) <= _FILLERS:
        return False
    return not any("'" in word and not word.endswith("'s") for word in words)
