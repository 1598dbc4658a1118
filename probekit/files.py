"""Files that survive a kill: atomic writes, JSON Lines with line-exact errors, content digests."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from probekit.errors import InputError

Json = dict[str, Any]


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write ``content`` so that ``path`` holds either the old bytes or all of the new ones.

    Raises:
        InputError: ``path`` is a folder.
    """
    if path.is_dir():
        raise InputError("is a folder, a file is to be written", where=str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    data = content.encode() if isinstance(content, str) else content
    try:
        with temporary.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def json_text(value: object) -> str:
    """``value`` as indented JSON. NaN is written as null."""
    return json.dumps(_without_nan(value), indent=1, ensure_ascii=False, allow_nan=False)


def write_json(path: Path, value: object) -> None:
    """Write ``value`` as indented JSON, atomically. NaN is written as null."""
    write_atomically(path, json_text(value) + "\n")


def read_json(path: Path) -> Any:
    """Read one JSON document.

    Raises:
        InputError: the file is missing or is not JSON, with the line of the fault; or a key comes twice in
            one object.
    """
    try:
        return _parsed(path.read_text(encoding="utf-8-sig"), str(path))
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None
    except IsADirectoryError:
        raise InputError("is a folder, a JSON file is needed", where=str(path)) from None
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", "?")
        raise InputError(f"not JSON: {error}", where=f"{path}, line {line}") from None


def read_jsonl(path: Path, required: Iterable[str] = ()) -> Iterator[tuple[int, Json]]:
    """Yield ``(line number from 1, object)`` for each non-empty line.

    Raises:
        InputError: the file is missing, a line is not a JSON object, a required key is absent or one comes
            twice, or a text holds half a character; the message names file and line.
    """
    needed = tuple(required)
    try:
        handle = path.open(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None
    except IsADirectoryError:
        raise InputError("is a folder, a JSON Lines file is needed", where=str(path)) from None
    with handle:
        try:
            for number, line in enumerate(handle, start=1):
                if not line.strip():
                    continue
                where = f"{path}, line {number}"
                try:
                    value = _parsed(line, where)
                except (ValueError, RecursionError) as error:
                    # a whole number of thousands of digits is a plain ValueError
                    raise InputError(
                        f"not JSON: {error}", where=where, hint="Each line must be one JSON object."
                    ) from None
                if not isinstance(value, dict):
                    raise InputError(f"a JSON object is needed, found {type(value).__name__}", where=where)
                missing = [key for key in needed if key not in value]
                if missing:
                    raise InputError(f"missing {', '.join(map(repr, missing))}", where=where)
                yield number, value
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8 text: {error}", where=str(path)) from None


def write_jsonl(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    """Write all ``values`` as JSON Lines, atomically. NaN is written as null."""
    lines = [json.dumps(_without_nan(value), ensure_ascii=False, allow_nan=False) for value in values]
    write_atomically(path, "".join(line + "\n" for line in lines))


class JsonlAppender:
    """Appends whole lines to a JSON Lines file; a last line cut by a kill is removed on opening.

    ``done`` holds the objects already in the file, so that a rerun can skip them. A new file is made with
    its first lines, or empty at the end of a ``with`` that went well: what fails before leaves nothing.

    Args:
        alone: no other process may write to the file meanwhile.

    Raises:
        InputError: with ``alone``, on the first line appended, when another process is writing to the file
            or has written to it since it was read.
    """

    def __init__(self, path: Path, *, alone: bool = False) -> None:
        self.path = path
        self._alone = alone
        self.done: list[Json] = []
        self._handle: BinaryIO | None = None
        keep = 0
        if path.exists():
            data = path.read_bytes()
            keep = data.rfind(b"\n") + 1
            if keep != len(data):
                with path.open("r+b") as handle:
                    handle.truncate(keep)
            self.done = [value for _, value in read_jsonl(path)]
        self._read = keep

    def append(self, values: Iterable[Mapping[str, Any]]) -> None:
        """Append ``values`` and force them to disk."""
        lines = [json.dumps(_without_nan(v), ensure_ascii=False, allow_nan=False) for v in values]
        handle = self._opened()
        handle.write("".join(line + "\n" for line in lines).encode())
        handle.flush()
        os.fsync(handle.fileno())

    def _opened(self) -> BinaryIO:
        if self._handle is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = self.path.open("ab")
            if self._alone and not _sole(handle, self._read):
                handle.close()
                raise InputError(
                    "another process is writing to this file",
                    where=str(self.path),
                    hint="Wait until it has finished, then run the same command again: it goes on.",
                )
            self._handle = handle
        return self._handle

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            self._handle.close()

    def __enter__(self) -> JsonlAppender:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._opened()
        self.close()


def _sole(handle: BinaryIO, size: int) -> bool:
    """Lock a file, and see whether it is as long as when it was read; no lock where there are none."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return os.fstat(handle.fileno()).st_size == size


def sha256(path: Path) -> str:
    """Hex SHA-256 of a file's bytes, read in pieces."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def digest(value: object) -> str:
    """First 16 hex digits of the SHA-256 of ``value`` as canonical JSON (sorted keys)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def size_text(count: int) -> str:
    """A number of bytes in the unit that fits it: ``512 B``, ``3.4 KB``, ``1.2 GB``; a thousand of each."""
    size, units = float(count), ["B", "KB", "MB", "GB", "TB"]
    while size >= 999.95 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{count} B" if units[0] == "B" else f"{size:,.1f} {units[0]}"


def inside(root: Path, relative: str, *, where: str | None = None) -> Path:
    """``root / relative``, refused when it would leave ``root``.

    Raises:
        InputError: ``relative`` is absolute or climbs out of ``root``, links included, or no path at all.
    """
    if "\0" in relative:
        raise InputError(f"path {relative!r} holds a zero character", where=where)
    candidate = (root / relative).resolve()
    if not candidate.is_relative_to(root.resolve()):
        raise InputError(
            f"path {relative!r} leaves the folder {root}",
            where=where,
            hint="Paths in data files are relative to their folder and stay inside it.",
        )
    return candidate


def distinct(out: Path, *inputs: Path | None) -> None:
    """Refuse to write a result over what it is made from.

    Raises:
        InputError: ``out`` is one of the inputs, links included.
    """
    for path in inputs:
        if path is not None and out.resolve() == path.resolve():
            raise InputError(
                "the result would overwrite its input", where=str(out), hint="Give another --out."
            )


def _parsed(text: str, where: str) -> Any:
    """JSON whose objects hold each key once and whose texts can be written again.

    A key given twice would silently lose one of its values; an escaped half of a character (a lone
    surrogate) could be read and never be written.
    """

    def once(pairs: list[tuple[str, Any]]) -> Json:
        found = dict(pairs)
        if len(found) != len(pairs):
            twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            raise InputError(f"the key {twice!r} comes twice in one object", where=where)
        return found

    value = json.loads(text, object_pairs_hook=once)
    if _HALF.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(error.object[error.start]):04x}"
            raise InputError(
                f"{half} is half of a character", where=where, hint="The file was cut or badly converted."
            ) from None
    return value


_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def _without_nan(value: Any) -> Any:
    """JSON has no NaN: missing becomes null, at any depth."""
    if isinstance(value, float):
        return value if value == value and value not in (float("inf"), float("-inf")) else None
    if isinstance(value, Mapping):
        return {str(key): _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value
