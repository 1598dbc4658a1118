"""The manifest: one line a finished shard, written last. What it does not name is not there."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from probekit.errors import StoreError
from probekit.files import write_atomically
from probekit.store.schema import MANIFEST_FILE


@dataclass(frozen=True)
class Entry:
    """One finished shard.

    Attributes:
        shard: its number.
        file: its path inside the store.
        rows: how many rows it holds.
        sha256: of the file's bytes.
        content: digest of its arrays, whatever the layout of the file.
    """

    shard: int
    file: str
    rows: int
    sha256: str
    content: str


def load(path: Path) -> dict[int, Entry]:
    """Finished shards of the store at ``path``, in order of number; a last line cut by a kill is left out.

    Raises:
        StoreError: a whole line cannot be read; the line is named.
    """
    file = path / MANIFEST_FILE
    if not file.exists():
        return {}
    entries: dict[int, Entry] = {}
    data = file.read_bytes()
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            entry = Entry(
                int(value["shard"]),
                str(value["file"]),
                int(value["rows"]),
                str(value["sha256"]),
                str(value["content"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"not a manifest line: {error}",
                where=f"{file}, line {number}",
                hint="Delete this line; the next run of the same job rebuilds its shard.",
            ) from None
        entries[entry.shard] = entry
    return dict(sorted(entries.items()))


def append(path: Path, entry: Entry) -> None:
    """Add a line and force it to disk; on failure the file is left as it was."""
    file = path / MANIFEST_FILE
    with file.open("ab", buffering=0) as handle:
        before = handle.tell()
        left = memoryview(_line(entry))
        try:
            while len(left):
                left = left[handle.write(left) :]
            os.fsync(handle.fileno())
        except OSError:
            os.truncate(file, before)
            raise


def rewrite(path: Path, entries: dict[int, Entry]) -> None:
    """Replace the manifest, atomically."""
    write_atomically(path / MANIFEST_FILE, b"".join(_line(entries[n]) for n in sorted(entries)))


def _line(entry: Entry) -> bytes:
    return (json.dumps(asdict(entry)) + "\n").encode()
