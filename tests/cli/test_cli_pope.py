"""The commands from a shell's point of view: files in, numbers out, faults with exit code 2."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from probekit.cli import main

ANNOTATIONS = {
    "1.png": ["dog", "kite", "cup"],
    "2.png": ["dog", "kite", "person"],
    "3.png": ["bus", "oven", "dog"],
    "4.png": ["bus", "oven", "kite"],
}


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def probekit(*arguments: object) -> Done:
    """What the command ``probekit`` does, without starting a process for it."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["probekit", *map(str, arguments)]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = before
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("splits")
    annotations = folder / "objects.json"
    annotations.write_text(json.dumps(ANNOTATIONS))
    done = probekit("pope-splits", annotations, "--kind", "all", "--out", folder / "pope")
    assert done.returncode == 0, done.stderr
    assert "24 questions on 4 pictures" in done.stdout
    again = folder / "again.jsonl"
    assert probekit("pope-splits", annotations, "--kind", "popular", "--out", again).returncode == 0
    assert again.read_text() == (folder / "pope" / "popular.jsonl").read_text()
    return folder / "pope" / "popular.jsonl"


def write_answers(path: Path, questions: Path, wrong: int = 2, skip: int = 0) -> Path:
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    with path.open("w") as handle:
        for i, row in enumerate(rows[skip:]):
            label = row["label"] if i >= wrong else {"yes": "no", "no": "yes"}[row["label"]]
            answer = {"yes": "Yes, there is.", "no": "No, there is not."}[label]
            handle.write(json.dumps({"question_id": row["question_id"], "answer": answer}) + "\n")
    return path


def test_scores_are_printed_and_exported(questions: Path, tmp_path: Path) -> None:
    answers = write_answers(tmp_path / "answers.jsonl", questions)
    done = probekit("pope-score", questions, answers)
    assert done.returncode == 0, done.stderr
    # Two of 24 wrong, one of each label: TP 11, FP 1, FN 1, TN 11.
    assert "TP 11  FP 1  FN 1  TN 11" in done.stdout
    # four pictures are too few for an interval, and it is said so
    assert "f1             0.917\n" in done.stdout
    assert "fewer than 5 pictures: none" in done.stdout
    assert "popular.jsonl, 24 rows, 12 yes, 4 pictures" in done.stdout
    exported = json.loads(probekit("pope-score", questions, answers, "--json").stdout)
    assert exported["f1"]["value"] == pytest.approx(11 / 12)
    assert exported["counts"]["tp"] == 11
    assert len(exported["questions"]["sha256"]) == 64


def test_a_missing_answer_is_named_and_exits_with_two(questions: Path, tmp_path: Path) -> None:
    done = probekit("pope-score", questions, write_answers(tmp_path / "answers.jsonl", questions, skip=1))
    assert done.returncode == 2
    assert "no answer to 1 of 24 questions: 1" in done.stderr


def test_the_guessing_rule_is_refused_unless_allowed_by_name(questions: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        "".join(json.dumps({"question_id": row["question_id"], "answer": "Hm."}) + "\n" for row in rows)
    )
    refused = probekit("pope-score", questions, answers, "--readout", "pope_official")
    assert refused.returncode == 2
    assert "--allow-uncovered pope_official" in refused.stderr
    arguments = ("--readout", "pope_official", "--allow-uncovered", "pope_official", "--json")
    allowed = json.loads(probekit("pope-score", questions, answers, *arguments).stdout)
    assert allowed["yes_ratio"]["value"] == 1.0
    assert allowed["coverage"] == 0.0
    own = json.loads(probekit("pope-score", questions, answers, "--json").stdout)
    assert own["unknown_share"]["value"] == 1.0
    assert own["precision"]["value"] is None
    assert len(own["unknown_questions"]) == 24


def test_the_audit_writes_a_page_and_its_numbers(questions: Path, tmp_path: Path) -> None:
    answers = write_answers(tmp_path / "answers.jsonl", questions)
    done = probekit("pope-audit", questions, answers, "--out", tmp_path / "audit", "--draws", 50)
    assert done.returncode == 0, done.stderr
    assert "reference: string_parse" in done.stdout
    page = (tmp_path / "audit" / "audit.html").read_text()
    assert "<h2" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert json.loads((tmp_path / "audit" / "audit.json").read_text())["reference"] == "string_parse"


def test_an_unknown_readout_lists_the_known_ones(questions: Path, tmp_path: Path) -> None:
    done = probekit("pope-score", questions, tmp_path / "x.jsonl", "--readout", "legacy_2tok")
    assert done.returncode == 2
    assert "string_parse, pope_official" in done.stderr
