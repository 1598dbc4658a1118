"""The next-token distribution behind logits, in pieces so that a large vocabulary fits in memory."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

_ROWS = 128
"""Rows turned to float64 at once."""


def log_normalizer(logits: Float[np.ndarray, "question vocabulary"]) -> Float[np.ndarray, "question"]:
    """Log of the sum of exponentials of each row; logits minus it are log-probabilities in nats."""
    values = np.empty(len(logits))
    for rows, piece in _pieces(logits):
        top = piece.max(axis=1, keepdims=True)
        values[rows] = top[:, 0] + np.log(np.exp(piece - top).sum(axis=1))
    return values


def entropy(logits: Float[np.ndarray, "question vocabulary"]) -> Float[np.ndarray, "question"]:
    """Entropy of each row's distribution in nats; NaN for a row with NaN."""
    values = np.empty(len(logits))
    for rows, piece in _pieces(logits):
        shifted = piece - piece.max(axis=1, keepdims=True)
        weight = np.exp(shifted)
        total = weight.sum(axis=1)
        # An impossible token has no share: exp(-inf) * -inf would be NaN.
        inner = np.where(np.isneginf(shifted), 0.0, weight * shifted).sum(axis=1)
        values[rows] = np.log(total) - inner / total
    return values


def _pieces(
    logits: Float[np.ndarray, "question vocabulary"],
) -> Iterator[tuple[slice, Float[np.ndarray, "piece vocabulary"]]]:
    for start in range(0, len(logits), _ROWS):
        rows = slice(start, min(start + _ROWS, len(logits)))
        yield rows, logits[rows].astype(np.float64)
