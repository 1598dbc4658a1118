"""A full disk ends the run with a sentence, keeps whole shards, and the same command goes on later."""

import contextlib
import errno
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from probekit.captures import AttentionGrid, HiddenState
from probekit.errors import StoreError
from probekit.store import Store, StoreWriter, content_digest, manifest, verify


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def write(tiny, path: Path, capture: HiddenState | AttentionGrid, shards: int) -> None:
    """Shards of about 250 kB."""
    header = replace(tiny.header, width=512, depth=30, heads=16)
    rows = tiny.rows(0, 256 if isinstance(capture, HiddenState) else 8)
    with StoreWriter.create(path, header, (capture,)) as writer:
        for number in range(shards):
            if number not in writer.done:
                rows.example_id[:] = [f"{number}-{i}" for i in range(len(rows))]
                writer.write(number, rows, {capture: tiny.array(capture, rows, number, header)})


@pytest.mark.parametrize("capture", [HiddenState(), AttentionGrid()], ids=["plain", "compressed"])
@pytest.mark.parametrize("surprise", [False, True], ids=["foreseen", "surprise"])
def test_small_disk(tiny, small_disk: Path, capture, surprise: bool, monkeypatch) -> None:
    path = small_disk / "store"
    with monkeypatch.context() as patch:
        if surprise:
            room = SimpleNamespace(f_bavail=1 << 40, f_frsize=4096)
            patch.setattr(os, "statvfs", lambda _: room)
        with pytest.raises(StoreError, match=r"disk is full; [34] shards are safe") as error:
            write(tiny, path, capture, 6)
    assert "same command" in str(error.value)
    safe = len(Store.open(path).entries)
    assert f"{safe} shards" in error.value.what
    assert sorted(file.name for file in (path / "shards").iterdir()) == [f"0000{n}.h5" for n in range(safe)]
    assert verify(path).sound
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    write(tiny, path, capture, 6)
    write(tiny, small_disk / "unbroken", capture, 6)
    assert content_digest(Store.open(path)) == content_digest(Store.open(small_disk / "unbroken"))


@pytest.mark.parametrize("name", ["hdf5_write._write_at", "manifest.append"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_simulated(tiny, store_path: Path, monkeypatch, name: str, code: int) -> None:
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    rows = tiny.rows(4)
    with StoreWriter.create(store_path, tiny.header, tiny.captures) as writer:
        with monkeypatch.context() as patch:
            patch.setattr(f"probekit.store.{name}", fail)
            with pytest.raises(StoreError, match="4 shards are safe"):
                writer.write(4, rows, tiny.arrays(4, rows))
        assert not list(store_path.rglob("*.partial"))
        assert len(Store.open(store_path)) == 24
        writer.write(4, rows, tiny.arrays(4, rows))
    assert len(Store.open(store_path)) == 30


def test_another_failure_is_not_called_full(tiny, store_path: Path, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("probekit.store.hdf5_write._write_at", fail)
    with (
        StoreWriter.create(store_path, tiny.header, tiny.captures) as writer,
        pytest.raises(StoreError, match="Input/output error"),
    ):
        writer.write(4, tiny.rows(4), tiny.arrays(4, tiny.rows(4)))


def test_manifest_line_that_does_not_fit(tiny, small_disk: Path) -> None:
    """Ten bytes are left in the manifest's last page: a line cut there is taken back."""
    path = small_disk / "store"
    tiny.fill(path, shards=2)
    before = (path / "manifest.jsonl").read_bytes()
    (path / "manifest.jsonl").write_bytes(before + b" " * (4096 - len(before) - 11) + b"\n")
    padded = (path / "manifest.jsonl").read_bytes()
    entry = next(iter(manifest.load(path).values()))
    with contextlib.suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
        while filler.write(bytes(4096)):
            pass
    with pytest.raises(OSError, match="No space"):
        manifest.append(path, entry)
    assert (path / "manifest.jsonl").read_bytes() == padded
