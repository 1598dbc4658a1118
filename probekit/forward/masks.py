"""Which keys each query sees, where several texts lie in one row.

A mask of transformers counts places in a row. Here a row holds a tree, so a query sees its own text's
past; what a model adds to that (layers with a window, tokens of a picture that see each other) is laid
over it by position in the text.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from probekit.families import Vlm

Mask = Tensor | dict[str, Tensor]
"""``(row, 1, query, key)``, true where seen; one a kind of layer where the kinds differ."""


def masks(
    vlm: Vlm,
    sees: Bool[np.ndarray, "row query key"],
    queries: Int[np.ndarray, "row query"],
    keys: Int[np.ndarray, "row key"],
    blocks: Int[np.ndarray, "row key"] | None = None,
) -> Mask:
    """The model's attention mask for rows that hold several texts.

    Args:
        sees: which keys belong to each query's past, itself included.
        queries: position of each query in its text, from 0.
        keys: position of each key in its text.
        blocks: block of each key, where queries and keys are the same tokens; -1 for none.
    """
    together = None
    if blocks is not None and (blocks >= 0).any():
        together = (blocks[:, :, None] == blocks[:, None, :]) & (blocks >= 0)[:, :, None]
    layers = vlm.family.together_in
    found = {}
    for kind, window in vlm.windows.items():
        seen = sees
        if together is not None and (not layers or kind in layers):
            seen = seen | together
        if window is not None:
            seen = seen & (keys[:, None, :] > queries[:, :, None] - window)
        found[kind] = torch.from_numpy(seen)[:, None].to(vlm.device)
    return next(iter(found.values())) if len(found) == 1 else found
