"""Visual Necessity Score: how far the next-token distributions move when the picture is taken away."""

import math

import numpy as np
from jaxtyping import Bool, Float

from probekit.errors import InputError

TOP = 0.3
"""Share of answer positions averaged, those of highest divergence (Tri-Layer 3.3)."""


def kept(positions: int, fraction: float = TOP) -> int:
    """How many positions are averaged: the ceiling of the share, at least one. SPEC 4.2."""
    # 0.3 * 10 is 3.0000000000000004 for some fractions in binary; it must not round up to 4.
    return max(1, math.ceil(round(fraction * positions, 9)))


def vns(
    kl: Float[np.ndarray, "t"], *, fraction: float = TOP, mask: Bool[np.ndarray, "t"] | None = None
) -> float:
    """Mean of the largest divergences, in nats. Tri-Layer 3.3; SPEC 4.2.

    The same function serves the blind, noise and conflict scores: they differ in what ``kl`` compares.

    Args:
        kl: KL(full || other) at each position of the teacher-forced answer to the full image.
        fraction: share of positions averaged; 1 is the plain mean.
        mask: positions that count, false on an end-of-sequence token.

    Returns:
        The score; NaN when no position counts or a counted one is NaN.

    Raises:
        InputError: the fraction is not in (0, 1] or the mask has another length.
    """
    if not 0 < fraction <= 1:
        raise InputError(f"fraction {fraction} of positions", hint="Give a number above 0 and at most 1.")
    if mask is not None and len(mask) != len(kl):
        raise InputError(f"a mask of {len(mask)} positions for {len(kl)} divergences")
    counted = kl if mask is None else kl[mask]
    if counted.size == 0 or np.isnan(counted).any():
        return math.nan
    return float(np.sort(counted.astype(np.float64))[::-1][: kept(counted.size, fraction)].mean())
