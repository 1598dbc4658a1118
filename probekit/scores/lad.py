"""Latent Anomaly Detection: how much likelier a refusal becomes when the picture is taken away."""

import math
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from probekit.errors import InputError

LadVariant = Literal["eq1", "best"]
"""``eq1``: the largest difference over anchors, the paper's equation. ``best``: the difference of the
anchor that is likeliest on the replaced image, as the paper's text reads (SPEC 8, Tri-Layer 1)."""


def sequence_score(token_logp: Float[np.ndarray, "t"], mask: Bool[np.ndarray, "t"] | None = None) -> float:
    """S(a | I, Q): mean log-probability of the text's own tokens, in nats. Tri-Layer 3.2; SPEC 4.2.

    Args:
        token_logp: log P(a_t | a_<t, I, Q), teacher-forced after the assistant header.
        mask: tokens that count, false on an end-of-sequence token.

    Returns:
        The mean; NaN when no token counts or one is NaN.
    """
    if mask is not None and len(mask) != len(token_logp):
        raise InputError(f"a mask of {len(mask)} tokens for {len(token_logp)} log-probabilities")
    counted = token_logp if mask is None else token_logp[mask]
    return float(counted.astype(np.float64).mean()) if counted.size else math.nan


def lad(
    other: Float[np.ndarray, "anchor"],
    full: Float[np.ndarray, "anchor"],
    variant: LadVariant = "eq1",
) -> float:
    """Latent Anomaly Detection score, in nats per token. Tri-Layer Eq. 1; SPEC 4.2.

    Args:
        other: S(a | blind, Q) of each refusal anchor (or S(a | noise, Q) for the noise twin).
        full: S(a | full, Q) of the same anchors in the same order.
        variant: see `LadVariant`.

    Returns:
        Positive when a refusal is likelier without the picture; NaN when any anchor is missing.

    Raises:
        InputError: there is no anchor, or the two sides have other lengths.
    """
    if other.size == 0 or other.shape != full.shape:
        raise InputError(f"{other.size} anchor scores against {full.size}", hint="Score the same anchors.")
    if np.isnan(other).any() or np.isnan(full).any():
        return math.nan
    difference = other.astype(np.float64) - full.astype(np.float64)
    return float(difference.max() if variant == "eq1" else difference[int(other.argmax())])
