"""Where a score starts to count as a flag: a fixed share of true, asserted mentions is flagged. SPEC 3.4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

TARGET = 0.10


@dataclass(frozen=True)
class Threshold:
    """A flag is ``score > value``.

    Attributes:
        value: NaN when there was nothing to set it on; then nothing can be flagged or cleared.
        target: share of calibration concrete mentions that should be flagged.
        achieved: share that is; lower than the target when scores tie at the value.
        n: calibration concrete mentions.
    """

    value: float
    target: float
    achieved: float
    n: int

    @classmethod
    def of(cls, concrete: Float[np.ndarray, " row"], target: float = TARGET) -> Threshold:
        """Set on calibration scores of concrete mentions: percentile with linear interpolation."""
        if len(concrete) == 0:
            return cls(float("nan"), target, float("nan"), 0)
        value = float(np.quantile(concrete, 1 - target, method="linear"))
        return cls(value, target, float((concrete > value).mean()), len(concrete))

    def flag(self, scores: Float[np.ndarray, " row"]) -> Bool[np.ndarray, " row"]:
        """Which scores lie above."""
        return np.asarray(scores > self.value)
