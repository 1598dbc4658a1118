"""One HDF5 file of named arrays: written whole or not at all, read one array at a time."""

import errno
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from probekit.errors import StoreError
from probekit.store.codec import Stored

KIND = "kind"
PARTIAL = ".partial"
_READ = 1 << 22


@dataclass(frozen=True)
class Written:
    """What identifies a file.

    Attributes:
        sha256: SHA-256 of the file's bytes, in which the bytes of each plain (uncompressed) array are
            replaced by their own SHA-256. Any changed byte changes it.
        content: SHA-256 over names, types, shapes and values of all arrays, whatever the layout of
            the file.
    """

    sha256: str
    content: str


def write(path: Path, datasets: Mapping[str, Stored], attributes: Mapping[str, str]) -> Written:
    """Write a file under a temporary name, force it to disk, and rename it to ``path``.

    HDF5 lays out the file and writes the compressed arrays; the plain ones are then written straight
    to their place in it, while another thread hashes them once for both digests. Hashing twice, or
    after writing, takes longer than writing.

    Raises:
        OSError: the file cannot be written, ``ENOSPC`` for a full disk. Nothing is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}{PARTIAL}")
    room = os.statvfs(path.parent)
    needed = sum(stored.values.nbytes for stored in datasets.values())
    if needed > room.f_bavail * room.f_frsize:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    try:
        with temporary.open("w+b", buffering=0) as raw:
            plain = _lay_out(raw, datasets, attributes)
            hashing = _Worker(lambda: {name: _value_digest(datasets[name].values) for name in datasets})
            try:
                for name, (offset, _) in plain.items():
                    _write_at(raw.fileno(), offset, datasets[name].values)
                os.fsync(raw.fileno())
            finally:
                digests = hashing.join()
            written = Written(_file_digest(raw.fileno(), plain, digests), _content_digest(datasets, digests))
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)
    return written


def digests(path: Path) -> Written:
    """Compute anew what `write` returned, from the file; one array at a time is in memory.

    Raises:
        StoreError: the file is missing or is not a whole HDF5 file.
    """
    values: dict[str, str] = {}
    parts: dict[str, str] = {}
    plain: dict[str, tuple[int, int]] = {}
    for name in names(path):
        with _open(path) as file:
            place = _place(file[name])
        if place is not None:
            plain[name] = place
        stored = read(path, name)
        values[name] = _value_digest(stored.values)
        parts[name] = _array_digest(stored, values[name])
    with path.open("rb") as raw:
        return Written(_file_digest(raw.fileno(), plain, values), combine(parts))


def content_digest(datasets: Mapping[str, Stored]) -> str:
    """The content digest of arrays that are not in a file."""
    return _content_digest(datasets, {name: _value_digest(datasets[name].values) for name in datasets})


def combine(parts: Mapping[str, str]) -> str:
    """One digest for named digests."""
    lines = "".join(f"{name}\t{parts[name]}\n" for name in sorted(parts))
    return hashlib.sha256(lines.encode()).hexdigest()


def names(path: Path) -> tuple[str, ...]:
    """Names of the arrays in a file, sorted."""
    with _open(path) as file:
        return tuple(sorted(_datasets(file)))


def read(path: Path, name: str) -> Stored:
    """Read one array and nothing else.

    Raises:
        StoreError: the file is missing, damaged, or has no such array.
    """
    with _open(path) as file:
        if name not in file:
            raise StoreError(f"no array {name!r}", where=str(path), hint=_REBUILD)
        dataset = file[name]
        kind = str(dataset.attrs[KIND])
        return Stored(dataset[()], kind, dataset.compression is not None)


def blocks(path: Path, name: str, rows: int) -> Iterator[Stored]:
    """Read an array in blocks of its leading axis, so that it need not fit in memory."""
    with _open(path) as file:
        if name not in file:
            raise StoreError(f"no array {name!r}", where=str(path), hint=_REBUILD)
        dataset = file[name]
        for start in range(0, len(dataset), rows):
            yield Stored(dataset[start : start + rows], str(dataset.attrs[KIND]), False)


def table(path: Path) -> dict[str, tuple[str, int]]:
    """Number type and bytes in the file of each array, by name."""
    with _open(path) as file:
        datasets = _datasets(file)
        return {
            name: (str(one.attrs[KIND]), int(one.id.get_storage_size())) for name, one in datasets.items()
        }


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to disk, so that a rename survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
        except (OSError, KeyError) as error:
            raise StoreError(f"the file is damaged: {error}", where=str(path), hint=_REBUILD) from None


def _datasets(file: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item

    file.visititems(visit)
    return found


class _Sink:
    """File object under HDF5 that keeps a write error for later.

    HDF5 does not recover when its own write fails: the file can no longer be closed. Here it never
    learns of the failure, and the error is raised once the file is closed.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.error: OSError | None = None

    def write(self, data: memoryview) -> int:
        left = memoryview(data)
        try:
            while len(left):
                left = left[self.raw.write(left) :]
        except OSError as error:
            self.error = self.error or error
        return len(data)

    def truncate(self, size: int) -> int:
        try:
            return int(self.raw.truncate(size))
        except OSError as error:
            self.error = self.error or error
            return size

    def read(self, size: int) -> bytes:
        return bytes(self.raw.read(size))

    def readinto(self, data: memoryview) -> int:
        return int(self.raw.readinto(data))

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self.raw.seek(offset, whence))

    def tell(self) -> int:
        return int(self.raw.tell())

    def flush(self) -> None:
        pass


class _Worker:
    """A function running in a thread; `join` gives its result or raises its error."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._result: Any = None
        self._error: BaseException | None = None

        def body() -> None:
            try:
                self._result = function(*arguments)
            except BaseException as error:
                self._error = error

        self._thread = threading.Thread(target=body, daemon=True)
        self._thread.start()

    def join(self) -> Any:
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._result


def _lay_out(
    raw: BinaryIO, datasets: Mapping[str, Stored], attributes: Mapping[str, str]
) -> dict[str, tuple[int, int]]:
    """Write everything but the plain arrays; their offsets and sizes in the file are returned."""
    sink = _Sink(raw)
    plain: dict[str, tuple[int, int]] = {}
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    early.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    with h5py.File(sink, "w", libver=("v110", "v110")) as file:
        for name, value in sorted(attributes.items()):
            file.attrs[name] = value
        for name in sorted(datasets):
            stored = datasets[name]
            values = stored.values
            if stored.compress and values.size:
                dataset = file.create_dataset(
                    name,
                    data=values,
                    chunks=_chunks(values),
                    shuffle=True,
                    compression="gzip",
                    compression_opts=1,
                )
            else:
                dataset = file.create_dataset(name, shape=values.shape, dtype=values.dtype, dcpl=early)
                place = _place(dataset)
                if place is not None:
                    plain[name] = place
            dataset.attrs[KIND] = stored.kind
    if sink.error is not None:
        raise sink.error
    return plain


def _place(dataset: Any) -> tuple[int, int] | None:
    """Offset and size of an array whose bytes lie in one piece in the file, else ``None``."""
    offset = dataset.id.get_offset()
    return None if offset is None or not dataset.size else (int(offset), int(dataset.nbytes))


def _chunks(values: np.ndarray) -> tuple[int, ...]:
    """Chunks of whole rows, about a megabyte each."""
    row = max(1, values.nbytes // len(values))
    return (max(1, min(len(values), (1 << 20) // row)), *values.shape[1:])


def _bytes(values: np.ndarray) -> memoryview:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8).data


def _write_at(handle: int, offset: int, values: np.ndarray) -> None:
    left = _bytes(values)
    while len(left):
        count = os.pwrite(handle, left, offset)
        left, offset = left[count:], offset + count


def _value_digest(values: np.ndarray) -> str:
    return hashlib.sha256(_bytes(values) if values.size else b"").hexdigest()


def _array_digest(stored: Stored, values: str) -> str:
    return hashlib.sha256(f"{stored.kind} {stored.values.shape} {values}".encode()).hexdigest()


def _content_digest(datasets: Mapping[str, Stored], values: Mapping[str, str]) -> str:
    return combine({name: _array_digest(datasets[name], values[name]) for name in datasets})


def _file_digest(handle: int, plain: Mapping[str, tuple[int, int]], values: Mapping[str, str]) -> str:
    state, position = hashlib.sha256(), 0

    def from_file(end: int) -> None:
        nonlocal position
        while position < end and (data := os.pread(handle, min(_READ, end - position), position)):
            state.update(data)
            position += len(data)

    for name in sorted(plain, key=lambda name: plain[name]):
        offset, size = plain[name]
        from_file(offset)
        state.update(values[name].encode())
        position = offset + size
    from_file(os.fstat(handle).st_size)
    return state.hexdigest()
