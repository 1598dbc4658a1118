"""PAS: attention to the words already written. SPEC 2.5; Hoang et al. 2026.

At the first block this is close to a proxy of position: read it beside the position baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from probekit.captures import AttentionMass, Capture
from probekit.detectors.attention import CAPTION
from probekit.detectors.base import Detector, Evidence, Features


@dataclass(frozen=True)
class PreliminaryAttention(Features):
    """Mean over heads of the mass on caption tokens before the object; 0 for the first token.

    Attributes:
        layer: 0-based block.
        row: the row of the query that emits the object, or the object's own row without its own key.
    """

    layer: int = 0
    row: Literal["query", "self"] = "query"

    def needs(self) -> tuple[Capture, ...]:
        return (AttentionMass(read_at=self.row),)

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row 1"]:
        mass = shard[AttentionMass(read_at=self.row)]
        before = mass[:, -1, self.layer, :, CAPTION].astype(np.float64)
        return np.asarray(before.mean(axis=1, keepdims=True))


PAS = Detector("pas", PreliminaryAttention())
