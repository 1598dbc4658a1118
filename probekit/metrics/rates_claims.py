"""What a plain sentence says of an object: that it is there, that it is not, or neither."""

import re

from probekit.benchmarks.conditions import lemma
from probekit.metrics.answers import lexicon, words

_SHORT = {
    "mic": "microphone",
    "mike": "microphone",
    "tv": "television",
    "telly": "television",
    "telephone": "phone",
    "smartphone": "phone",
    "cellphone": "phone",
    "fridge": "refrigerator",
    "bike": "bicycle",
    "eyeglass": "glass",
    "spectacle": "glass",
    "earphone": "earbud",
}
_PLACES = lexicon("on in at near beside behind under above over next inside along against around between")
_ARTICLES = lexicon("a an the any some")
_ANYTHING = lexicon("object objects one any it such item nothing none")
_SEEN = (
    r"(?:present|visible|there|shown|seen|found|detected|detectable|discernible|located|included|depicted"
    r"|pictured|identifiable|apparent|evident|here|anywhere"
    r"|in (?:the|this|that) (?:image|picture|scene|photo\w*|frame))"
)
_ABSENCE = re.compile(
    # there is none, no X, X is not there, X is absent, I do not see X
    r"\bthere(?:'s| is| are| was| were| appears? to be| seems? to be) (?:clearly |definitely |really )?"
    r"(?:no|not|none|nothing)\b|\bthere (?:isn't|aren't|wasn't|weren't|is n't)\b"
    r"|\bthere (?:does|do)(?: not|n't) (?:appear|seem)\b"
    r"|\b(?:is|are|was|were|be)(?: not|n't) (?:\w+ly )?" + _SEEN + r"\b"
    r"|\b(?:is|are|was|were|seems|appears)(?: to be)? (?:\w+ly )?(?:absent|missing|nowhere)\b"
    r"|\b(?:does|do|did)(?: not|n't) (?:\w+ )?(?:appear|show|contain|include|feature|depict|have|exist)\b"
    r"|\b(?:cannot|can't|can not|could not|couldn't|do not|don't|did not|didn't) (?:\w+ )?(?:be )?"
    r"(?:see|seen|find|found|spot|spotted|detect|detected|identify|identified|notice|locate|located)\b"
    r"|\b(?:no|none|nothing|without|lacks?|lacking|missing|absent)\b(?! (?:doubt|question|problem|matter)\b)"
)
_NEGATED = re.compile(
    r"\bno\b(?! doubt| question)|\bnot\b|n't\b|\b(?:cannot|without|never|neither|nor|nothing|none|nobody)\b"
)
_AFFIRMS = re.compile(
    r"\bthere(?:'s| is| are| appears? to be| seems? to be| might be| may be| could be)\b"
    r"|\b(?:i|we|you) (?:can |clearly |do )*(?:see|find|spot|notice)\b"
    r"|\b(?:shows?|contains?|includes?|depicts?|features?|holds?|holding|uses?|using|wears?|wearing|has)\b"
    r"|\b(?:is|are|appears? to be|seems? to be|may be|might be|could be) (?:clearly |partially |likely )?"
    r"(?:visible|present|shown|seen|detected|in the|on the|at the|behind|near)\b"
    r"|^(?:\w+ ){1,3}(?:detected|visible|found|present|identified|spotted)\W*$"
    r"|\b(?:visible|detected|seen) (?:on|in|at|near|beside|behind|under|above|by)\b"
)
_NAMED = re.compile(
    r"^(?:a|an|one|two|some|several|the) (?:\w+ ){0,3}\w+"
    r"(?:$|[,.!]| (?:is|are|on|in|at|near|beside|behind|under|above)\b)"
)
"""A bare answer that is the object itself: "a microphone near his mouth"."""
_OPEN = re.compile(r"\b(?:if|whether|unless|would|were|should)\b|\?\s*$")
_CLAUSE = re.compile(r"(?<=[.!?;])\s+|\n+|,\s+|\s(?:but|although|though|however|while|yet)\b")
_DETERMINERS = lexicon("no without nothing lack lacks lacking")
REACH = 5
"""Words between a "no" and the object's name at most: "no sign of any kind of microphone"."""


def names_target(text: str, target: str) -> bool:
    """Whether a text names the object: all words of its name up to where it is said to be."""
    noun = _noun(target)
    return bool(noun) and noun <= set(_stems(text))


def denies_presence(text: str, target: str, *, anything: bool = False) -> bool:
    """Whether a plain text says that the object is not there; that it is not used says nothing of that.

    Args:
        anything: whether a clause that speaks of "it", "any" or "such an object" denies as well.
    """
    for clause in _CLAUSE.split(text):
        named = names_target(clause, target)
        spoken = anything and bool(_ANYTHING & set(words(clause)))
        for match in _ABSENCE.finditer(clause) if named or spoken else ():
            if _of(match, clause, target) if named else spoken:
                return True
    return False


def affirms(sentence: str, target: str) -> str:
    """The words by which a plain sentence says that the object is there; empty when it does not.

    A condition or a question affirms nothing, and neither does a clause with a negation.
    """
    if not names_target(sentence, target) or _OPEN.search(sentence):
        return ""
    found = None if _NEGATED.search(sentence) else _NAMED.search(sentence)
    for clause in _CLAUSE.split(sentence):
        if names_target(clause, target) and not _NEGATED.search(clause):
            found = found or _AFFIRMS.search(clause)
    return found.group() if found else ""


def _of(match: re.Match[str], clause: str, target: str) -> bool:
    """Whether the absence in a clause that names the object is the object's."""
    last = match.group().split()[-1]
    if last in _DETERMINERS or match.group().startswith("there"):
        # such a word denies what follows it closely
        after = clause[match.end() : match.end() + 20 * REACH].split()[: REACH + 1]
        return names_target(" ".join(after), target)
    return True


def _noun(target: str) -> frozenset[str]:
    found: list[str] = []
    for word in words(target):
        if word in _PLACES and found:
            break
        if word not in _ARTICLES:
            found.append(word)
    return frozenset(_stems(" ".join(found)))


def _stems(text: str) -> list[str]:
    return [_SHORT.get(stem, stem) for word in words(text) if (stem := lemma(word))]
