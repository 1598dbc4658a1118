"""MetaToken: cheap statistics of the object's tokens. SPEC 1.6; Fieback et al. 2024.

The feature list comes from a secondary source and is unverified against the authors' code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probekit.captures import STATISTICS, Capture, TokenStatistics
from probekit.detectors.attention import IMAGE, captures
from probekit.detectors.base import Detector, Evidence, Features
from probekit.detectors.heads.logistic import Logistic


@dataclass(frozen=True)
class TokenMeta(Features):
    """H + 10 numbers: place, repetition, image attention per head, likelihoods, spread.

    Entropy stays in nats: dividing by ln V is a constant that standardisation removes.

    Attributes:
        layer: block whose image attention is used; -1 is the last.
        alpha: exponent of the length that divides the cumulative log-probability.
    """

    layer: int = -1
    alpha: float = 1.0

    def needs(self) -> tuple[Capture, ...]:
        return (*captures(1), TokenStatistics())

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row dim"]:
        mass_key, count_key = captures(1)
        mass = shard[mass_key][:, -1, self.layer, :, IMAGE].astype(np.float64)
        keys = shard[count_key][:, -1, IMAGE].astype(np.float64)[:, None]
        statistics = np.asarray(shard[TokenStatistics()], dtype=np.float64)
        value = {name: statistics[:, column] for column, name in enumerate(STATISTICS)}
        rows = shard.rows
        with np.errstate(invalid="ignore", divide="ignore"):
            place = rows.token / np.where(rows.tokens > 0, rows.tokens, np.nan)
            attention = mass / np.where(keys > 0, keys, np.nan)
            sequence = value["cumulative_logp"] / np.power(rows.token_end + 1.0, self.alpha)
        top1, top2 = np.exp(value["top1_logp"]), np.exp(value["top2_logp"])
        columns = [
            place,
            rows.occurrences.astype(np.float64),
            *attention.T,
            value["span_logp"],
            value["cumulative_logp"],
            sequence,
            value["logp_variance"],
            value["entropy"],
            1 - top1,
            (1 - top1) + top2,
            value["top1_logp"] - value["logp"],
        ]
        return np.stack(columns, axis=1).astype(np.float32)


METATOKEN = Detector("metatoken", TokenMeta(), Logistic(scale=True))
