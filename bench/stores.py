"""The store against raw files, and factored logits against full ones."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from bench.measure import Measured, ratio
from probekit.captures import HiddenState, Logits
from probekit.store import Bfloat16, Header, RowTable, StoreWriter, row_shape


def _header(width: int, vocabulary: int, depth: int) -> Header:
    return Header(
        "bench",
        "bench",
        "0",
        "llava",
        "probekit_rows",
        "bfloat16",
        "0",
        {},
        float("nan"),
        depth,
        8,
        width,
        vocabulary,
        64,
    )


def bytes_per_position() -> Measured:
    """Bytes a position of full logits over factored ones, V = 152k, D = 3,584, bfloat16."""
    header = _header(3584, 152_064, 28)
    full, factored = (np.prod(row_shape(Logits(form=form), header)) * 2 for form in ("full", "factored"))
    return Measured(
        "bytes_per_position", float(full / factored), "ratio", f"{full:,} over {factored:,} bytes"
    )


def write_rate(repeats: int, rows: int = 2000, layers: int = 12, width: int = 3584) -> Measured:
    """Raw file writing of the same bytes, fsynced, in time over the store's writing of them."""
    rng = np.random.default_rng(0)
    captures = tuple(HiddenState(layer=layer) for layer in range(1, layers + 1))
    bits = rng.integers(1, 30_000, (rows, width), dtype=np.uint16)
    arrays = {capture: Bfloat16(bits + layer) for layer, capture in enumerate(captures)}
    text = np.array([f"e{n}" for n in range(rows)], dtype=object)
    number = np.arange(rows)
    table = RowTable(text, number, text, text, *(number for _ in range(7)))
    blobs = [array.bits.tobytes() for array in arrays.values()]
    folder = Path(tempfile.mkdtemp(prefix="bench-store-"))
    counter = iter(range(10_000))

    def store() -> None:
        with StoreWriter.create(folder / f"s{next(counter)}", _header(width, 1000, layers), captures) as out:
            out.write(0, table, arrays)

    def raw() -> None:
        with (folder / f"r{next(counter)}").open("wb") as out:
            for blob in blobs:
                out.write(blob)
            out.flush()
            os.fsync(out.fileno())

    size = sum(map(len, blobs)) / 1e6
    measured = ratio(
        "write_rate",
        raw,
        store,
        repeats=repeats,
        detail=f"{size:.0f} MB of bfloat16 states, digests included",
    )
    for file in folder.rglob("*"):
        if file.is_file():
            file.unlink()
    return measured
