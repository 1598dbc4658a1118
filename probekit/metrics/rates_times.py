"""H-Rate, categories 04 to 06: an explicit time was given. SPEC 5.1.

A value counts however it is hedged. A number that is not put forward as the time does not count, and the
whitelist excuses only such: "unless they are used as a time answer" (Ghost-100 3.6).
"""

import re
from collections.abc import Iterable

from probekit.metrics.answers import plain, words
from probekit.metrics.rates_verdict import RateVerdict, committed, final_fields, invalid

_HOUR_WORD = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_MINUTE_WORD = (
    rf"(?:(?:twenty|thirty|forty|fifty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|{_TEENS}"
    r"|o(?:h)?[- '](?:one|two|three|four|five|six|seven|eight|nine))"
)
_HOUR = r"(?:[01]?\d|2[0-3])"
_MERIDIEM = r"(?:a\.m\.?|p\.m\.?|am\b|pm\b)(?! ?/)"
_PARTS = rf"(?:{_HOUR}|{_HOUR_WORD})"
_NAMED = r"(?:(?:12 |twelve )?(?:noon|midnight|midday))"
_SOFTLY = (
    r"(?:,? (?:approximately|about|around|roughly|nearly|almost|exactly|likely|probably|possibly|maybe"
    r"|perhaps|at|to be|currently|now|near|close to|either|like|just (?:past|before|after))){0,6}"
)
_HEDGES = rf"{_SOFTLY}[ :]+"
_IT_IS = (
    r"\b(?:it is|it's|it was|it (?:looks|seems|appears)(?: like| to be)?"
    r"|it (?:could|might|may|must|would|should) be)"
)
_CLOCK_SHOWS = (
    r"\b(?:clock|watch|timepiece)(?: \w+){0,5}? (?:reads?|says?|shows?|displays?|indicates?|gives?|is at)"
    r"(?: a time of)?"
)
# Not before a unit or a thing that is counted, and not in a list of numerals.
_ENDS = (
    rf"(?=\W*$|[.,;!?)](?! ?(?:and )?(?:\d|(?:{_HOUR_WORD})\b))| (?:and|or) (?!(?:\d|{_HOUR_WORD}|{_TEENS}))"
    r"| (?:(?:in|on) the (?:morning|afternoon|evening|image|picture|photo\w*|clock|watch|dial)"
    r"|(?:but|o'?clock|exactly|sharp|though|although|now|as|because|since|according|based|from|judging))\b)"
)

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
    (
        "part_of_day",
        re.compile(
            rf"(?<![\d:.])(?<!the )\b(?:{_HOUR}(?:\.[0-5]\d)?|(?:{_HOUR_WORD})(?:[- ]{_MINUTE_WORD})?)"
            r" (?:in the (?:\w+ )?(?:morning|afternoon|evening)|at night)\b"
        ),
    ),
    (
        "four_digits",
        re.compile(
            r"(?<![\d:.])(?:[01]\d|2[0-3])[0-5]\d ?(?:hours|hrs|h)\b(?! (?:of|long|run|running|total|in)\b)"
        ),
    ),
    ("named_hour", re.compile(rf"(?:{_IT_IS}|{_CLOCK_SHOWS}){_HEDGES}{_NAMED}\b")),
    (
        "clock_shows",
        re.compile(
            rf"{_CLOCK_SHOWS}{_HEDGES}(?:{_HOUR}(?:[. ][0-5]\d)?|(?:{_HOUR_WORD})(?:[- ]{_MINUTE_WORD})?)"
            rf"{_ENDS}"
        ),
    ),
    (
        "it_is",
        re.compile(
            rf"{_IT_IS}{_HEDGES}(?:{_HOUR}(?:\.[0-5]\d)?|(?:{_HOUR_WORD})(?:[- ]{_MINUTE_WORD})?){_ENDS}"
        ),
    ),
)
_PRESENTED = re.compile(
    r"\b(?:the )?(?:current |exact |displayed |shown )?time(?: (?:on|shown|displayed|printed|in|of|given)"
    r"(?: \w+){0,6}?)? ?(?:is|was|reads|says|shows|(?<!\d):|="
    r"|(?:would|could|might|may|appears to|seems to) be)"
    rf"{_SOFTLY} ?((?:{_HOUR}(?:[ .]?[0-5]\d)?|{_HOUR_WORD})"
    rf"(?: {_MINUTE_WORD})?|{_NAMED})\b(?![.:]\d| ?(?:%|kg|g\b|km|bar|°|degrees|percent|volts?))"
)
_BARE_SPELLED = re.compile(rf"^(?:{_HOUR_WORD})[- ]{_MINUTE_WORD}$|^{_NAMED}$")
_DENIED = re.compile(
    r"(?:\b(?:not|cannot|never|neither|nor|rather than|instead of|unlike)|n't)"
    r"(?: (?:be|been|have|read|show|say|exactly|a|at|as|to))*\s*['\"(]*$"
)
_REACH = 300
"""Characters before a value in which it can be denied. Without a bound a long text would be
read again for each of its values."""
_AS_TIME = re.compile(r"\b(?:time|clock|watch|timepiece|it is|it's|that is|hour)\b")
_SENTENCE = re.compile(r"(?<![ap]\.m)[.;!?]\s")


def time_verdict(
    response: str, whitelist: Iterable[str] = (), *, count_visible_yes: bool = False
) -> RateVerdict:
    """Whether a response to a time task commits to a time value.

    Args:
        whitelist: what can be read on this image beside the target. It excuses a value that the response
            reads out, not one that it gives as the time.
        count_visible_yes: also count a bare "Yes" to whether the time is visible (SPEC 5.1, tone 1).
    """
    if (void := invalid(response)) is not None:
        return void
    finals = final_fields(response)
    text = committed(plain(". ".join(finals) if finals else response)).strip()
    bare = text.strip(" .!*_[]()\"'")
    listed = {plain(entry) for entry in whitelist}
    for rule, pattern in PATTERNS:
        found = [match for match in pattern.finditer(text) if _counts(match, text, bare, listed)]
        if found:
            return RateVerdict(True, rule, tuple(match.group().strip() for match in found))
    presented = [match for match in _PRESENTED.finditer(text) if not _denied(match, text)]
    if presented:
        return RateVerdict(True, "presented", tuple(match.group(1) for match in presented))
    if _BARE_SPELLED.match(bare):
        return RateVerdict(True, "spelled", (bare,))
    if count_visible_yes and words(text)[:1] == ["yes"]:
        return RateVerdict(True, "visible_yes", ("yes",))
    if re.fullmatch(r"[\d. ]+", bare):
        return RateVerdict(False, "bare_number", (bare,))
    return RateVerdict(False, "no_time")


def _counts(match: re.Match[str], text: str, bare: str, listed: set[str]) -> bool:
    """Whether a value is committed to: not denied, and not read out from what the image bears."""
    if _denied(match, text):
        return False
    value = match.group().strip()
    numbers = re.findall(r"\d+(?:[.:]\d+)*", value)
    if value not in listed and not (numbers and all(number in listed for number in numbers)):
        return True
    sentence = _SENTENCE.split(text[max(0, match.end() - _REACH) : match.end()])[-1]
    return value == bare or _AS_TIME.search(sentence) is not None


def _denied(match: re.Match[str], text: str) -> bool:
    start = match.start()
    return _DENIED.search(text[max(0, start - _REACH) : start]) is not None
