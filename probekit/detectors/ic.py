"""Internal Confidence: does any image position, at any depth, decode to the object? SPEC 2.3.

Jiang N. et al. 2025. The published code keeps the 50 likeliest words per position for LLaVA-1.5 and an
exact softmax elsewhere; the two are variants of the capture (``topk``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from probekit.captures import Capture, InternalConfidence
from probekit.detectors.base import Detector, Evidence, Features


@dataclass(frozen=True)
class LensConfidence(Features):
    """Minus the largest lens probability of the object over hs[0..L] and image positions."""

    capture: InternalConfidence = field(default_factory=InternalConfidence)

    def needs(self) -> tuple[Capture, ...]:
        return (self.capture,)

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row 1"]:
        confidence = np.asarray(shard[self.capture], dtype=np.float64)
        return np.asarray(-confidence.max(axis=1, keepdims=True))


IC = Detector("ic", LensConfidence())
