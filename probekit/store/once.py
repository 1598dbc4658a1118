"""Arrays kept once for a whole store, such as the output head that turns states into logits."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from probekit.errors import InputError, StoreError
from probekit.files import read_json, write_json
from probekit.store import hdf5, hdf5_write
from probekit.store.codec import Bfloat16, Stored
from probekit.store.digests import content_digest
from probekit.store.schema import ONCE_FOLDER


@dataclass(frozen=True)
class OnceEntry:
    """What is kept under one name; both digests as in the manifest."""

    name: str
    file: Path
    sha256: str
    content: str


def write(path: Path, name: str, arrays: Mapping[str, np.ndarray | Bfloat16]) -> None:
    """Write ``arrays`` under ``name`` in the store at ``path``; the same values again change nothing."""
    if not name.isidentifier():
        raise InputError(f"{name!r} is not a name", where=str(path), hint="Use letters and underscores.")
    file = path / ONCE_FOLDER / f"{name}.h5"
    stored = {
        key: Stored.of(np.asarray(v) if not isinstance(v, Bfloat16) else v) for key, v in arrays.items()
    }
    if file.with_suffix(".json").exists() and file.exists():
        if load(path)[name].content != content_digest(stored):
            raise InputError(f"other values are already kept as {name!r}", where=str(path))
        return
    written = hdf5_write.write(file, stored, {"name": name})
    write_json(file.with_suffix(".json"), {"sha256": written.sha256, "content": written.content})


def load(path: Path) -> dict[str, OnceEntry]:
    """What the store at ``path`` keeps once, by name."""
    entries: dict[str, OnceEntry] = {}
    for file in sorted((path / ONCE_FOLDER).glob("*.json")):
        value = read_json(file)
        entries[file.stem] = OnceEntry(
            file.stem, file.with_suffix(".h5"), str(value["sha256"]), str(value["content"])
        )
    return entries


def find(path: Path, name: str) -> OnceEntry:
    """The entry ``name``.

    Raises:
        StoreError: the store keeps nothing under that name.
    """
    entries = load(path)
    if name not in entries:
        raise StoreError(
            f"the store keeps no {name!r}",
            where=str(path),
            hint=f"It keeps: {', '.join(entries) or 'nothing'}.",
        )
    return entries[name]


def read(entry: OnceEntry) -> dict[str, np.ndarray]:
    """All arrays of an entry; reduced precision comes back as float32."""
    arrays = hdf5.read(entry.file, *hdf5.names(entry.file))
    return {name: stored.decoded() for name, stored in arrays.items()}
