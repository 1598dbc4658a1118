"""How much the last prompt token looks at the picture: POPE-audit's statistic. SPEC 3.3, 0.4."""

import math

import numpy as np
from jaxtyping import Float

from probekit.errors import InputError

FIRST_BLOCK, LAST_BLOCK, OF_DEPTH = 14, 20, 32
"""The paper's blocks, inclusive, in a model of 32."""


def scaled_blocks(depth: int, first: int = FIRST_BLOCK, last: int = LAST_BLOCK) -> tuple[int, int]:
    """The inclusive block range of a model with ``depth`` blocks that the paper's range corresponds to.

    Each end is scaled by depth / 32 and rounded half up (SPEC 0.4).

    Raises:
        InputError: the range is empty or leaves the model.
    """
    ends = tuple(math.floor(block * depth / OF_DEPTH + 0.5) for block in (first, last))
    low, high = ends[0], min(ends[1], depth - 1)
    if not 0 <= low <= high:
        raise InputError(f"blocks {first} to {last} of {OF_DEPTH} are empty at depth {depth}")
    return low, high


def image_attention(
    mass: Float[np.ndarray, "row layer head"], blocks: tuple[int, int] | None = None
) -> Float[np.ndarray, "row"]:
    """Mean over blocks and heads of the attention mass on image tokens.

    Args:
        mass: sum over image tokens of the last prompt token's attention, in [0, 1]; a row with a
            missing value in the range is NaN.
        blocks: inclusive range; the paper's, scaled to the depth, when ``None``.

    Raises:
        InputError: the range leaves the model.
    """
    low, high = scaled_blocks(mass.shape[1]) if blocks is None else blocks
    if not 0 <= low <= high < mass.shape[1]:
        raise InputError(f"blocks {low} to {high} of a model with {mass.shape[1]}")
    return np.asarray(mass[:, low : high + 1].mean(axis=(1, 2), dtype=np.float64))
