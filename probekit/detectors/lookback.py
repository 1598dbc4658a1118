"""Lookback Lens: attention to the context against attention to what was just written. SPEC 1.1.

Chuang et al. 2024. The ratio uses means over keys, not sums, and the assistant header counts as new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from probekit.captures import Capture
from probekit.detectors.attention import CONTEXT, NEW, captures, mean_over_slots, slots_present
from probekit.detectors.base import Detector, Evidence, Features
from probekit.detectors.heads.logistic import Logistic


@dataclass(frozen=True)
class LookbackRatio(Features):
    """Ratio a_context / (a_context + a_new) of every layer and head, averaged over the window.

    Attributes:
        window: caption tokens averaged, ending at the object's first sub-token.
        sink: count the first token of the sequence as context, as the published code does.
    """

    window: int = 4
    sink: bool = True

    def needs(self) -> tuple[Capture, ...]:
        return captures(self.window)

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row dim"]:
        mass_key, count_key = captures(self.window)
        mass = shard[mass_key][:, -self.window :]
        count = shard[count_key][:, -self.window :]
        context = _mean_attention(mass, count, CONTEXT if self.sink else CONTEXT[1:])
        new = _mean_attention(mass, count, NEW)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = context / (context + new)
        # Without a header the first token has no new keys: the whole attention is on the context.
        ratio[_nothing_new(count)] = 1.0
        ratio[np.isnan(mass).any(axis=-1)] = np.nan
        mean = mean_over_slots(ratio, slots_present(count))
        return mean.reshape(len(mean), -1).astype(np.float32)

    def flags(self, shard: Evidence) -> Mapping[str, Bool[np.ndarray, " row"]]:
        count = shard[captures(self.window)[1]][:, -self.window :]
        return {"nothing new, ratio set to 1": (_nothing_new(count) & slots_present(count)).any(axis=1)}


def _mean_attention(mass: np.ndarray, count: np.ndarray, groups: tuple[int, ...]) -> np.ndarray:
    """Mean attention per key of some groups, (row, slot, layer, head)."""
    keys = count[..., groups].sum(axis=-1).astype(np.float64)[:, :, None, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(mass[..., groups].sum(axis=-1, dtype=np.float64) / keys)


def _nothing_new(count: np.ndarray) -> np.ndarray:
    return np.asarray(count[..., NEW].sum(axis=-1) == 0)


LOOKBACK = Detector("lookback", LookbackRatio(), Logistic())
