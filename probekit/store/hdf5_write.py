"""Writes an HDF5 file whole or not at all, about as fast as its bytes can be written."""

import errno
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

import h5py
import numpy as np

from probekit.store.codec import Stored
from probekit.store.digests import Written, content_digest_of, file_digest, raw_bytes, value_digest
from probekit.store.hdf5 import KIND, place_in_file

PARTIAL = ".partial"
_THREADS = 4


def write(
    path: Path,
    datasets: Mapping[str, Stored],
    attributes: Mapping[str, str],
    inspect: Callable[[str, Stored], None] | None = None,
) -> Written:
    """Write a file under a temporary name, force it to disk, and rename it to ``path``.

    HDF5 lays out the file and writes the compressed arrays; the plain ones are then written straight
    to their place in it, while other threads inspect each array and hash it, once for both digests.
    Doing these one after the other takes longer than writing.

    Args:
        path: the file.
        datasets: its arrays by name.
        attributes: said of the file as a whole.
        inspect: called with each array; whatever it raises leaves no file behind.

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
            with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
                hashing = {name: pool.submit(_hash, name, one, inspect) for name, one in datasets.items()}
                for name, (offset, _) in plain.items():
                    _write_at(raw.fileno(), offset, datasets[name].values)
                os.fsync(raw.fileno())
                digests = {name: future.result() for name, future in hashing.items()}
            written = Written(file_digest(raw.fileno(), plain, digests), content_digest_of(datasets, digests))
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)
    return written


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to disk, so that a rename survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class _Sink:
    """File object under HDF5 that keeps an error for later.

    HDF5 does not recover when its own write fails: the file can no longer be closed, and an exception
    in one of these methods may end the process. Here it never learns of the failure, which is raised
    once the file is closed.
    """

    def __init__(self, raw: BinaryIO) -> None:
        self.raw = raw
        self.error: BaseException | None = None

    def write(self, data: Any) -> int:
        left = memoryview(data)
        size = len(left)
        try:
            while len(left):
                left = left[self.raw.write(left) :]
        except BaseException as error:
            self.error = self.error or error
        return size

    def truncate(self, size: int) -> int:
        try:
            return self.raw.truncate(size)
        except BaseException as error:
            self.error = self.error or error
            return size

    def read(self, size: int) -> bytes:
        return self.raw.read(size)

    def readinto(self, data: Any) -> int:
        return int(self.raw.readinto(data))  # type: ignore[attr-defined]

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        return self.raw.tell()

    def flush(self) -> None:
        pass


def _hash(name: str, stored: Stored, inspect: Callable[[str, Stored], None] | None) -> str:
    if inspect is not None:
        inspect(name, stored)
    return value_digest(stored.values)


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
                place = place_in_file(dataset)
                if place is not None:
                    plain[name] = place
            dataset.attrs[KIND] = stored.kind
    if sink.error is not None:
        raise sink.error
    return plain


def _chunks(values: np.ndarray) -> tuple[int, ...]:
    """Chunks of whole rows, about a megabyte each."""
    row = max(1, values.nbytes // len(values))
    return (max(1, min(len(values), (1 << 20) // row)), *values.shape[1:])


def _write_at(handle: int, offset: int, values: np.ndarray) -> None:
    left = raw_bytes(values)
    while len(left):
        count = os.pwrite(handle, left, offset)
        left, offset = left[count:], offset + count
