"""Position baseline: how late in the text the mention comes. SPEC 2.6.

Hallucinations come late, so a detector that is no better than this one may have learnt where, not what.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probekit.captures import Capture
from probekit.detectors.base import Detector, Evidence, Features


@dataclass(frozen=True)
class TokenPosition(Features):
    """t*, or t* / T when ``relative``; NaN where the row has no tokens."""

    relative: bool = False

    def needs(self) -> tuple[Capture, ...]:
        return ()

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row 1"]:
        token = shard.rows.token.astype(np.float64)
        token[token < 0] = np.nan
        if not self.relative:
            return token[:, None]
        length = shard.rows.tokens.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(length > 0, token / length, np.nan)[:, None]


POSITION = Detector("position", TokenPosition(), baseline=True)
