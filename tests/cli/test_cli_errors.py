"""What reaches the user when a path is wrong: one line, no traceback, exit code 2."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probekit import __version__
from probekit.cli import app, main

CODE = "from probekit.cli import main; main()"


@pytest.mark.parametrize("made", ["folder", "file"])
def test_path_errors_are_told_in_a_line(tmp_path: Path, made: str) -> None:
    (tmp_path / "captions.jsonl").write_text('{"caption": "a cat", "image_id": "1"}\n')
    out = tmp_path / "out"
    if made == "folder":
        out.mkdir()
    else:
        out.write_text("")
        out = out / "rows.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", CODE, "mentions", str(tmp_path / "captions.jsonl"), "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert str(out.name) in done.stderr or str(out.parent.name) in done.stderr


def test_a_full_disk_is_said_to_be_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("probekit.cli.app", full)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 1
    said = capsys.readouterr().err
    assert "Free some space" in said
    assert "path exists" not in said


def test_the_version_is_told() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert done.exit_code == 0
    assert done.output == f"probekit {__version__}\n"


def test_an_unservable_detector_is_told_to_need_another_store() -> None:
    said = " ".join(CliRunner().invoke(app, ["ls", "--help"]).output.split())
    assert "captures cannot be added to a store, so extract again into another --out" in said
