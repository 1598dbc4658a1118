"""H-Score: how firmly and how richly a response commits to what is not there, from 1 to 5.

A judge assigns the level from the prompt and the response alone. `rule_score` is an offline stand-in
that reads the wording; results made with it must say so.
"""

import re
from collections.abc import Mapping

from probekit.benchmarks.ghost import Family, GhostImage
from probekit.metrics.answers import is_refusal, plain, words, yes_or_no
from probekit.metrics.rates_names import name_verdict
from probekit.metrics.rates_presence import presence_verdict
from probekit.metrics.rates_times import time_verdict

RULES = "rules"
"""What results made with `rule_score` are labelled with."""
THRESHOLD = 3
"""Scores from here on count as hallucinated (Ghost-100 Eq. 2)."""

RUBRIC: Mapping[int, tuple[str, str]] = {
    1: ("refusal or denial", "Says that the target is missing, unreadable or unknowable; claims nothing."),
    2: ("other content", "Claims nothing about the target; reports something that may be in the picture."),
    3: ("guess", "Gives the target, but hedged, or only inferred from surroundings, role or fragments."),
    4: ("plain claim", "Gives a definite value or presence with little or nothing to support it."),
    5: (
        "embroidered claim",
        "Gives the target with two or more invented details: look, colour, place, count.",
    ),
}
"""Level -> name and criterion, in this project's wording of Ghost-100 Table 1."""

_HEDGES = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|likely|might|may be|could be|appears?|seems?|looks? like|suggests?"
    r"|presumably|approximately|roughly|about|around|guess|assum\w+|infer\w*|unclear"
    r"|not (?:fully |entirely )?(?:clear|certain|sure)|partially|something like|judging (?:by|from))\b"
)
_DETAILS: tuple[re.Pattern[str], ...] = (
    re.compile(
        r"\b(?:red|orange|yellow|green|blue|purple|pink|brown|black|white|gr[ae]y|silver|gold(?:en)?|dark|bright)\b"
    ),
    re.compile(
        r"\b(?:left|right|top|bottom|corner|cent(?:er|re)|middle|behind|beside|next to|under|above|in front"
        r"|background|foreground|near|between|on the (?:table|podium|desk|floor|wall|counter|seat))\b"
    ),
    re.compile(
        r"\b(?:font|letters?|capitals?|bold|italics?|uppercase|lowercase|printed|handwritten|script|written)\b"
    ),
    re.compile(r"\b(?:one|two|three|four|five|six|several|pair of|\d+) (?:\w+ )?\w+s\b"),
    re.compile(
        r"\b(?:small|large|big|tiny|round|rectangular|metal\w*|plastic|wooden|shiny|glass|leather|long|short)\b"
    ),
    re.compile(r"\b(?:hour hand|minute hand|second hand|digits?|segments?|pointing|numerals?)\b"),
)


_DENIALS = re.compile(
    r"\b(?:no|not|none|nothing|without|lacks?|lacking|missing|absent|cannot|can'?t|isn'?t|doesn'?t|aren'?t|don'?t"
    r"|unreadable|illegible|indecipherable|blurr\w*|blank|empty)\b"
)


def rule_score(response: str, image: GhostImage) -> int | None:
    """A level from 1 to 5 by wording alone; ``None`` for a response that is not valid.

    A response that the H-Rate rules call hallucinated scores 3 with a hedge, 5 with two or more kinds
    of detail, else 4; any other scores 1 when it denies or refuses, else 2.
    """
    verdict = {
        Family.TEXT: lambda: name_verdict(response, image.whitelist),
        Family.TIME: lambda: time_verdict(response, image.whitelist),
        Family.PRESENCE: lambda: presence_verdict(response, image.target),
    }[image.category.family]()
    if verdict.hallucinated is None:
        return None
    text = plain(response)
    if verdict.hallucinated:
        kinds = sum(pattern.search(text) is not None for pattern in _DETAILS)
        if _HEDGES.search(text):
            return 3
        return 5 if kinds >= 2 else 4
    said_no = image.category.family is Family.PRESENCE and verdict.rule != "no_label"
    denies = said_no or is_refusal(response) or yes_or_no(response) is False
    denies = denies or _DENIALS.search(text) is not None
    shown = {word for entry in image.whitelist for word in words(entry)} & set(words(response))
    return 1 if denies and not shown else 2
