"""H-Rate, categories 07 and 08: the absent object was called present. SPEC 5.1.

The ``Final:`` field decides if there is one, then labels in capitals, then a leading yes or no, then
a plain sentence. The whole response is never searched for "present" in small letters: evidence
fields of negative answers say "is present" after a negation.
"""

import re

from probekit.benchmarks.conditions import lemma
from probekit.metrics.answers import lexicon, plain, sentences, words
from probekit.metrics.rates_verdict import RateVerdict, final_fields

_CAPITALS = re.compile(r"\b(NOT PRESENT|PRESENT|ABSENT)\b")
_ANY_CASE = re.compile(r"\b(not present|present|absent|yes|no|none|not visible|not found)\b")
_POSITIVE = frozenset(("present", "yes"))
_DENIES = re.compile(
    r"\bthere(?:'s| is| are| was| were| appears? to be| seems? to be) (?:no|not|none|nothing)\b"
    r"|\bthere (?:isn't|aren't|wasn't)\b|\bno\b|\bnot\b|n't\b|\bcannot\b|\bwithout\b|\babsent\b|\bnothing\b"
    r"|\bmissing\b|\black(?:s|ing)?\b"
)
_AFFIRMS = re.compile(
    r"\bthere(?:'s| is| are| appears? to be| seems? to be| might be| may be| could be)\b"
    r"|\b(?:i|we|you) (?:can |clearly |do )*(?:see|find|spot|notice)\b"
    r"|\b(?:shows?|contains?|includes?|depicts?|features?|holds?|holding|uses?|using|wears?|wearing|has)\b"
    r"|\b(?:is|appears to be|seems to be|may be|might be|could be) (?:clearly |partially |likely )?"
    r"(?:visible|present|shown|in the|on the|at the|behind|near)\b"
)
_CONCLUDES = re.compile(
    r"\b(?:answer|verdict|conclusion|result) (?:is|would be|must be) (yes|no|present|absent|not present)\b"
    r"|, (yes|no|present|absent)[.!]*$"
)
_ANYTHING = lexicon("object objects one any it such item nothing none")


def presence_verdict(response: str, target: str = "") -> RateVerdict:
    """Whether a response to a presence task affirms the object, which is absent by construction.

    A response with both labels still affirms and counts. One without any label that a rule can read
    is undecided: left out of the rate and counted.

    Args:
        target: the object asked for, such as "a microphone". A plain sentence decides only if it
            names the target (or, to deny it, "it", "any", "such an object").
    """
    if not response.strip():
        return RateVerdict(None, "invalid")
    finals = final_fields(response)
    if finals:
        found = _ANY_CASE.findall(plain(" . ".join(finals)))
        if found:
            return _decide(found, "final")
    # A text without small letters has no labels in capitals, only capitals.
    if any(letter.islower() for letter in response) or len(words(response)) <= 3:
        found = [label.casefold() for label in _CAPITALS.findall(response)]
        if found:
            return _decide(found, "label")
    first = words(response)[:2]
    if first == ["not", "present"]:
        return RateVerdict(False, "leading", ("not present",))
    if first and first[0] in ("yes", "present", "yeah"):
        return RateVerdict(True, "leading", (first[0],))
    if first and first[0] in ("no", "absent", "none", "nope"):
        return RateVerdict(False, "leading", (first[0],))
    concluded = [a or b for a, b in _CONCLUDES.findall(plain(response))]
    if concluded:
        return _decide(concluded, "conclusion")
    return _by_sentence(response, target)


def _by_sentence(response: str, target: str) -> RateVerdict:
    noun = [lemma(word) for word in words(target) if word not in ("a", "an", "the", "any", "some")]
    affirmed: tuple[str, ...] = ()
    for sentence in sentences(plain(response)):
        tokens = words(sentence)
        names_it = bool(noun) and set(noun) <= {lemma(token) for token in tokens}
        denies = _DENIES.search(sentence)
        if denies and (names_it or _ANYTHING & set(tokens)):
            return RateVerdict(False, "sentence", (denies.group(),))
        affirms = _AFFIRMS.search(sentence)
        if affirms and names_it and not denies:
            affirmed = (affirms.group(),)
    return RateVerdict(True, "sentence", affirmed) if affirmed else RateVerdict(None, "no_label")


def _decide(labels: list[str], rule: str) -> RateVerdict:
    both = len({label in _POSITIVE for label in labels}) > 1
    return RateVerdict(
        any(label in _POSITIVE for label in labels), "both_labels" if both else rule, tuple(labels)
    )
