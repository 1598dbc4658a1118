"""Kullback-Leibler divergence between next-token distributions, position by position."""

import numpy as np
from jaxtyping import Float

from probekit.errors import ContractError, InputError

CHUNK = 64
"""Positions normalised at once, so that a long answer over a large vocabulary stays small in memory."""


def log_softmax(logits: Float[np.ndarray, "t vocabulary"]) -> Float[np.ndarray, "t vocabulary"]:
    """Log-probabilities in float64 at temperature 1. Values that are normalised already do not change."""
    values = logits.astype(np.float64)
    top = values.max(axis=-1, keepdims=True)
    shifted = values - np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def kl_per_position(
    full: Float[np.ndarray, "t vocabulary"], other: Float[np.ndarray, "t vocabulary"]
) -> Float[np.ndarray, "t"]:
    """KL(full || other) in nats at each answer position. Tri-Layer Eq. 2, 3; SPEC 4.2.

    Args:
        full: logits or log-probabilities at the query of each answer token under the full image.
        other: the same positions of the same answer under the paired condition. Rows are matched on
            the answer index: absolute positions differ when the images have other token counts.

    Returns:
        Divergences that are never negative; NaN where either side has a NaN; infinite where ``other``
        rules out a word that ``full`` allows.

    Raises:
        InputError: the two sides have other shapes.
    """
    if full.shape != other.shape:
        raise InputError(
            f"distributions of shape {full.shape} against {other.shape}",
            hint="Pass both on the same answer: rows are matched by answer index, not by position.",
        )
    found = np.empty(len(full), dtype=np.float64)
    for start in range(0, len(full), CHUNK):
        part = slice(start, start + CHUNK)
        p, q = log_softmax(full[part]), log_softmax(other[part])
        with np.errstate(invalid="ignore"):
            terms = np.where(np.isneginf(p), 0.0, np.exp(p) * (p - q))
        found[part] = terms.sum(axis=-1)
    if np.any(found < -1e-9):
        raise ContractError(f"a divergence of {np.nanmin(found):.3g} is negative")
    return np.where(found < 0, 0.0, found)
