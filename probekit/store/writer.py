"""Writes shards so that a kill at any moment leaves whole shards only, and resumes where it stopped."""

import errno
import fcntl
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from probekit.captures import Capture
from probekit.errors import ContractError, InputError, StoreError
from probekit.store import hdf5, hdf5_write, manifest, once, shardfile
from probekit.store.checks import check
from probekit.store.codec import Bfloat16, Stored
from probekit.store.manifest import Entry
from probekit.store.schema import (
    HEADER_FILE,
    SHARD_FOLDER,
    Header,
    differences,
    load_header,
    save_header,
)
from probekit.store.table import RowTable

logger = logging.getLogger(__name__)

_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Beginning:
    """What a store of more texts may go on from.

    Attributes:
        job_digest: of the job on the first texts alone.
        shards: how many of its shards are those of the longer job too.
    """

    job_digest: str
    shards: int


class StoreWriter:
    """Adds shards to one store. Made by `create`; close it, or use it as a context manager.

    Attributes:
        path: folder of the store.
        header: what the store says about itself.
        captures: what each shard must hold.
    """

    def __init__(
        self,
        path: Path,
        header: Header,
        captures: tuple[Capture, ...],
        lock: Any,
        replaced: int | None = None,
    ) -> None:
        self.path = path
        self.header = header
        self.captures = captures
        self._lock = lock
        self._entries = _recover(path)
        self._replaced = {} if replaced is None else {n: e for n, e in self._entries.items() if n >= replaced}

    @classmethod
    def create(
        cls, path: Path, header: Header, captures: tuple[Capture, ...], beginning: Beginning | None = None
    ) -> "StoreWriter":
        """Begin a store, or go on with one that an earlier run of the same job left.

        Shards that are missing, cut or changed are named in a warning and are not in `done`.

        Args:
            path: folder of the store.
            header: what it says about itself.
            captures: what each shard holds.
            beginning: a job that made the first shards of this one; a store of that job is taken over.
                Its last shard, which this job fills further, stays until the fuller one is on disk, and so
                does its header: killed meanwhile, it is the store it was.

        Raises:
            InputError: the store belongs to another job, was made with other captures or another
                header (the fields are named), or another process is writing to it.
            StoreError: the disk is full.
        """
        path = Path(path)
        captures = tuple(dict.fromkeys(captures))
        conditions = sorted({c.condition for c in captures})
        if len(conditions) != 1:
            raise InputError(
                f"one store holds captures of one pass, found {', '.join(conditions) or 'none'}",
                where=str(path),
                hint="A companion pass has a store of its own, in a folder named after it.",
            )
        path.mkdir(parents=True, exist_ok=True)
        lock = _lock(path)
        with _full_disk(path, 0):
            if (path / HEADER_FILE).exists():
                before, held = load_header(path)
                taken = beginning is not None and before.job_digest == beginning.job_digest
                if taken:
                    agreement = header.replay_agreement
                    before = replace(before, job_digest=header.job_digest, replay_agreement=agreement)
                faults = list(differences(before, held, header, captures))
                if faults:
                    raise InputError(
                        "the store was made by another job\n    " + "\n    ".join(faults),
                        where=str(path),
                        hint="Give another output folder, or the job that made this store.",
                    )
                if taken and beginning is not None:
                    writer = cls(path, before, captures, lock, beginning.shards)
                    writer._own_when_whole()
                    return writer
            else:
                save_header(path, header, captures)
            return cls(path, header, captures, lock)

    @property
    def done(self) -> set[int]:
        """Numbers of the shards that are whole."""
        return set(self._entries) - set(self._replaced)

    def _own_when_whole(self) -> None:
        """Say whose store it is, once no shard of the job before is left that this job fills further."""
        if not self._replaced:
            save_header(self.path, self.header, self.captures)

    def write(self, number: int, rows: RowTable, arrays: Mapping[Capture, np.ndarray | Bfloat16]) -> None:
        """Write one shard; when this returns it is on disk and in the manifest.

        Args:
            number: of the shard, from 0.
            rows: its rows; none is allowed.
            arrays: one for each of `captures`, leading axis row; states as `Bfloat16`, float16 or
                float32.

        Raises:
            ContractError: an array is absent, has another shape, or breaks an invariant.
            StoreError: the disk is full; whole shards stay, and the same command goes on from them.
        """
        before = self._replaced.get(number)
        if number in self._entries and before is None:
            raise InputError(f"shard {number} is already written", where=str(self.path))
        if set(arrays) != set(self.captures):
            keys = sorted(c.key for c in set(arrays) ^ set(self.captures))
            raise ContractError(
                f"captures given and declared differ: {', '.join(keys)}", where=f"shard {number}"
            )
        data = shardfile.datasets(self.header, rows, arrays)
        names = {shardfile.CAPTURES + capture.key: capture for capture in self.captures}

        def inspect(name: str, stored: Stored) -> None:
            if name in names:
                check(names[name], stored, rows)

        file = f"{SHARD_FOLDER}/{number:05d}.h5"
        if before is not None and before.file == file:
            file = f"{SHARD_FOLDER}/{number:05d}-grown.h5"
        with _full_disk(self.path, len(self._entries)):
            written = hdf5_write.write(self.path / file, data, self._attributes(number), inspect)
            entry = Entry(number, file, len(rows), written.sha256, written.content)
            manifest.append(self.path, entry)
            self._entries[number] = entry
            if before is not None:
                del self._replaced[number]
                self._own_when_whole()
                (self.path / before.file).unlink(missing_ok=True)

    def write_once(self, name: str, arrays: Mapping[str, np.ndarray | Bfloat16]) -> None:
        """Keep arrays that belong to the store as a whole, such as the output ``head``.

        Writing the same values again changes nothing.

        Raises:
            InputError: other values are already kept under ``name``.
            StoreError: the disk is full.
        """
        with _full_disk(self.path, len(self._entries)):
            once.write(self.path, name, arrays)

    def close(self) -> None:
        """Let other writers at the store."""
        self._lock.close()

    def __enter__(self) -> "StoreWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _attributes(self, number: int) -> dict[str, str]:
        """Said in each shard too, so that a file that strays from its store still has a name."""
        names = ("job_digest", "model", "revision", "family", "kernel", "dtype", "template_hash")
        return {"shard": str(number), **{name: str(getattr(self.header, name)) for name in names}}


def _lock(path: Path) -> Any:
    """A lock that ends with the process, even when it is killed."""
    handle = (path / ".lock").open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        raise InputError(
            "another process is writing to this store",
            where=str(path),
            hint="Wait until it has finished, or give another output folder.",
        ) from None
    except OSError:
        logger.debug("%s: this file system has no locks", path)
    return handle


def finished(path: Path, job_digest: str, captures: tuple[Capture, ...]) -> set[int]:
    """Whole shards of this very job at ``path``, so that a run can tell whether there is anything to do.

    Every shard is read. Nothing is changed, and nothing is found where there is no store, or one of
    another job or other captures.
    """
    if not (path / HEADER_FILE).is_file():
        return set()
    header, held = load_header(path)
    if header.job_digest != job_digest or set(held) != set(captures):
        return set()
    return {n for n, entry in manifest.load(path).items() if _fault(path / entry.file, entry) is None}


def _recover(path: Path) -> dict[int, Entry]:
    """Leave exactly the shards that are whole, and a manifest that names exactly these."""
    folder = path / SHARD_FOLDER
    folder.mkdir(exist_ok=True)
    whole: dict[int, Entry] = {}
    for number, entry in manifest.load(path).items():
        fault = _fault(path / entry.file, entry)
        if fault is None:
            whole[number] = entry
        else:
            logger.warning("%s: shard %d %s; it is rebuilt", path / entry.file, number, fault)
    kept = {path / entry.file for entry in whole.values()}
    for stray in (*folder.glob("*.h5"), *folder.glob(f".*{hdf5_write.PARTIAL}")):
        if stray not in kept:
            stray.unlink()
    manifest.rewrite(path, whole)
    return whole


def _fault(file: Path, entry: Entry) -> str | None:
    if not file.is_file():
        return "is missing"
    try:
        same = hdf5.digests(file).sha256 == entry.sha256
    except StoreError:
        return "is cut or damaged"
    return None if same else "has changed (its checksum differs)"


@contextmanager
def _full_disk(path: Path, safe: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise StoreError(f"cannot write: {error}", where=str(path)) from error
        shards = "1 shard is" if safe == 1 else f"{safe} shards are"
        raise StoreError(
            f"the disk is full; {shards} safe",
            where=str(path),
            hint="Free some space, then run the same command again: it goes on after the last whole shard.",
        ) from error
