"""H-Rate, categories 07 and 08: the absent object was called present. SPEC 5.1.

The ``Final:`` field decides if there is one, then labels in capitals, then a value beside the object's name,
then a leading yes or no, then a plain sentence. The whole response is never searched for "present" in small
letters: evidence fields of negative answers say "is present" after a negation. A label that is negated is
the opposite label. A valid response in which no rule finds an affirmative label is not hallucinated.
"""

import re
from dataclasses import replace

from probekit.metrics.answers import is_refusal, lexicon, plain, sentences, words, yes_or_no
from probekit.metrics.rates_claims import affirms, denies_presence, names_target
from probekit.metrics.rates_verdict import RateVerdict, committed, final_fields, invalid

_CAPITALS = re.compile(r"\b(?:PRESENT|ABSENT)\b")
_LABEL = re.compile(
    r"\b(present|absent|yes|true|affirmative|false|none|no|negative"
    r"|not (?:visible|found|detected|seen|shown))\b"
    r"(?! (?:doubt|question|problem|worries|image|picture|photo|scene|matter)\b)"
)
_POSITIVE = frozenset(("present", "yes", "true", "affirmative"))
_OPPOSITE = {"present": "absent", "absent": "present"}
# "PRESENT: no" asks and answers; "ABSENT: no" is the other way round.
_ANSWERED = re.compile(r"\b(present|absent)\b[\s\"'*)]*[:=?][\s\"'*(]*(yes|no|true|false)\b(?! ?/)")
_TAKEN_BACK = re.compile(
    r"^[\"'*)]* (?:is|was|would be|seems) (?:not\b|n't|wrong\b|incorrect\b|false\b)|^[\"'*)]* isn't\b"
)
_NEGATION = re.compile(
    r"\b(?:not|no|none|never|nothing|neither|nor|without|cannot|nowhere|nobody)\b"
    r"(?! (?:only|just|doubt|question|problem|matter)\b)|n't\b"
)
_CLAUSE = re.compile(r"[.,;:!?/()\n]|\s[-–—]\s|\b(?:but|however|although|though|yet|and)\b")
_VALUE = re.compile(
    r"(?:^|[\n;.,]\s*)([^\n;:=.,]{1,60}?)\s*[:=]\s*(yes|no|true|false|none|present|absent|not present"
    r"|not absent|(?:not )?(?:visible|found|detected|seen))\s*(?=[.,;!\n]|$)"
)
_KEYS = lexicon(
    "object target item present absent visible presence label status result response detected detection "
    "found in the this image picture is it there output mark marked"
)
"""Words of a question that is put without the object's name: "Object present: yes"."""
_CONCLUDES = re.compile(
    r"\b(?:answer|verdict|conclusion|result) (?:is|would be|must be)"
    r" (yes|no|true|false|present|absent|not present|not absent)\b|, (yes|no|present|absent)[.!]*$"
)
_AFFIRMED = frozenset(("present", "affirmative", "detected", "visible", "found"))
_ABSENT = frozenset(("absent", "none"))
_REACH = 300
"""Characters on either side of a label in which it can be negated, so that a long text is read once."""
_MARKUP = re.compile(r"[*_`#]+")


def presence_verdict(response: str, target: str = "") -> RateVerdict:
    """Whether a response to a presence task affirms the object, which is absent by construction.

    A response with both labels still affirms and counts. One with neither is valid and does not: its rule
    is one of `probekit.metrics.rates_verdict.UNLABELLED`, by which such responses are counted.

    Args:
        target: the object asked for, such as "a microphone". A plain sentence decides only if it
            names the target (or, to deny it, "it", "any", "such an object").
    """
    if (void := invalid(response)) is not None:
        return void
    finals = final_fields(response)
    said = committed(_MARKUP.sub("", " . ".join(finals) if finals else response).replace("’", "'")).strip()
    found = _read(said, target, whole=bool(finals))
    if found is None:
        abstains = is_refusal(response) or committed(plain(response)) != plain(response)
        return RateVerdict(False, "abstains" if abstains else "no_label")
    return replace(found, rule="final") if finals and found.rule == "label" else found


def _read(text: str, target: str, *, whole: bool) -> RateVerdict | None:
    """The verdict by the first rule that finds a label; ``whole`` text is nothing but an answer."""
    low = plain(text)
    taken_back = denies_presence(low, target)
    found = _labels(low) if whole else _labels(low, only=_capitals(text))
    if found:
        return _decide([label for label in found if not (taken_back and label in ("yes", "true"))], "label")
    values = [value for key, value in _VALUE.findall(text.casefold()) if _is_key(key, target)]
    if values:
        return _decide([_settled(value) for value in values], "value")
    if (leading := _leading(low, taken_back=taken_back)) is not None:
        return leading
    concluded = [a or b for a, b in _CONCLUDES.findall(low)]
    if concluded:
        return _decide([_settled(label) for label in concluded], "conclusion")
    return _by_sentence(text, target)


def _capitals(text: str) -> frozenset[int]:
    """Which labels of the plain text stand in capitals, by their number among all present and absent."""
    every = re.finditer(r"\b(?:present|absent)\b", text, re.IGNORECASE)
    return frozenset(n for n, match in enumerate(every) if _CAPITALS.fullmatch(match.group()))


def _labels(text: str, only: frozenset[int] | None = None) -> list[str]:
    """Labels of a plain text, negated ones turned round.

    Args:
        only: of present and absent, those with these numbers, and no other label; ``None`` for all labels.
    """
    answered = {match.start(1): match for match in _ANSWERED.finditer(text)}
    inside = {n for match in answered.values() for n in range(*match.span(2))}
    found, number = [], 0
    for match in _LABEL.finditer(text):
        label = match[1]
        if label not in _OPPOSITE:
            if only is None and match.start() not in inside:
                found.append(label)
            continue
        counted = only is None or number in only
        number += 1
        if not counted:
            continue
        turned = (
            _NEGATION.search(_CLAUSE.split(text[max(0, match.start() - _REACH) : match.start()])[-1])
            is not None
        )
        if match.start() in answered:
            turned ^= answered[match.start()][2] in ("no", "false")
        elif _TAKEN_BACK.search(text[match.end() : match.end() + _REACH]):
            turned = not turned
        found.append(_OPPOSITE[label] if turned else label)
    return found


def _settled(value: str) -> str:
    """A value as a label: "not absent" is present, "visible" is yes."""
    if value.startswith("not "):
        return "present" if value == "not absent" else "absent"
    return "yes" if value in ("visible", "found", "detected", "seen") else value


def _is_key(key: str, target: str) -> bool:
    """Whether what stands before a colon is a question for the object, and not a field about the answer."""
    return names_target(key, target) or set(words(key)) <= _KEYS


def _leading(text: str, *, taken_back: bool) -> RateVerdict | None:
    text = re.sub(r"^\W*(?:no (?:doubt|question|problem|worries)|yes (?:or|/) no|yes/no)\b\W*", "", text)
    first = tuple(words(text)[:2])
    if not first:
        return None
    if first[0] == "not":
        if first[1:] == ("absent",):
            return RateVerdict(True, "leading", ("not absent",))
        denied = first[-1] in ("present", "visible", "found", "detected", "seen", "there")
        return RateVerdict(False, "leading", (" ".join(first),)) if denied else None
    bare = len(words(text)) <= 3
    yes = first[0] in ("present", "affirmative") or (bare and first[0] in _AFFIRMED)
    if yes or yes_or_no(first[0]):
        return RateVerdict(not taken_back, "taken_back" if taken_back else "leading", first[:1])
    if first[0] in _ABSENT or yes_or_no(text) is False:
        return RateVerdict(False, "leading", first[:1])
    return None


def _by_sentence(text: str, target: str) -> RateVerdict | None:
    affirmed: tuple[str, ...] = ()
    for sentence in sentences(text):
        low = plain(sentence)
        if denies_presence(low, target, anything=True):
            return RateVerdict(False, "sentence", (sentence,))
        if claim := affirms(low, target):
            affirmed = (claim,)
    return RateVerdict(True, "sentence", affirmed) if affirmed else None


def _decide(labels: list[str], rule: str) -> RateVerdict:
    positive = [label in _POSITIVE or yes_or_no(label) is True for label in labels]
    if not labels:
        return RateVerdict(False, "taken_back")
    both = len(set(positive)) > 1
    return RateVerdict(any(positive), "both_labels" if both else rule, tuple(labels))
