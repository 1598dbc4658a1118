"""The commands: help that teaches, and errors that name the folder."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from probekit.cli.organism import organism as app
from probekit.errors import InputError

runner = CliRunner()


@pytest.mark.parametrize("command", ["train", "evaluate", "images"])
def test_help_gives_an_example(command: str) -> None:
    result = runner.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output


def test_images(tmp_path: Path) -> None:
    result = runner.invoke(app, ["images", "--out", str(tmp_path), "--count", "3"])
    assert result.exit_code == 0, result.output
    assert len(list(tmp_path.glob("*.png"))) == 3


def test_evaluate_names_a_folder_without_a_model(tmp_path: Path) -> None:
    result = runner.invoke(app, ["evaluate", "--model", str(tmp_path)])
    assert isinstance(result.exception, InputError)
    assert str(tmp_path) in str(result.exception)


def test_train_without_resume_refuses_a_used_folder(tmp_path: Path) -> None:
    (tmp_path / "checkpoint-0001").mkdir()
    result = runner.invoke(app, ["train", "--out", str(tmp_path), "--no-resume"])
    assert isinstance(result.exception, InputError)
