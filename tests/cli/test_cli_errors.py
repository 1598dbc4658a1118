"""What reaches the user when a path is wrong: one line, no traceback, exit code 2."""

import subprocess
import sys
from pathlib import Path

import pytest

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
