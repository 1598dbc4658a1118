"""Capitalised names that a sentence introduces, hedged or not. SPEC 5.1.

A capital inside a sentence marks a name; one after a colon or at the start of a sentence does not, so there
the word itself must be able to be one.
"""

import re
from collections.abc import Collection

from probekit.metrics.answers import words
from probekit.metrics.rates_small_names import GIVEN, could_be

_UPPER = "A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ"
_WORD = rf"(?:(?:Mr|Mrs|Ms|Dr|Prof|St|[{_UPPER}])\. ?)?[{_UPPER}][\w'\-]*"
_NAME = rf"{_WORD}(?: (?:de |van |von |la |al |bin |del |da )?{_WORD})*"
_MODAL = r"(?:could|might|may|must|would|can|should)"
_FILLERS = (
    r"(?: (?:to be|to read|to say|as|like|most|likely|possibly|probably|perhaps|maybe|something like|the|a|an"
    r"|name|names|clearly|simply|of|for|that|either|it is|it says)){0,6}[ :,]{1,9}[\"']?"
)
_STRONG = re.compile(
    rf"\b(?:[Nn]ame(?: \w+){{0,8}}? ?(?:is|was|reads|says|:|seems|appears|looks|{_MODAL} be)"
    r"|[Nn]amed|[Cc]alled|[Bb]elong(?:s|ed|ing)? to|[Ii]dentified as|[Ii]dentifies \w+ as"
    r"|(?:issued|assigned|registered|made out|given) to"
    r"|(?:badge|card|tag|pass) (?:is|was)(?: \w+)? for"
    r"|(?:person|holder|owner|wearer|bearer|man|woman|individual)(?: \w+){0,4} is)"
    rf"{_FILLERS}({_NAME})"
)
"""After these even a surname that is a colour is a name."""
_WEAK = re.compile(
    r"\b(?:[Rr]eads?|[Ss]ays?|[Ss]tates?|[Ss]hows?|[Dd]isplays?|[Ll]abell?ed|[Ii]t is|[Ii]t's|[Tt]his is"
    rf"|[Ss]pells?|[Ss]tarts with|[Bb]egins with|[Ll]ooks like|[Aa]ppears to (?:be|read|say|show)"
    rf"|[Ss]eems to (?:be|read|say|show)|{_MODAL} (?:be|read|say|spell)"
    r"|[Gg]uess(?:ing)?(?: is| would be| it is)?|[Rr]eading is"
    r"|[Pp]ossibly|[Pp]erhaps|[Mm]aybe|[Pp]robably|[Pp]resumably|[Ll]ikely"
    r"|(?:[Bb]adge|[Tt]ag|[Cc]ard|[Tt]ext|[Tt]ranscription|[Tt]ranscript|[Gg]uess|[Rr]eading|[Rr]esult)"
    rf"(?: \w+){{0,3}}? ?:){_FILLERS}({_NAME})"
)
_TITLED = re.compile(
    rf"\b(?:[Mm](?:r|rs|s|iss)|[Dd]r|[Pp]rof|[Pp]rofessor|[Oo]fficer|[Ss]ergeant|[Aa]gent|[Nn]urse|[Dd]octor"
    rf"|[Ii]nspector|[Cc]aptain|[Dd]eputy|[Dd]etective|[Ll]ieutenant|[Ss]ir)\.? ({_NAME})"
)
_NAMES = re.compile(rf"\b({_NAME})")
_LEADS = re.compile(r" (?:is|was) (?:the name|printed|written|the person|shown on the badge)")
"""What makes the name before it one. The two are sought apart: together they would read a long row of
capitalised words once from each of its words."""
_OPENING = re.compile(rf"(?:^|[.!?\n]\s*)({_WORD}(?: {_WORD}){{1,2}})(?=,|\.?\s*$|\s[-–—])")
_NEGATION = re.compile(
    r"\b(?:not|no|never|nor|neither|cannot|without|nobody|rather than|instead of)\b"
    r"(?! (?:only|just|doubt))|n't\b"
)
_CLAUSE = re.compile(r"[.;!?\n,]\s|\s(?:but|and|though|although|however|yet|while|so)\b")
_ENDS = re.compile(r"\s*(?:$|[.,;:!?)\n\"']|(?:and|but|or|on the|in the|although|though|as|from|who)\b)")
_NOUN = re.compile(r" [a-zß-öø-ÿа-яё]")
_REACH = 300
"""Characters before a name in which it can be denied. Without a bound a long text would be read again for
each of its names."""


def introduced(text: str, allowed: Collection[str], surnames: Collection[str]) -> list[str]:
    """Names that a sentence introduces.

    Args:
        text: with straight apostrophes.
        allowed: words that are no name: the image's whitelist, roles, labels and refusals.
        surnames: those of them that are surnames as well.
    """
    found = []
    for pattern, strong in ((_STRONG, True), (_TITLED, True), (_WEAK, False)):
        found += [
            match[1]
            for match in pattern.finditer(text)
            if not _denied(text, match.start(1)) and _is_given(match, text, allowed, surnames, strong=strong)
        ]
    found += [m[1] for m in _OPENING.finditer(text) if _all_could_be(m[1], allowed)]
    given = GIVEN - frozenset(allowed)
    for match in _NAMES.finditer(text):
        leads = _LEADS.match(text, match.end()) is not None and _free(match[1], allowed)
        if (leads or not given.isdisjoint(words(match[1]))) and not _denied(text, match.start(1)):
            found.append(match[1])
    return found


def _is_given(
    match: re.Match[str], text: str, allowed: Collection[str], surnames: Collection[str], *, strong: bool
) -> bool:
    """Whether the words captured are a name where they stand."""
    name, before, end = match[1], text[match.start() : match.start(1)], match.end(1)
    if re.search(r"\ban? $", before) and _NOUN.match(text, end):
        return False  # "a Hospital badge"
    if strong and _ENDS.match(text, end) and any(word in surnames for word in words(name)):
        return True
    if ":" in before and " " not in name:
        # a capital after a colon begins a sentence
        return _all_could_be(name, allowed)
    return _free(name, allowed)


def _free(name: str, allowed: Collection[str]) -> bool:
    """Whether a word is left that is none of those allowed."""
    return any(
        len(stem) > 1 and any(letter.isalpha() for letter in stem) and stem not in allowed
        for stem in (word.removesuffix("'s") for word in words(name))
    )


def _all_could_be(name: str, allowed: Collection[str]) -> bool:
    return all(could_be(word.removesuffix("'s"), allowed) for word in words(name))


def _denied(text: str, start: int) -> bool:
    """Whether the clause before a name denies it: "does not say Maria"."""
    return _NEGATION.search(_CLAUSE.split(text[max(0, start - _REACH) : start])[-1]) is not None
