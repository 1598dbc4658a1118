"""Reads a whole store and says what is wrong with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from probekit.captures import Capture
from probekit.errors import ContractError, StoreError
from probekit.rows import RowKey
from probekit.store import hdf5, once
from probekit.store.checks import check, magnitude_bits
from probekit.store.codec import Stored
from probekit.store.digests import combine
from probekit.store.manifest import Entry
from probekit.store.reader import Store
from probekit.store.schema import SHARD_FOLDER, row_shape
from probekit.store.shardfile import CAPTURES, read_rows
from probekit.store.table import RowTable


@dataclass(frozen=True)
class Finding:
    """One fault.

    Attributes:
        where: the file, and the sample or the capture when there is one.
        what: what is wrong.
    """

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True)
class StoreReport:
    """What `verify` looked at and what it found.

    Attributes:
        path: the store.
        shards: shards read, companions included.
        rows: rows read, companions included.
        content: digest of all arrays; empty when the store is damaged.
        findings: faults, in the order found; none for a sound store.
    """

    path: Path
    shards: int
    rows: int
    content: str
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


def verify(path: Path) -> StoreReport:
    """Check every byte and every invariant of a store and of its companions.

    Checksums, content digests, row counts, arrays and their shapes; no row of zeros, no layer that
    is zero everywhere, finite values, masses that sum to one; each row once, and in each companion.

    Raises:
        InputError: there is no store at ``path``.
        StoreError: the manifest cannot be read.
    """
    store = Store.unchecked(path)
    findings = tuple(_store(store))
    stores = store.everywhere
    return StoreReport(
        path=store.path,
        shards=sum(len(one.entries) for one in stores),
        rows=sum(len(one) for one in stores),
        content="" if findings else content_digest(store),
        findings=findings,
    )


def content_digest(store: Store) -> str:
    """Digest of every array of a store, of what it keeps once and of its companions.

    Computed from the arrays themselves. Equal for two stores with the same numbers, however often
    their extraction was stopped and resumed.
    """
    parts = {f"shard {n}": hdf5.digests(store.path / e.file).content for n, e in store.entries.items()}
    parts |= {f"once {name}": hdf5.digests(e.file).content for name, e in once.load(store.path).items()}
    parts |= {f"companion {name}": content_digest(one) for name, one in store.companions.items()}
    return combine(parts)


def _store(store: Store) -> Iterator[Finding]:
    places: dict[RowKey, str] = {}
    layers: dict[Capture, np.ndarray] = {}
    yield from _strays(store)
    for entry in store.entries.values():
        file = store.path / entry.file
        try:
            yield from _bytes(file, entry.sha256, entry.content)
            rows = read_rows(file)
            yield from _keys(file, rows, entry, places)
            for capture in store.own:
                yield from _capture(store, file, rows, capture, layers)
        except StoreError as error:
            yield Finding(error.where or str(file), error.what)
    for capture, alive in layers.items():
        dead = [str(layer) for layer in np.flatnonzero(~alive)]
        if dead:
            which = f"layer {', '.join(dead)} is " if "layer" in capture.axes else ""
            yield Finding(f"{store.path}, {capture.key}", f"{which}zero in every row")
    for kept in once.load(store.path).values():
        try:
            yield from _bytes(kept.file, kept.sha256, kept.content)
        except StoreError as error:
            yield Finding(error.where or str(kept.file), error.what)
    for companion in store.companions.values():
        yield from _store(companion)
        yield from _joins(places, companion)


def _bytes(file: Path, sha256: str, content: str) -> Iterator[Finding]:
    now = hdf5.digests(file)
    if now.content != content:
        yield Finding(str(file), "the arrays have changed: their content digest differs from the manifest")
    elif now.sha256 != sha256:
        yield Finding(str(file), "the file has changed: its checksum differs from the manifest")


def _keys(file: Path, rows: RowTable, entry: Entry, places: dict[RowKey, str]) -> Iterator[Finding]:
    if len(rows) != entry.rows:
        yield Finding(str(file), f"{len(rows)} rows, the manifest says {entry.rows}")
    for key in rows.keys:
        if key in places:
            yield Finding(f"{file}, sample {key}", f"the row is also in {places[key]}")
        places[key] = entry.file


def _capture(
    store: Store, file: Path, rows: RowTable, capture: Capture, layers: dict[Capture, np.ndarray]
) -> Iterator[Finding]:
    name = CAPTURES + capture.key
    stored = hdf5.read(file, name)[name]
    wanted = (len(rows), *row_shape(capture, store.header))
    if stored.values.shape != wanted:
        yield Finding(f"{file}, {capture.key}", f"shape {stored.values.shape}, expected {wanted}")
        return
    try:
        check(capture, stored, rows)
    except ContractError as error:
        yield Finding(f"{file}, {error.where}", error.what)
    if len(rows) and capture.storage in ("state", "attention"):
        alive = _alive(capture, stored)
        layers[capture] = layers.get(capture, np.zeros_like(alive)) | alive


def _alive(capture: Capture, stored: Stored) -> np.ndarray:
    """Which layers hold anything but zeros; without a layer axis, one answer."""
    if "layer" not in capture.axes:
        return np.array([magnitude_bits(stored)[0].any()])
    axis = 1 + capture.axes.index("layer")
    other = tuple(i for i in range(stored.values.ndim) if i != axis)
    alive: np.ndarray = (stored.values != 0).any(axis=other)
    return alive


def _joins(places: dict[RowKey, str], companion: Store) -> Iterator[Finding]:
    held = set(companion.rows().keys)
    absent = [key for key in places if key not in held]
    if absent:
        yield Finding(str(companion.path), f"the companion lacks row {_some(absent)}")
    orphans = [key for key in companion.rows().keys if key not in places]
    if orphans:
        yield Finding(
            str(companion.path.parent), f"the store lacks row {_some(orphans)}, its companion has it"
        )


def _some(keys: list[RowKey]) -> str:
    return str(keys[0]) if len(keys) == 1 else f"{keys[0]} and {len(keys) - 1} more"


def _strays(store: Store) -> Iterator[Finding]:
    """Shard files that the manifest does not name: lines lost from it, or a run that was killed."""
    named = {store.path / entry.file for entry in store.entries.values()}
    for file in sorted((store.path / SHARD_FOLDER).glob("*.h5")):
        if file not in named:
            yield Finding(str(file), "is not in the manifest; extracting again with the same job mends it")
