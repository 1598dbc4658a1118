"""Between arrays and what is stored: number types, casts that must not lose a value, bfloat16."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Shaped, UInt16

from probekit.captures import Capture, HiddenState
from probekit.errors import ContractError
from probekit.rows import RowKey
from probekit.store.table import RowTable

BFLOAT16 = "bfloat16"


@dataclass(frozen=True, eq=False)
class Bfloat16:
    """An array of bfloat16 numbers, which numpy does not have, as their 16 bits.

    From torch: ``Bfloat16(tensor.view(torch.uint16).numpy())``.
    """

    bits: UInt16[np.ndarray, "..."]

    @classmethod
    def round(cls, values: Float[np.ndarray, "..."]) -> "Bfloat16":
        """The nearest bfloat16 of each value, ties to even; a value too large for it becomes inf."""
        word = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
        rounded = (word + (np.uint32(0x7FFF) + ((word >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
        nan = (word & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
        return cls(np.where(nan, np.uint16(0x7FC0), rounded.astype(np.uint16)))

    def float32(self) -> Float32[np.ndarray, "..."]:
        """The same numbers in float32, exactly."""
        wide: np.ndarray = np.left_shift(self.bits, np.uint32(16), dtype=np.uint32)
        return wide.view(np.float32)


Values = np.ndarray | Bfloat16


@dataclass(frozen=True, eq=False)
class Stored:
    """One dataset as it goes into the file.

    Attributes:
        values: the array in its stored type, C order.
        kind: name of the number type; ``bfloat16`` for bits kept as uint16.
        compress: whether the file compresses it.
    """

    values: Shaped[np.ndarray, "..."]
    kind: str
    compress: bool

    @classmethod
    def of(cls, values: np.ndarray | Bfloat16, *, compress: bool = False) -> "Stored":
        """Store ``values`` in the type they have."""
        if isinstance(values, Bfloat16):
            return cls(np.ascontiguousarray(values.bits), BFLOAT16, compress)
        array = np.require(values, requirements="C")
        return cls(array, array.dtype.name, compress)

    def decoded(self) -> Shaped[np.ndarray, "..."]:
        """The array a reader gets: reduced precision comes back as float32."""
        if self.kind == BFLOAT16:
            return Bfloat16(self.values).float32()
        return self.values.astype(np.float32) if self.values.dtype == np.float16 else self.values


def encode(capture: Capture, values: np.ndarray | Bfloat16, rows: RowTable, attention: str) -> Stored:
    """Give ``values`` the stored type of ``capture``.

    Args:
        capture: what the values are.
        values: leading axis row.
        rows: who the rows are, for messages.
        attention: stored type of attention, ``float16`` or ``float32``.

    Raises:
        ContractError: the values have the wrong type, or one does not fit the stored type; the
            sample, the capture and the layer are named.
    """
    if capture.storage == "state":
        if isinstance(values, np.ndarray) and values.dtype not in (np.float16, np.float32):
            raise ContractError(
                f"states are bfloat16, float16 or float32, found {values.dtype}", where=capture.key
            )
        return Stored.of(values)
    if isinstance(values, Bfloat16):
        raise ContractError("only states are kept as bfloat16", where=capture.key)
    target = np.dtype(attention if capture.storage == "attention" else capture.storage)
    if values.dtype.kind not in ("iu" if target.kind == "i" else "f"):
        raise ContractError(f"{target} is needed, found {values.dtype}", where=capture.key)
    return Stored.of(_cast(capture, values, rows, target), compress=True)


def _cast(capture: Capture, values: np.ndarray, rows: RowTable, target: np.dtype[Any]) -> np.ndarray:
    if values.dtype == target:
        return values
    if target.kind == "i":
        limits = np.iinfo(target)
        outside = (values < limits.min) | (values > limits.max)
        cast = values.astype(target)
    else:
        with np.errstate(over="ignore"):
            cast = values.astype(target)
        outside = np.isinf(cast) & np.isfinite(values)
    if outside.any():
        first = tuple(int(i) for i in np.argwhere(outside)[0])
        raise ContractError(
            f"{values[first]} does not fit {target}",
            where=place(capture, rows, first),
            hint="A larger stored type keeps it: attention can be stored as float32.",
        )
    return cast


def place(capture: Capture, rows: RowTable, at: tuple[int, ...]) -> str:
    """Words for one entry of a capture's array: the sample, the capture, then the named axes."""
    key: RowKey = rows.keys[at[0]]
    words = [f"sample {key}", capture.key]
    if isinstance(capture, HiddenState):
        words.append(f"layer {capture.layer}")
    named = zip(capture.axes, at[1:], strict=False)
    words += [f"{axis} {index}" for axis, index in named if axis not in ("dim", "cell")]
    return ", ".join(words)
