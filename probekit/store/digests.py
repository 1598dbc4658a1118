"""Digests of arrays and of the files that hold them; each byte is hashed once."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from probekit.store.codec import Stored

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


def content_digest(datasets: Mapping[str, Stored]) -> str:
    """The content digest of arrays that are not in a file."""
    return content_digest_of(datasets, {name: value_digest(datasets[name].values) for name in datasets})


def combine(parts: Mapping[str, str]) -> str:
    """One digest for named digests."""
    lines = "".join(f"{name}\t{parts[name]}\n" for name in sorted(parts))
    return hashlib.sha256(lines.encode()).hexdigest()


def raw_bytes(values: np.ndarray) -> memoryview:
    """The bytes of an array, in C order, without a copy when it is in that order."""
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8).data


def value_digest(values: np.ndarray) -> str:
    """SHA-256 of an array's bytes."""
    return hashlib.sha256(raw_bytes(values) if values.size else b"").hexdigest()


def array_digest(stored: Stored, values: str) -> str:
    """Digest of an array's type, shape and values, the latter by their digest."""
    return hashlib.sha256(f"{stored.kind} {stored.values.shape} {values}".encode()).hexdigest()


def content_digest_of(datasets: Mapping[str, Stored], values: Mapping[str, str]) -> str:
    """The content digest of arrays whose values are hashed already."""
    return combine({name: array_digest(datasets[name], values[name]) for name in datasets})


def file_digest(handle: int, plain: Mapping[str, tuple[int, int]], values: Mapping[str, str]) -> str:
    """`Written.sha256` of an open file.

    Args:
        handle: file descriptor.
        plain: offset and size of each array that lies in one piece in the file.
        values: digest of the bytes of each of these.
    """
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
