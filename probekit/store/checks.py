"""What must hold before numbers are written: no zero rows, nothing infinite, masses sum to one."""

import numpy as np

from probekit.captures import AttentionMass, Capture, GroupCount
from probekit.errors import ContractError
from probekit.store.codec import BFLOAT16, Stored, place
from probekit.store.table import RowTable

MASS_TOLERANCE = 2e-3
"""How far the sum of masses over groups may be from one (SPEC 0.5)."""

_BLOCK_BYTES = 1 << 19


def check(capture: Capture, stored: Stored, rows: RowTable) -> None:
    """Assert the invariants of ``capture`` on the values as they will be stored.

    Raises:
        ContractError: one does not hold; the sample, the capture and the layer are named.
    """
    if len(rows) == 0:
        return
    if stored.values.dtype.kind in "iu" and stored.kind != BFLOAT16:
        if isinstance(capture, GroupCount):
            _check_counts(capture, stored.values, rows)
        return
    _check_floats(capture, stored, rows)
    if isinstance(capture, AttentionMass):
        _check_masses(capture, stored.values, rows)


def magnitude_bits(stored: Stored) -> tuple[np.ndarray, int]:
    """Largest magnitude of each row as raw bits, and the first bit pattern that is not finite.

    Bits of floating-point magnitudes order as the magnitudes do, with inf and NaN above all, so one
    pass over the integers answers both "is a row all zero" and "is everything finite".
    """
    size = stored.values.dtype.itemsize
    unsigned = {2: np.uint16, 4: np.uint32, 8: np.uint64}[size]
    limit = {2: 0x7F80 if stored.kind == BFLOAT16 else 0x7C00, 4: 0x7F800000, 8: 0x7FF0000000000000}[size]
    bits = stored.values.reshape(len(stored.values), -1).view(unsigned)
    mask = unsigned((1 << (8 * size - 1)) - 1)
    largest = np.zeros(len(bits), dtype=np.uint64)
    step = max(1, _BLOCK_BYTES // max(1, bits.shape[1] * size))
    for start in range(0, len(bits), step):
        block = bits[start : start + step]
        if block.size:
            largest[start : start + step] = (block & mask).max(axis=1)
    return largest, limit


def missing_slots(rows: RowTable, window: int) -> np.ndarray:
    """True where a window slot precedes the start of the caption; row by slot, the last slot is t*."""
    slots = np.arange(window) - (window - 1)
    missing: np.ndarray = rows.token[:, None] + slots[None, :] < 0
    return missing


def _check_floats(capture: Capture, stored: Stored, rows: RowTable) -> None:
    largest, limit = magnitude_bits(stored)
    zero = np.flatnonzero(largest == 0)
    if capture.storage in ("state", "attention") and len(zero):
        raise ContractError(
            "the whole row is zero",
            where=place(capture, rows, (int(zero[0]),)),
            hint="Rows of zeros are never data: the pass that made this row did not reach it.",
        )
    for row in np.flatnonzero(largest >= limit):
        one = Stored(stored.values[row], stored.kind, False).decoded()
        infinite = np.argwhere(np.isinf(one))
        if len(infinite):
            at = (int(row), *(int(i) for i in infinite[0]))
            raise ContractError("the value is infinite", where=place(capture, rows, at))
        if capture.storage == "state":
            every = bool(np.isnan(one).all())
            raise ContractError(
                "the whole row is NaN" if every else "a state holds NaN",
                where=place(capture, rows, (int(row),)),
                hint="States are never missing; look at the pass, for instance for a float16 overflow.",
            )


def _check_masses(capture: AttentionMass, values: np.ndarray, rows: RowTable) -> None:
    missing = missing_slots(rows, capture.window)
    sums = values.sum(axis=-1, dtype=np.float32)
    nan = np.isnan(values)
    absent = missing[:, :, None, None]
    wrong_absent = np.argwhere(absent & ~nan.all(axis=-1))
    if len(wrong_absent):
        at = tuple(int(i) for i in wrong_absent[0])
        raise ContractError(
            f"a slot before the start of the caption holds attention (t* = {rows.token[at[0]]})",
            where=place(capture, rows, at),
            hint="Such slots are NaN in every layer, head and group.",
        )
    with np.errstate(invalid="ignore"):
        off = ~absent & ~(np.abs(sums - 1.0) <= MASS_TOLERANCE)
    if off.any():
        at = tuple(int(i) for i in np.argwhere(off)[0])
        raise ContractError(
            f"attention masses sum to {float(sums[at]):.6g}, not to 1 within {MASS_TOLERANCE:g}",
            where=place(capture, rows, at),
            hint="The key groups must cover every visible key once.",
        )


def _check_counts(capture: GroupCount, values: np.ndarray, rows: RowTable) -> None:
    missing = missing_slots(rows, capture.window)[:, :, None]
    wrong = np.argwhere(np.where(missing, values != -1, values < 0))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        raise ContractError(
            f"group count {int(values[at])} where t* = {rows.token[at[0]]}",
            where=place(capture, rows, at),
            hint="Slots before the start of the caption hold -1, all others a count.",
        )
