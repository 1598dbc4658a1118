"""DHCP: where on the picture every head looks while the object is written. SPEC 1.3; Zhang et al. 2025."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from probekit.captures import AttentionGrid, Capture
from probekit.detectors.base import Detector, Evidence, Features
from probekit.detectors.heads.dhcp_mlp import DhcpMlp


@dataclass(frozen=True)
class ImageAttention(Features):
    """Attention to each cell of the image grid, per layer and head, layer-major: rows x columns x L x H."""

    capture: AttentionGrid = field(default_factory=AttentionGrid)

    def needs(self) -> tuple[Capture, ...]:
        return (self.capture,)

    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row dim"]:
        grid = shard[self.capture]
        return grid.reshape(len(grid), -1).astype(np.float32)


DHCP = Detector("dhcp", ImageAttention(), DhcpMlp())
