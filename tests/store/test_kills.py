"""A run killed at any moment, then run again, leaves the store of an unbroken run, byte for byte."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from probekit.captures import HiddenState
from probekit.store import Store, content_digest, finished, verify

RUN = """
import importlib.util, os, signal, sys
from pathlib import Path
from probekit.store import hdf5_write, manifest, once, schema, writer

spec = importlib.util.spec_from_file_location("tiny", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


def kill(owner, name, call, after=False, instead=die):
    real, seen = getattr(owner, name), [0]

    def wrapped(*arguments, **named):
        seen[0] += 1
        if seen[0] != call:
            return real(*arguments, **named)
        if after:
            real(*arguments, **named)
        return instead(*arguments, **named)

    setattr(owner, name, wrapped)


def half_a_line(path, entry):
    with (path / "manifest.jsonl").open("ab") as handle:
        handle.write(manifest._line(entry)[:40])
        handle.flush()
        os.fsync(handle.fileno())
    die()


{kill}
module.Tiny.fill(Path(sys.argv[2]))
"""

PLACES = {
    "before the header": "kill(writer, 'save_header', 1)",
    "after the header": "kill(writer, 'save_header', 1, after=True)",
    "before the digest of the head": "kill(once, 'write_json', 1)",
    "while HDF5 lays out shard 0": "kill(hdf5_write, '_chunks', 5)",
    "in the arrays of shard 1": "kill(hdf5_write, '_write_at', 8)",
    "before fsync": "kill(os, 'fsync', 9)",
    "before the rename": "kill(Path, 'replace', 5)",
    "between rename and manifest line": "kill(manifest, 'append', 2)",
    "within a manifest line": "kill(manifest, 'append', 3, instead=half_a_line)",
    "after a manifest line": "kill(manifest, 'append', 3, after=True)",
}


def killed_run(tiny, path: Path, kill: str) -> None:
    module = sys.modules[tiny.__module__].__file__
    script = RUN.format(kill=kill)
    ended = subprocess.run(
        [sys.executable, "-c", script, str(module), str(path)], capture_output=True, check=False
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


@pytest.mark.parametrize("place", PLACES)
def test_killed_then_resumed(tiny, unbroken: Path, tmp_path: Path, place: str) -> None:
    path = tmp_path / "store"
    killed_run(tiny, path, PLACES[place])
    if (path / "job.json").exists():
        for shard in Store.open(path).shards():
            assert (np.abs(shard[HiddenState()]).sum(axis=1) > 0).all()
    tiny.fill(path)
    assert verify(path).findings == ()
    assert content_digest(Store.open(path)) == content_digest(Store.open(unbroken))
    assert (path / "manifest.jsonl").read_text() == (unbroken / "manifest.jsonl").read_text()
    assert not list(path.rglob("*.partial"))


def test_killed_three_times(tiny, unbroken: Path, tmp_path: Path) -> None:
    path = tmp_path / "store"
    for kill, left in (
        ("kill(manifest, 'append', 2)", {0}),
        ("kill(hdf5_write, '_write_at', 4)", {0, 1}),
        ("kill(Path, 'replace', 3)", {0, 1, 2}),
    ):
        killed_run(tiny, path, kill)
        assert finished(path, tiny.header.job_digest, tiny.captures) == left
    tiny.fill(path)
    assert verify(path).content == verify(unbroken).content
