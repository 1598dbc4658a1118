"""Reading needs memory for one array, however many shards and captures a store has."""

import tracemalloc
from dataclasses import replace
from pathlib import Path

from probekit.captures import HiddenState
from probekit.store import Store, StoreWriter, hdf5


def test_memory_stays_flat(tiny, tmp_path: Path) -> None:
    header = replace(tiny.header, width=1024)
    captures = (HiddenState(1), HiddenState(2))
    rows = tiny.rows(0, 128)
    one = 128 * 1024 * 4
    with StoreWriter.create(tmp_path, header, captures) as writer:
        for number in range(24):
            rows.example_id[:] = [f"{number}-{i}" for i in range(len(rows))]
            writer.write(number, rows, {c: tiny.array(c, rows, number, header) for c in captures})
    store = Store.open(tmp_path)

    def read(numbers: range) -> int:
        tracemalloc.start()
        for number in numbers:
            store.shard(number)[captures[0]].sum()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    read(range(1))
    few, many = read(range(2)), read(range(24))
    assert many < 1.05 * few + 65536
    assert many < 3 * one, "one array as bits, as float32, and little else"


def test_only_what_is_asked_for_is_read(tiny, store_path: Path, monkeypatch) -> None:
    names: list[str] = []
    real = hdf5.read

    def spy(path: Path, *asked: str):
        names.extend(asked)
        return real(path, *asked)

    monkeypatch.setattr(hdf5, "read", spy)
    store = Store.open(store_path)
    assert names == []
    shard = store.shard(1)
    assert all(name.startswith("rows/") for name in names)
    names.clear()
    shard[HiddenState()]
    assert names == [f"captures/{HiddenState().key}"]
