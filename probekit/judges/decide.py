"""From a model's three answers about a mention to its usage, by rule (SPEC 3.4, NAME-Bench Table 9)."""

from __future__ import annotations

import re

from probekit.judges.verdict import Verdict
from probekit.labels import Usage

CUE = re.compile(
    r"\b(?:no|not|none|without|absent|absence|lack|lacks|lacking|nor|neither|devoid)\b|n['’]t\b",
    re.IGNORECASE,
)
"""The negation cues of the published rule; ``n't`` ends its word."""

USAGES = ("existential", "non_assertive", "ambiguous")
MECHANISMS = {
    "hedged": Usage.HEDGED,
    "depictive": Usage.DEPICTIVE,
    "purpose": Usage.PURPOSE,
    "intensional": Usage.PURPOSE,
    "generic": Usage.GENERIC,
}
"""The five mechanisms asked for; purpose and intensional are one subtype."""


def first_step(refers: bool, usage: str, trigger: str) -> Verdict | None:
    """The verdict when the first answer settles it; ``None`` for a non-assertive mention."""
    if not refers:
        return Verdict(Usage.NOT_OBJECT, trigger)
    if usage == "existential":
        return Verdict(Usage.EXISTENTIAL, trigger)
    return Verdict(Usage.AMBIGUOUS, trigger) if usage == "ambiguous" else None


def non_assertive(mechanism: str, compound: str | None, trigger: str) -> Verdict:
    """The verdict on a non-assertive mention.

    Args:
        mechanism: one of `MECHANISMS`.
        compound: the larger expression the mention is only a part of; ``None`` when it stands for itself.
        trigger: the phrase of the first step. A negation cue in it overrides every mechanism but depictive;
            a compound is dropped, which here is generic, as is a generic mention without a cue.
    """
    if compound is not None:
        return Verdict(Usage.GENERIC, compound or trigger)
    kind = MECHANISMS[mechanism]
    if kind is not Usage.DEPICTIVE and CUE.search(trigger):
        return Verdict(Usage.NEGATION, trigger)
    return Verdict(kind, trigger)
