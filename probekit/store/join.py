"""Finds rows by key, whatever shard and order they are in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int

from probekit.errors import StoreError
from probekit.rows import RowKey
from probekit.store.table import RowTable


@dataclass(frozen=True, eq=False)
class Found:
    """Where rows are: shard number and position in it, in the order asked."""

    shard: Int[np.ndarray, " row"]
    position: Int[np.ndarray, " row"]


@dataclass(frozen=True, eq=False)
class RowIndex:
    """Key to (shard, position) for one store."""

    path: Path
    places: Mapping[RowKey, tuple[int, int]]

    @classmethod
    def of(cls, path: Path, tables: Mapping[int, RowTable]) -> "RowIndex":
        """Index the row tables of a store's shards.

        Raises:
            StoreError: a key occurs twice; it is named.
        """
        places: dict[RowKey, tuple[int, int]] = {}
        for number, table in tables.items():
            for position, key in enumerate(table.keys):
                if key in places:
                    raise StoreError(
                        f"row {key} is in shard {places[key][0]} and in shard {number}", where=str(path)
                    )
                places[key] = (number, position)
        return cls(path, places)

    def find(self, keys: Sequence[RowKey]) -> Found:
        """Places of ``keys``.

        Raises:
            StoreError: a key is not in the store; it is named.
        """
        absent = next((key for key in keys if key not in self.places), None)
        if absent is not None:
            raise StoreError(
                f"row {absent} is not in the store",
                where=str(self.path),
                hint="The two passes must cover the same rows; run the extraction again to complete it.",
            )
        places = np.array([self.places[key] for key in keys], dtype=np.int64).reshape(len(keys), 2)
        return Found(places[:, 0], places[:, 1])
