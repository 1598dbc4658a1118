"""What a store holds, from headers and file tables alone: no array is read."""

from dataclasses import dataclass

from probekit.captures import Capture
from probekit.store import hdf5
from probekit.store.reader import Store
from probekit.store.schema import row_shape
from probekit.store.shardfile import CAPTURES


@dataclass(frozen=True)
class Held:
    """One capture in a store.

    Attributes:
        capture: what is kept.
        shape: of one row.
        kind: stored number type; empty while there is no shard.
        size: bytes in the files, after compression.
    """

    capture: Capture
    shape: tuple[int, ...]
    kind: str
    size: int


def contents(store: Store) -> tuple[Held, ...]:
    """Every capture on offer, those of companions included.

    Raises:
        StoreError: a shard cannot be opened.
    """
    held: list[Held] = []
    for one in store.everywhere:
        kinds: dict[str, str] = {}
        sizes: dict[str, int] = {}
        for entry in one.entries.values():
            for name, (kind, size) in hdf5.table(one.path / entry.file).items():
                kinds[name] = kind
                sizes[name] = sizes.get(name, 0) + size
        for capture in one.own:
            name = CAPTURES + capture.key
            held.append(
                Held(capture, row_shape(capture, one.header), kinds.get(name, ""), sizes.get(name, 0))
            )
    return tuple(held)
