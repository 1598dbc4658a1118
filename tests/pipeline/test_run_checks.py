"""Whether a folder belongs to a job: paths count as the files they lead to, all else as it is written."""

from pathlib import Path
from typing import Any

import pytest

from probekit import jobs
from probekit.errors import InputError
from probekit.files import write_json
from probekit.pipeline.folder import RunFolder
from probekit.pipeline.run_checks import refuse_another


def job(tmp_path: Path, **changes: Any) -> jobs.RunJob:
    given = {
        "model": {"name": "organism"}, "images": tmp_path / "images", "references": tmp_path / "r.jsonl",
        "texts": tmp_path / "c.jsonl", "question": "What is there?", "out": tmp_path / "run",
    }  # fmt: skip
    return jobs.make(jobs.RunJob, **{**given, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run's folder that holds its job alone."""
    (tmp_path / "images").mkdir()
    (tmp_path / "c.jsonl").touch()
    (tmp_path / "run").mkdir()
    return RunFolder(tmp_path / "run")


@pytest.mark.parametrize("questions", [("What is there?", "x" * 400), ("x" * 400, "y" * 5000), ("a", "a\0")])
def test_a_long_question_is_compared_as_text(
    folder: RunFolder, tmp_path: Path, questions: tuple[str, str]
) -> None:
    before, now = (job(tmp_path, question=text) for text in questions)
    write_json(folder.job, before.model_dump(mode="json"))
    with pytest.raises(InputError, match="another question"):
        refuse_another(folder, now)


def test_questions_that_lead_to_one_file_are_two_questions(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_json(folder.job, job(tmp_path, question="images").model_dump(mode="json"))
    with pytest.raises(InputError, match="another question"):
        refuse_another(folder, job(tmp_path, question="./images/"))


def test_paths_may_be_spelt_in_another_way(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_json(folder.job, job(tmp_path).model_dump(mode="json"))
    refuse_another(folder, job(tmp_path, images=Path("run/../images"), texts=Path("c.jsonl")))
    with pytest.raises(InputError, match="another images"):
        refuse_another(folder, job(tmp_path, images=tmp_path))
