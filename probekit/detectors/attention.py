"""What the attention-based methods share: which groups, which slots, which layers."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float, Int

from probekit.captures import GROUPS, AttentionMass, GroupCount

IMAGE = GROUPS.index("image")
CAPTION = GROUPS.index("caption")
CONTEXT = tuple(GROUPS.index(name) for name in ("bos", "context_before", "image", "context_after"))
NEW = tuple(GROUPS.index(name) for name in ("header", "caption"))


def captures(window: int) -> tuple[AttentionMass, GroupCount]:
    """The captures that hold the last ``window`` slots; the stored window is four wherever that will do."""
    kept = max(4, window)
    return AttentionMass(window=kept), GroupCount(window=kept)


def scaled_layers(first: int, last: int, of: int, depth: int) -> tuple[int, int]:
    """Inclusive 0-based blocks ``first..last`` of a model with ``of`` layers, at another depth. SPEC 0.4.

    Halves round up; Python's own rounding would give 22 in place of 23 at 40 layers.
    """
    low, high = (math.floor(edge * depth / of + 0.5) for edge in (first, last))
    return min(low, depth - 1), min(high, depth - 1)


def slots_present(count: Int[np.ndarray, "row slot group"]) -> Bool[np.ndarray, "row slot"]:
    """Slots inside the caption; those before its start hold -1."""
    return np.asarray(count[:, :, 0] >= 0)


def mean_over_slots(
    values: Float[np.ndarray, "row slot *rest"], present: Bool[np.ndarray, "row slot"]
) -> Float[np.ndarray, row * rest]:
    """Mean over the slots that exist. A present slot that is NaN makes the mean NaN; no slot, NaN too."""
    shape = present.shape + (1,) * (values.ndim - 2)
    total = np.where(present.reshape(shape), values, 0.0).sum(axis=1)
    number = present.sum(axis=1).astype(np.float64).reshape((-1,) + (1,) * (values.ndim - 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / number)
