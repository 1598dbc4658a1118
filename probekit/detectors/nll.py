"""Negative log-likelihood of the object's first sub-token. SPEC 2.6."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from probekit.captures import STATISTICS, Capture, TokenStatistics
from probekit.detectors.base import Detector, Evidence, Features


@dataclass(frozen=True)
class NegativeLogLikelihood(Features):
    """Nats at temperature 1.

    Attributes:
        tokens: the object's first sub-token, or the mean over all its sub-tokens.
    """

    tokens: Literal["first", "mean"] = "first"

    def needs(self) -> tuple[Capture, ...]:
        return (TokenStatistics(),)

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row 1"]:
        statistics = np.asarray(shard[TokenStatistics()], dtype=np.float64)
        if self.tokens == "first":
            return -statistics[:, [STATISTICS.index("logp")]]
        length = (shard.rows.token_end - shard.rows.token + 1)[:, None]
        return np.asarray(-statistics[:, [STATISTICS.index("span_logp")]] / length)


NLL = Detector("nll", NegativeLogLikelihood())
