"""THRONE asked only about what a caption mentions, as NAME-Bench uses it (4.1, Appendix F; SPEC 3.2).

A mention is flagged when the judges say its class is present and the annotations do not have it. Usage then
tells a hallucination from an object that was only named.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from probekit.labels import NON_ASSERTIVE, RowLabel, Usage
from probekit.metrics.estimates import Estimate, ratio
from probekit.metrics.throne import Verdict


@dataclass(frozen=True, slots=True)
class Flagged:
    """Share of a group's mentions that THRONE calls hallucinated.

    Attributes:
        group: ``hallucinated`` (the share is a recall), ``concrete``, ``non_assertive``, or a subtype of it.
        share: with its interval over resampled images.
        disqualified: mentions of the group on which neither answer reached the threshold.
    """

    group: str
    share: Estimate
    disqualified: int


def flagged_by_group(
    labels: Sequence[RowLabel], verdicts: Sequence[Verdict], images: Sequence[str], *, seed: int = 0
) -> tuple[Flagged, ...]:
    """How often each group of mentions is flagged.

    Disqualified mentions are dropped, except that a disqualified hallucination counts as missed.

    Args:
        labels: usage and presence of each mention.
        verdicts: what the votes on its class in its caption came to.
        images: image of each mention.
    """
    groups = (
        ("hallucinated", [r.usage is Usage.EXISTENTIAL and r.present is False for r in labels]),
        ("concrete", [r.usage is Usage.EXISTENTIAL and r.present is True for r in labels]),
        ("non_assertive", [r.usage in NON_ASSERTIVE and r.present is not None for r in labels]),
        *((str(kind), [r.usage is kind and r.present is not None for r in labels]) for kind in NON_ASSERTIVE),
    )
    flagged = np.asarray(
        [v is Verdict.PRESENT and r.present is False for v, r in zip(verdicts, labels, strict=True)], float
    )
    unsure = np.asarray([v is Verdict.DISQUALIFIED for v in verdicts], bool)
    out = []
    for name, members in groups:
        member = np.asarray(members, bool)
        counted = member if name == "hallucinated" else member & ~unsure
        share = ratio(flagged * counted, counted.astype(float), images, seed=seed)
        out.append(Flagged(name, share, int((member & unsure).sum())))
    return tuple(out)
