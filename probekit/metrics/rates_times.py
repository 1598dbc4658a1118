"""H-Rate, categories 04 to 06: an explicit time was given. SPEC 5.1.

A value counts however it is hedged. A number that is not put forward as the time does not count.
"""

import re
from collections.abc import Iterable

from probekit.metrics.answers import plain, words
from probekit.metrics.rates_verdict import RateVerdict, final_fields

_HOUR_WORD = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_MINUTE_WORD = (
    rf"(?:(?:twenty|thirty|forty|fifty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|{_TEENS}"
    r"|o(?:h)?[- '](?:one|two|three|four|five|six|seven|eight|nine))"
)
_HOUR = r"(?:[01]?\d|2[0-3])"
_MERIDIEM = r"(?:a\.m\.?|p\.m\.?|am\b|pm\b)(?! ?/)"
_PARTS = rf"(?:{_HOUR}|{_HOUR_WORD})"

PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # 23:59 and 10:10:35, also with blanks round the colon; 25:10 and 7:5 are no times.
    ("clock", re.compile(rf"(?<![\d:.]){_HOUR} ?: ?[0-5]\d(?: ?: ?[0-5]\d)?(?![\d:]|\.\d)")),
    ("meridiem", re.compile(rf"(?<![\d:.])(?:0?\d|1[0-2])(?:[.:][0-5]\d)? ?{_MERIDIEM}")),
    ("meridiem_word", re.compile(rf"\b(?:{_HOUR_WORD})(?:[- ]{_MINUTE_WORD})? ?(?:{_MERIDIEM})")),
    ("oclock", re.compile(rf"\b{_PARTS} ?o ?'? ?clock\b")),
    (
        "spelled",
        re.compile(
            rf"\b(?:half|(?:a )?quarter|(?:{_MINUTE_WORD}|five|[0-5]?\d) minutes?"
            rf"|(?:{_MINUTE_WORD}|five|[0-5]?\d)(?= past)) (?:past|to|after|before|till) {_PARTS}\b"
            r"(?! ?(?:minutes?|mins?|hours?|seconds?)\b)"
        ),
    ),
    (
        "spelled_hour_minute",
        re.compile(
            r"\b(?:reads?|says?|shows?|is|at|about|around|approximately|be) "
            rf"(?:{_HOUR_WORD})[- ]{_MINUTE_WORD}\b(?! (?:\w+s|percent|people)\b)"
        ),
    ),
    # "ten to four" is a time where the clause ends there; "five to ten people" is a range.
    (
        "spelled_to",
        re.compile(rf"\b(?:{_MINUTE_WORD}|five) to (?:{_HOUR_WORD})(?=\W*(?:$|[.,;!?)]| and\b| in the\b))"),
    ),
    ("hour_dot", re.compile(rf"(?<![\d:.]){_HOUR}(?:h[0-5]\d\b|\.[0-5]\d(?: ?h(?:rs|ours)?\b| hours\b))")),
    (
        "hours_and_minutes",
        re.compile(rf"\b{_PARTS} hours?,? (?:and )?(?:[0-5]?\d|{_MINUTE_WORD}|{_HOUR_WORD}) minutes?\b"),
    ),
)
_PRESENTED = re.compile(
    r"\b(?:the )?(?:current |exact |displayed |shown )?time(?: (?:on|shown|displayed|printed|in|of|given)"
    r"(?: \w+){0,6}?)? ?(?:is|was|reads|says|shows|:|=|(?:would|could|might|may|appears to|seems to) be)"
    r"(?: (?:approximately|about|around|roughly|nearly|almost|exactly|likely|probably|possibly|at|to be"
    rf"|currently|near|close to|just (?:past|before|after)))* ?((?:{_HOUR}(?:[ .]?[0-5]\d)?|{_HOUR_WORD})"
    rf"(?: {_MINUTE_WORD})?|noon|midnight|midday)\b(?![.:]\d| ?(?:%|kg|g\b|km|bar|°|degrees|percent|volts?))"
)
_BARE_SPELLED = re.compile(rf"^(?:{_HOUR_WORD})[- ]{_MINUTE_WORD}$|^(?:noon|midnight|midday)$")
_DENIED = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bnor)(?: (?:be|read|show|say|exactly|a|at|as))*\s*['\"(]*$"
)
_REACH = 300
"""Characters before a value in which it can be denied. Without a bound a long text would be
read again for each of its values."""


def time_verdict(
    response: str, whitelist: Iterable[str] = (), *, count_visible_yes: bool = False
) -> RateVerdict:
    """Whether a response to a time task commits to a time value.

    Args:
        whitelist: what can be read on this image beside the target; a value on it does not count.
        count_visible_yes: also count a bare "Yes" to whether the time is visible (SPEC 5.1, tone 1).
    """
    if not response.strip():
        return RateVerdict(None, "invalid")
    finals = final_fields(response)
    text = plain(". ".join(finals) if finals else response)
    listed = {plain(entry) for entry in whitelist}
    for rule, pattern in PATTERNS:
        found = [match for match in pattern.finditer(text) if _counts(match, text, listed)]
        if found:
            return RateVerdict(True, rule, tuple(match.group().strip() for match in found))
    presented = [match for match in _PRESENTED.finditer(text) if match.group(1) not in listed]
    if presented:
        return RateVerdict(True, "presented", tuple(match.group(1) for match in presented))
    bare = text.strip(" .!*_[]()\"'")
    if _BARE_SPELLED.match(bare) and bare not in listed:
        return RateVerdict(True, "spelled", (bare,))
    if count_visible_yes and words(text)[:1] == ["yes"]:
        return RateVerdict(True, "visible_yes", ("yes",))
    if re.fullmatch(r"[\d. ]+", bare):
        return RateVerdict(False, "bare_number", (bare,))
    return RateVerdict(False, "no_time")


def _counts(match: re.Match[str], text: str, listed: set[str]) -> bool:
    return match.group().strip() not in listed and not _denied(match, text)


def _denied(match: re.Match[str], text: str) -> bool:
    start = match.start()
    return _DENIED.search(text[max(0, start - _REACH) : start]) is not None
