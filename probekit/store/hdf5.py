"""Reads HDF5 files of named arrays, one array at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py

from probekit.errors import StoreError
from probekit.store.codec import Stored
from probekit.store.digests import Written, array_digest, combine, file_digest, value_digest

KIND = "kind"


def digests(path: Path) -> Written:
    """Compute anew what writing the file returned; one array at a time is in memory.

    Raises:
        StoreError: the file is missing or is not a whole HDF5 file.
    """
    values: dict[str, str] = {}
    parts: dict[str, str] = {}
    plain: dict[str, tuple[int, int]] = {}
    with _open(path) as file:
        for name, dataset in _datasets(file).items():
            place = place_in_file(dataset)
            if place is not None:
                plain[name] = place
            stored = _stored(dataset)
            values[name] = value_digest(stored.values)
            parts[name] = array_digest(stored, values[name])
    with path.open("rb") as raw:
        return Written(file_digest(raw.fileno(), plain, values), combine(parts))


def names(path: Path) -> tuple[str, ...]:
    """Names of the arrays in a file, sorted."""
    with _open(path) as file:
        return tuple(sorted(_datasets(file)))


def read(path: Path, *names: str) -> dict[str, Stored]:
    """Read the named arrays and nothing else.

    Raises:
        StoreError: the file is missing, damaged, or has no such array.
    """
    with _open(path) as file:
        return {name: _stored(_find(file, path, name)) for name in names}


def blocks(path: Path, name: str, rows: int) -> Iterator[Stored]:
    """Read an array in blocks of its leading axis, so that it need not fit in memory."""
    with _open(path) as file:
        dataset = _find(file, path, name)
        for start in range(0, len(dataset), rows):
            yield Stored(dataset[start : start + rows], str(dataset.attrs[KIND]), False)


def table(path: Path) -> dict[str, tuple[str, int]]:
    """Number type and bytes in the file of each array, by name."""
    with _open(path) as file:
        datasets = _datasets(file)
        return {
            name: (str(one.attrs[KIND]), int(one.id.get_storage_size())) for name, one in datasets.items()
        }


_REBUILD = "Run the extraction again with the same job: it rebuilds what is damaged."


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    try:
        file = h5py.File(path, "r", locking=False)
    except FileNotFoundError:
        raise StoreError("the file is missing", where=str(path), hint=_REBUILD) from None
    except OSError as error:
        raise StoreError(f"not a whole HDF5 file: {error}", where=str(path), hint=_REBUILD) from None
    with file:
        try:
            yield file
        except (OSError, KeyError, RuntimeError, ValueError) as error:
            raise StoreError(f"the file is damaged: {error}", where=str(path), hint=_REBUILD) from None


def _find(file: Any, path: Path, name: str) -> Any:
    if name not in file:
        raise StoreError(f"no array {name!r}", where=str(path), hint=_REBUILD)
    return file[name]


def _stored(dataset: Any) -> Stored:
    return Stored(dataset[()], str(dataset.attrs[KIND]), dataset.compression is not None)


def _datasets(file: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item

    file.visititems(visit)
    return found


def place_in_file(dataset: Any) -> tuple[int, int] | None:
    """Offset and size of an array whose bytes lie in one piece in the file, else ``None``."""
    offset = dataset.id.get_offset()
    return None if offset is None or not dataset.size else (int(offset), int(dataset.nbytes))
