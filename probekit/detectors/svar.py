"""SVAR: summed visual attention ratio. SPEC 2.1; Jiang Z. et al. 2025.

Little attention from the query that emits the object to the picture means doubt, so the sum is negated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probekit.captures import Capture
from probekit.detectors.attention import IMAGE, captures, scaled_layers
from probekit.detectors.base import Detector, Evidence, Features


@dataclass(frozen=True)
class Svar(Features):
    """Minus the image mass at the query of t*, mean over heads, summed over blocks ``first..last``.

    Attributes:
        first: first block, 0-based, of a model with ``of`` layers.
        last: last block, inclusive; both scale with depth (SPEC 0.4).
        of: depth that the two refer to.
    """

    first: int = 5
    last: int = 18
    of: int = 32

    def needs(self) -> tuple[Capture, ...]:
        return captures(1)[:1]

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row 1"]:
        mass = shard[captures(1)[0]]
        low, high = scaled_layers(self.first, self.last, self.of, mass.shape[2])
        image = mass[:, -1, low : high + 1, :, IMAGE].astype(np.float64)
        return np.asarray(-image.mean(axis=2).sum(axis=1, keepdims=True))


SVAR = Detector("svar", Svar())
