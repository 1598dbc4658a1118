"""What the H-Rate rules say of one response, and what they share: fields, validity, doubt."""

import re
import unicodedata
from dataclasses import dataclass

_FINAL = re.compile(
    r"\b(?:final(?: answer| label| verdict)?|answer|verdict|decision)\b[\s*_\"'`]*[:=][\s*_]*([^;\n]*)",
    re.IGNORECASE,
)
_TELL = (
    r"(?:tell|say|determine|decide|know|see|make out|read|verify|confirm|be (?:sure|certain)|judge|establish"
    r"|discern|ascertain)"
)
_UNTOLD = re.compile(
    r"\b(?:(?:can(?:not| not|'t)|could(?: not|n't)|do(?: not|n't)|(?:unable|not able|impossible|not possible"
    rf"|no way|hard|difficult|too \w+) to)(?: \w+ly)? {_TELL}(?: \w+){{0,3}}?"
    r"|(?:not|n't)(?: \w+ly)? (?:sure|certain|clear|known)(?: \w+){0,2}?"
    r"|un(?:sure|clear|certain|known|decided)(?: \w+){0,2}?) (?:whether|if)\b.*?"
    r"(?=(?<![ap]\.m)[.!?;](?:\s|$)|\n|,? (?:but|however|though|although|yet|still)\b"
    r"|, (?:so|it|i|my|the (?:time|clock|watch|name|badge|object))\b|$)",
    re.IGNORECASE,
)
UNLABELLED = ("abstains", "no_label")
"""Rules of valid presence answers with neither an affirmative nor a negative label."""
INVALID = ("empty", "undecodable")
"""Rules of responses that are not valid, which no rate counts."""


@dataclass(frozen=True, slots=True)
class RateVerdict:
    """One response under the rules.

    Attributes:
        hallucinated: whether it commits to something the picture cannot support; ``None`` when the
            response is not valid (empty, or not decodable): left out of the rate and counted.
        rule: name of the rule that decided.
        evidence: the words the rule went by.
    """

    hallucinated: bool | None
    rule: str
    evidence: tuple[str, ...] = ()


def invalid(response: str) -> RateVerdict | None:
    """The verdict on a response that is not valid; ``None`` for one that is. SPEC 5.1.

    Valid are non-empty, decodable responses. What was not decodable stands as U+FFFD or control characters.
    """
    if not response.strip():
        return RateVerdict(None, "empty")
    if all(c.isspace() or c == "\ufffd" or unicodedata.category(c) in ("Cc", "Cs", "Cn") for c in response):
        return RateVerdict(None, "undecodable")
    return None


def final_fields(response: str) -> list[str]:
    """What stands after each ``Final:`` or ``Answer:``, up to a semicolon or the line's end; never empty."""
    return [field.strip(" .*_\"'`[]()") for field in _FINAL.findall(response) if field.strip(" .*_\"'`[]()")]


def committed(text: str) -> str:
    """The text without what it says it cannot tell: "I cannot tell whether it is 3:00 or 9:00" gives neither.

    Args:
        text: with straight apostrophes.
    """
    return _UNTOLD.sub(" ", text)
