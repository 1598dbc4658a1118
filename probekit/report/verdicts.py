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
    UNLABELLED = "no label"
    UNSCORED = "no score"


SIGNS: dict[Verdict, str] = {
    Verdict.HIT: "▲✓",
    Verdict.MISS: "✗",
    Verdict.FALSE_ALARM: "▲✗",
    Verdict.FINE: "✓",
    Verdict.UNLABELLED: "–",
    Verdict.UNSCORED: "?",
}
"""A triangle says flagged; tick and cross say right and wrong. Readable without colour."""


def verdict(label: Label, flagged: bool | None) -> Verdict:
    """The verdict on one mention; ``flagged`` is ``None`` when it has no score."""
    if flagged is None:
        return Verdict.UNSCORED
    if label is Label.EXCLUDED:
        return Verdict.UNLABELLED
    if label is Label.HALLUCINATED:
        return Verdict.HIT if flagged else Verdict.MISS
    return Verdict.FALSE_ALARM if flagged else Verdict.FINE
