"""What a detector's flag is worth once the label of the mention is known."""

from __future__ import annotations

from enum import StrEnum

from probekit.labels import Label


class Verdict(StrEnum):
    """Right or wrong, in four ways, and two ways of having no verdict."""

    HIT = "flagged hallucination"
    MISS = "missed hallucination"
    FALSE_ALARM = "false alarm"
    FINE = "rightly left alone"
    OPEN = "no verdict"
    UNSCORED = "no score"


SIGNS: dict[Verdict, str] = {
    Verdict.HIT: "▲✓",
    Verdict.MISS: "✗",
    Verdict.FALSE_ALARM: "▲✗",
    Verdict.FINE: "✓",
    Verdict.OPEN: "–",
    Verdict.UNSCORED: "?",
}
"""A triangle says flagged; tick and cross say right and wrong. Readable without colour."""


def verdict(label: Label, scored: bool, flagged: bool | None) -> Verdict:
    """The verdict on one mention.

    Args:
        label: its class; an excluded or unlabelled mention gets no verdict.
        scored: whether the detector gave it a score.
        flagged: whether the score is above the threshold; ``None`` when there is no threshold.
    """
    if not scored:
        return Verdict.UNSCORED
    if label is Label.EXCLUDED or flagged is None:
        return Verdict.OPEN
    if label is Label.HALLUCINATED:
        return Verdict.HIT if flagged else Verdict.MISS
    return Verdict.FALSE_ALARM if flagged else Verdict.FINE
