"""Factored logits: normed last states times the output head that the store holds once (ENGINE 3)."""

import numpy as np
from jaxtyping import Float32

from probekit.errors import StoreError
from probekit.store import hdf5
from probekit.store.once import OnceEntry

_WORDS = 8192


def logits(entry: OnceEntry, states: Float32[np.ndarray, "row dim"]) -> Float32[np.ndarray, "row vocabulary"]:
    """``cap * tanh(x / cap)`` of ``x = scale * (states @ weight.T + bias)``, in float32.

    The head is read in blocks of words, so memory holds no more than the result and one block.

    Args:
        entry: the head: ``weight`` (V, D) and, where the model has them, ``bias`` (V,), ``scale``
            and ``softcap`` (one number each).
        states: normed last states, row by D.

    Raises:
        StoreError: the head has no weight, or another width than the states.
    """
    held = hdf5.names(entry.file)
    if "weight" not in held:
        raise StoreError("the head holds no 'weight'", where=str(entry.file))

    def number(name: str) -> np.float32 | None:
        return (
            np.float32(hdf5.read(entry.file, name)[name].decoded().reshape(-1)[0]) if name in held else None
        )

    scale, cap = number("scale"), number("softcap")
    bias = hdf5.read(entry.file, "bias")["bias"].decoded().astype(np.float32) if "bias" in held else None
    parts: list[np.ndarray] = []
    start = 0
    for block in hdf5.blocks(entry.file, "weight", _WORDS):
        weight = block.decoded().astype(np.float32, copy=False)
        if weight.shape[1] != states.shape[1]:
            raise StoreError(
                f"the head is {weight.shape[1]} wide, the states are {states.shape[1]}", where=str(entry.file)
            )
        part = states @ weight.T
        if bias is not None:
            part += bias[start : start + len(weight)]
        if scale is not None:
            part *= scale
        if cap is not None:
            part = cap * np.tanh(part / cap)
        parts.append(part)
        start += len(weight)
    return np.concatenate(parts, axis=1)
