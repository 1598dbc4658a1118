"""Probes on the residual stream at the mention, middle and last layer. SPEC 1.2; NAME-Bench 4, Appendix B."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from probekit.captures import Capture, HiddenState
from probekit.detectors.base import Detector, Evidence, Features
from probekit.detectors.heads.logistic import Logistic


@dataclass(frozen=True)
class State(Features):
    """One stored state as it is; layer, position, window and norm are the capture's own parameters."""

    capture: HiddenState = field(default_factory=HiddenState)

    def needs(self) -> tuple[Capture, ...]:
        return (self.capture,)

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row dim"]:
        return np.asarray(shard[self.capture], dtype=np.float32)


HIDDEN_MID = Detector("hidden_mid", State(HiddenState(layer="mid")), Logistic())
HIDDEN_LAST = Detector("hidden_last", State(HiddenState(layer="last")), Logistic())
