"""Entropy of the next-token distribution at the query of t*. SPEC 2.6."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probekit.captures import STATISTICS, Capture, TokenStatistics
from probekit.detectors.base import Detector, Evidence, Features


@dataclass(frozen=True)
class NextTokenEntropy(Features):
    """Nats at temperature 1, over the whole vocabulary."""

    def needs(self) -> tuple[Capture, ...]:
        return (TokenStatistics(),)

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row 1"]:
        statistics = np.asarray(shard[TokenStatistics()], dtype=np.float64)
        return statistics[:, [STATISTICS.index("entropy")]]


ENTROPY = Detector("entropy", NextTokenEntropy())
