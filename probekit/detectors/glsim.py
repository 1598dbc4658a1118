"""GLSim: how near the object's state is to the prompt's and to the image's. SPEC 2.4; Park and Li 2025."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from probekit.captures import SIMILARITY_TERMS, Capture, ImageSimilarity
from probekit.detectors.base import Detector, Evidence, Features


@dataclass(frozen=True)
class GlobalLocalSimilarity(Features):
    """Minus w * global + (1 - w) * local cosine similarity.

    Attributes:
        weight: w, the share of the global term.
        global_layers: layers of the global term as in the paper (prompt at L, object at L-1) or as in
            the released code, which swaps them; the local term is the same in both.
        k: image positions of the local term.
    """

    weight: float = 0.6
    global_layers: Literal["paper", "code"] = "paper"
    k: int = 32

    def needs(self) -> tuple[Capture, ...]:
        return (ImageSimilarity(k=self.k),)

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row 1"]:
        terms = np.asarray(shard[ImageSimilarity(k=self.k)], dtype=np.float64)
        whole = terms[:, SIMILARITY_TERMS.index(f"global_{self.global_layers}")]
        local = terms[:, SIMILARITY_TERMS.index("local")]
        return -(self.weight * whole + (1 - self.weight) * local)[:, None]


GLSIM = Detector("glsim", GlobalLocalSimilarity())
