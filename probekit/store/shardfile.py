"""One shard on disk: a row table and one array for each capture."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from probekit.captures import Capture
from probekit.errors import ContractError, StoreError
from probekit.store import hdf5
from probekit.store.codec import Bfloat16, Stored, encode
from probekit.store.schema import ATTENTION_DTYPE, Header, row_shape
from probekit.store.table import COLUMNS, TEXT_COLUMNS, RowTable

ROWS = "rows/"
CAPTURES = "captures/"


def datasets(
    header: Header, rows: RowTable, arrays: Mapping[Capture, np.ndarray | Bfloat16]
) -> dict[str, Stored]:
    """Every array of a shard in its stored type; their invariants are still to be checked.

    Raises:
        ContractError: a shape is wrong, or a value does not fit; the sample, the capture and the
            layer are named.
    """
    attention = str(header.extra.get(ATTENTION_DTYPE, "float16"))
    repeated = [key for key, count in Counter(rows.keys).items() if count > 1]
    if repeated:
        raise ContractError("the row occurs twice in its shard", where=f"sample {repeated[0]}")
    found = {ROWS + name: _column(name, getattr(rows, name)) for name in COLUMNS}
    for capture, values in arrays.items():
        shape = values.bits.shape if isinstance(values, Bfloat16) else values.shape
        wanted = (len(rows), *row_shape(capture, header))
        if shape != wanted:
            raise ContractError(
                f"shape {shape}, expected {wanted}",
                where=capture.key,
                hint=f"Axes: row, {', '.join(capture.axes)}.",
            )
        found[CAPTURES + capture.key] = encode(capture, values, rows, attention)
    return found


def read_rows(file: Path) -> RowTable:
    """The row table of a shard file."""
    stored = hdf5.read(file, *(ROWS + name for name in COLUMNS))
    return RowTable(**{name: _decoded_column(file, name, stored[ROWS + name].values) for name in COLUMNS})


def read_capture(file: Path, capture: Capture) -> Shaped[np.ndarray, "row ..."]:
    """One capture of a shard file; reduced precision comes back as float32."""
    name = CAPTURES + capture.key
    return hdf5.read(file, name)[name].decoded()


def _column(name: str, values: np.ndarray) -> Stored:
    if name not in TEXT_COLUMNS:
        return Stored.of(values, compress=True)
    texts = [str(value) for value in values.tolist()]
    bad = next((text for text in texts if "\0" in text), None)
    if bad is not None:
        raise ContractError(f"{name} {bad!r} holds a NUL character")
    return Stored.of(np.array([text.encode() for text in texts] or [b""], "S")[: len(texts)], compress=True)


def _decoded_column(file: Path, name: str, values: np.ndarray) -> np.ndarray:
    if name not in TEXT_COLUMNS:
        return values
    try:
        return np.array([value.decode() for value in values.tolist()] or [""], dtype=object)[: len(values)]
    except UnicodeDecodeError as error:
        raise StoreError(f"column {name} is not UTF-8: {error}", where=str(file)) from None
