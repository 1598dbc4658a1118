"""Among mentions that claim nothing, are those of absent objects flagged more? NAME-Bench Table 7."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probekit.detectors.table import NON_ASSERTIVE
from probekit.evaluation.pooled import Pooled
from probekit.evaluation.protocol import Protocol, Scored
from probekit.labels import NON_ASSERTIVE as SUBTYPES


@dataclass(frozen=True)
class AbsentPresent:
    """One detector on one subtype.

    Attributes:
        detector: its name.
        mix: budget of its fit set.
        subtype: non-assertive subtype, or ``all``.
        absent: share flagged where the object is not in the image.
        present: share flagged where it is.
        auroc: how well the score tells the two apart; 0.5 says it does not see the absence.
    """

    detector: str
    mix: str
    subtype: str
    absent: Pooled
    present: Pooled
    auroc: Pooled


def absent_against_present(protocol: Protocol, scored: Scored) -> list[AbsentPresent]:
    """Non-assertive test mentions, pooled and by subtype; mentions of unknown presence are left out."""
    everyone = protocol.population
    masks = {"all": everyone.label == NON_ASSERTIVE}
    masks |= {str(name): np.asarray(everyone.subtype == str(name)) for name in SUBTYPES}
    found = []
    for name, mask in masks.items():
        absent, present = mask & (everyone.present == 0), mask & (everyone.present == 1)
        found.append(
            AbsentPresent(
                scored.detector,
                scored.mix,
                name,
                protocol.share(scored, absent),
                protocol.share(scored, present),
                protocol.separation(scored, absent, present),
            )
        )
    return found
