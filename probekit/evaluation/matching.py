"""Position-matched subsets: the classes that are compared stand equally late in their texts. SPEC 3.4."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

BINS = 10
REPEATS = 3


def position_bins(position: Int[np.ndarray, " row"], bins: int = BINS) -> Int[np.ndarray, " row"]:
    """Quantile bin of each absolute position, edges from all positions pooled; ties share a bin."""
    if len(position) == 0:
        return np.zeros(0, dtype=np.int64)
    edges = np.unique(np.quantile(position, np.linspace(0, 1, bins + 1)[1:-1]))
    return np.searchsorted(edges, position, side="left").astype(np.int64)


def matched(
    position: Int[np.ndarray, " row"],
    label: Int[np.ndarray, " row"],
    classes: Sequence[int],
    seed: int,
    bins: int = BINS,
) -> Int[np.ndarray, " chosen"]:
    """Rows left when every class is cut, bin by bin, to the smallest class of that bin.

    Args:
        position: t* of each row.
        label: class code of each row.
        classes: the classes compared; other rows are left out.
        seed: of the draw.
        bins: quantile bins of the pooled positions.

    Returns:
        Sorted row indices; every class has the same histogram over the bins.
    """
    rows = np.flatnonzero(np.isin(label, list(classes)))
    binned = position_bins(position[rows], bins)
    random = np.random.default_rng([seed, 43])
    chosen: list[np.ndarray] = []
    for at in range(binned.max(initial=-1) + 1):
        members = [rows[(binned == at) & (label[rows] == code)] for code in classes]
        least = min(len(group) for group in members)
        chosen += [random.permutation(group)[:least] for group in members]
    return np.sort(np.concatenate(chosen)) if chosen else rows[:0]
