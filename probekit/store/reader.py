"""Reads a store shard by shard; nothing is loaded before it is asked for, and nothing is kept."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from jaxtyping import Float32, Shaped

from probekit.captures import Capture, Logits
from probekit.errors import InputError, StoreError, UnservedError
from probekit.store import head, manifest, once, shardfile
from probekit.store.join import RowIndex
from probekit.store.manifest import Entry
from probekit.store.schema import HEADER_FILE, Header, load_header
from probekit.store.table import RowTable


@dataclass(frozen=True, eq=False)
class Shard:
    """A part of a store: its rows, and the captures of these rows on demand.

    Attributes:
        number: of the shard.
        rows: who the rows are.
        load: reads one capture for these rows.
    """

    number: int
    rows: RowTable
    load: Callable[[Capture], np.ndarray] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, capture: Capture) -> Shaped[np.ndarray, "row ..."]:
        """The values of ``capture``, leading axis row; reduced precision comes back as float32.

        Raises:
            UnservedError: the store does not hold the capture.
            StoreError: the file is damaged, or a companion store lacks a row.
        """
        return self.load(capture)

    @classmethod
    def in_memory(cls, number: int, rows: RowTable, arrays: Mapping[Capture, np.ndarray]) -> "Shard":
        """A shard of arrays at hand, without a store."""

        def load(capture: Capture) -> np.ndarray:
            if capture not in arrays:
                raise UnservedError(f"the shard does not hold {capture.key}")
            return arrays[capture]

        return cls(number, rows, load)


@dataclass(frozen=True, eq=False)
class Store:
    """A finished or growing store on disk.

    Attributes:
        path: its folder.
        header: where its numbers come from.
        own: captures in its own shards.
        entries: its whole shards by number.
        companions: stores of other passes over the same rows, by condition.
    """

    path: Path
    header: Header
    own: tuple[Capture, ...]
    entries: Mapping[int, Entry]
    companions: Mapping[str, "Store"]

    @classmethod
    def open(cls, path: Path | str) -> "Store":
        """Open the store in the folder ``path``; only the header and the manifest are read.

        Raises:
            InputError: there is no store.
            StoreError: a shard that the manifest names is missing.
        """
        store = cls.unchecked(path)
        for one in store.everywhere:
            for number, entry in one.entries.items():
                if not (one.path / entry.file).is_file():
                    raise StoreError(
                        f"shard {number} is missing",
                        where=str(one.path / entry.file),
                        hint="Run the extraction again with the same job: it rebuilds what is missing.",
                    )
        return store

    @classmethod
    def unchecked(cls, path: Path | str) -> "Store":
        """Like `open`, for a store whose shards may be missing."""
        path = Path(path)
        header, own = load_header(path)
        companions = {
            folder.name: cls.unchecked(folder)
            for folder in sorted(path.iterdir())
            if folder.is_dir() and (folder / HEADER_FILE).is_file()
        }
        return cls(path, header, own, manifest.load(path), companions)

    @property
    def everywhere(self) -> "tuple[Store, ...]":
        """This store, then its companions."""
        return (self, *self.companions.values())

    @property
    def captures(self) -> tuple[Capture, ...]:
        """All captures on offer, those of companions included."""
        return tuple(c for store in self.everywhere for c in store.own)

    @property
    def depth(self) -> int:
        """Decoder layers, L."""
        return self.header.depth

    @property
    def heads(self) -> int:
        """Query heads of a layer, H."""
        return self.header.heads

    def __len__(self) -> int:
        """Number of rows."""
        return sum(entry.rows for entry in self.entries.values())

    def missing(self, captures: Iterable[Capture]) -> tuple[Capture, ...]:
        """Those of ``captures`` that the store does not hold."""
        held = set(self.captures)
        return tuple(c for c in dict.fromkeys(captures) if c not in held)

    def require(self, captures: Iterable[Capture], *, who: str) -> None:
        """Refuse when a capture is absent.

        Raises:
            UnservedError: ``who`` and the absent captures are named.
        """
        absent = self.missing(captures)
        if absent:
            raise UnservedError(
                f"{who} needs {', '.join(c.key for c in absent)}, which the store does not hold",
                where=str(self.path),
                hint="Extract into another --out with these; `probekit ls STORE` shows what is there.",
            )

    def rows(self) -> RowTable:
        """Rows of all shards, in order."""
        return RowTable.concatenate([self._rows(number) for number in self.entries])

    def shards(self) -> Iterator[Shard]:
        """The shards in order, one at a time."""
        for number in self.entries:
            yield self.shard(number)

    def shard(self, number: int) -> Shard:
        """One shard; its row table is read at once, captures when asked for."""
        if number not in self.entries:
            raise InputError(f"there is no shard {number}", where=str(self.path))
        rows = self._rows(number)
        return Shard(number, rows, lambda capture: self._load(number, rows, capture))

    def gather(self, capture: Capture, rows: RowTable) -> Shaped[np.ndarray, "row ..."]:
        """``capture`` for the rows with the keys of ``rows``, in their order, from any shard.

        Raises:
            StoreError: a row is not in the store, or is there twice; the row is named.
        """
        if capture not in self.own:
            return self._companion(capture).gather(capture, rows)
        found = self._index.find(rows.keys)
        parts: np.ndarray | None = None
        for number in dict.fromkeys(found.shard.tolist()):
            here = np.flatnonzero(found.shard == number)
            values = shardfile.read_capture(self._file(number), capture)[found.position[here]]
            if parts is None:
                parts = np.empty((len(rows), *values.shape[1:]), values.dtype)
            parts[here] = values
        if parts is not None:
            return parts
        empty = next(iter(self.entries), None)
        if empty is None:
            raise StoreError("the store has no shards yet", where=str(self.path))
        return shardfile.read_capture(self._file(empty), capture)[:0]

    def once(self, name: str) -> dict[str, np.ndarray]:
        """Arrays kept once under ``name``; reduced precision comes back as float32.

        Raises:
            StoreError: nothing is kept under that name, or it is damaged.
        """
        return once.read(once.find(self.path, name))

    def logits(self, of: Shard | RowTable) -> Float32[np.ndarray, "row vocabulary"]:
        """Logits at the query of t*, float32, for a shard or for any rows of the store.

        From the full logits when the store holds them, else from the normed states and the head.

        Raises:
            UnservedError: the store holds neither.
        """
        full, factored = Logits("full"), Logits("factored")
        chosen = full if full in self.own else factored
        self.require((chosen,), who="logits")
        values = of[chosen] if isinstance(of, Shard) else self.gather(chosen, of)
        values = values.astype(np.float32, copy=False)
        return values if chosen == full else head.logits(once.find(self.path, "head"), values)

    @cached_property
    def _index(self) -> RowIndex:
        return RowIndex.of(self.path, {number: self._rows(number) for number in self.entries})

    def _file(self, number: int) -> Path:
        return self.path / self.entries[number].file

    def _rows(self, number: int) -> RowTable:
        return shardfile.read_rows(self._file(number))

    def _companion(self, capture: Capture) -> "Store":
        companion = self.companions.get(capture.condition)
        if companion is None or capture not in companion.own:
            raise UnservedError(
                f"the store does not hold {capture.key}",
                where=str(self.path),
                hint="`probekit ls STORE` shows what is there.",
            )
        return companion

    def _load(self, number: int, rows: RowTable, capture: Capture) -> np.ndarray:
        if capture in self.own:
            return shardfile.read_capture(self._file(number), capture)
        return self._companion(capture).gather(capture, rows)
