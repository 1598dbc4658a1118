"""``--detectors`` that names nothing is bad usage, not a wish for all detectors."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from probekit.cli import app

COMMANDS = {
    "run": ["run", "organism", "--images", "i", "--references", "r", "--out", "o"],
    "extract": ["extract", "--model", "organism"],
    "train-probes": ["train-probes", "RUN"],
    "evaluate": ["evaluate", "RUN"],
    "ghost run": ["ghost", "run", "organism", "--out", "o"],
    "ghost trace": ["ghost", "trace", "RUN"],
}


@pytest.mark.parametrize("given", ["", ",", " , "])
@pytest.mark.parametrize("command", COMMANDS)
def test_detectors_that_name_nothing_are_bad_usage(
    command: str, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "RUN" / "store").mkdir(parents=True)
    (tmp_path / "RUN" / "store" / "header.json").write_text("{}")
    done = CliRunner().invoke(app, [*COMMANDS[command], "--detectors", given])
    assert done.exit_code == 2
    assert "names no detector" in " ".join(done.output.replace("│", " ").split())
    assert [path.name for path in tmp_path.iterdir()] == ["RUN"]
