"""VADE proxy: attention to the image over all layers and heads, averaged over the window. SPEC 2.2.

The published VADE is a trained sequence model whose text and code could not be read; this stands in
for it under its own name and must not be reported as VADE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from probekit.captures import Capture
from probekit.detectors.attention import IMAGE, captures, mean_over_slots, slots_present
from probekit.detectors.base import Detector, Evidence, Features


@dataclass(frozen=True)
class VadeProxy(Features):
    """Minus the image mass, pooled over heads, mean over layers and over the window.

    Attributes:
        head_pool: mean or maximum over the heads of a layer.
        layers: inclusive 0-based blocks; ``None`` for all.
        window: caption tokens averaged, ending at t*.
    """

    head_pool: Literal["mean", "max"] = "mean"
    layers: tuple[int, int] | None = None
    window: int = 4

    def needs(self) -> tuple[Capture, ...]:
        return captures(self.window)

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row 1"]:
        mass_key, count_key = captures(self.window)
        image = shard[mass_key][:, -self.window :, :, :, IMAGE].astype(np.float64)
        if self.layers is not None:
            image = image[:, :, self.layers[0] : self.layers[1] + 1]
        pooled = image.max(axis=3) if self.head_pool == "max" else image.mean(axis=3)
        present = slots_present(shard[count_key][:, -self.window :])
        return -mean_over_slots(pooled.mean(axis=2), present)[:, None]


VADE_PROXY = Detector("vade_proxy", VadeProxy())
