"""The stages of a run, each by its own command: what one leaves, the next takes."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from probekit.cli import app
from probekit.errors import InputError
from probekit.files import read_jsonl, write_jsonl
from probekit.organism import write_images
from probekit.pipeline.run import demo_job, run

COUNT = 40


def invoke(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def worked(*arguments: object) -> str:
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output + repr(done.exception)
    return str(done.output)


def refused(*arguments: object) -> str:
    done = invoke(*arguments)
    assert isinstance(done.exception, InputError), done.output + repr(done.exception)
    return str(done.exception)


def lines(path: Path) -> list[dict[str, Any]]:
    return [line for _, line in read_jsonl(path)]


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every stage by its command; ``scenes`` holds the pictures."""
    root = tmp_path_factory.mktemp("chain")
    scenes, texts, rows = root / "scenes", root / "generations.jsonl", root / "rows.jsonl"
    write_images(scenes, COUNT, 3)
    worked("generate", "organism", "--images", scenes, "--batch", 64, "--out", texts)
    worked("mentions", texts, "--vocabulary", "organism", "--out", rows)
    worked(
        "label", rows, "--generations", texts, "--references", scenes / "references.jsonl", "--vocabulary",
        "organism", "--out", root / "labels/labels.jsonl",
    )  # fmt: skip
    worked(
        "extract", "--model", "organism", "--generations", texts, "--rows", rows, "--images", scenes,
        "--detector", "hidden_mid,svar", "--out", root / "store",
    )  # fmt: skip
    worked("train-probes", root / "store", "--detectors", "hidden_mid", "--mix", "none", "--seeds", 2)
    worked("evaluate", root / "store", "--detector", "hidden_mid", "--detector", "svar", "--seeds", 2)
    worked("report", root)
    return root


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same pictures in one command, with usage judged by the same rules."""
    root = tmp_path_factory.mktemp("whole")
    job = demo_job(root, COUNT, 3).model_copy(
        update={"detectors": ("hidden_mid", "svar"), "mixes": ("none",), "seeds": 2, "usage": "rules"}
    )
    run(job)
    return root


def test_the_chain_leaves_what_one_command_leaves(chain: Path, whole: Path) -> None:
    for name in ("generations.jsonl", "rows.jsonl"):
        assert lines(chain / name) == lines(whole / name)
    said = ("example_id", "index", "usage", "present")
    assert [[line[name] for name in said] for line in lines(chain / "labels/labels.jsonl")] == [
        [line[name] for name in said] for line in lines(whole / "labels/labels.jsonl")
    ]
    ours, theirs = (json.loads((root / "evaluation.json").read_text())["records"] for root in (chain, whole))
    assert {r["detector"] for r in ours} == {"hidden_mid", "svar"}
    assert ours == theirs
    assert "hidden_mid" in (chain / "report.html").read_text()


def test_labels_without_presence_are_refused_and_can_be_given_it(chain: Path, tmp_path: Path) -> None:
    labels, rows, texts = tmp_path / "labels.jsonl", chain / "rows.jsonl", chain / "generations.jsonl"
    common = ("label", rows, "--generations", texts, "--out", labels)
    assert "--references" in worked(*common)
    for command in ("train-probes", "evaluate"):
        said = refused(command, chain / "store", "--labels", labels, "--mix", "natural")
        assert "labels.jsonl" in said
        assert "whether the object is in the picture" in said
        assert "label ROWS --references" in said
    given = ("--references", chain / "scenes/references.jsonl", "--vocabulary", "organism")
    worked(*common, *given)
    assert lines(labels) == lines(chain / "labels/labels.jsonl")
    worked(*common)
    assert lines(labels) == lines(chain / "labels/labels.jsonl")


def test_references_of_other_pictures_are_refused(chain: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "r.jsonl", [{"image": "street", "objects": ["cup"]}])
    said = refused(
        "label", chain / "rows.jsonl", "--generations", chain / "generations.jsonl", "--references",
        tmp_path / "r.jsonl", "--out", tmp_path / "labels.jsonl",
    )  # fmt: skip
    assert "none of the rows' pictures" in said
    assert "street" in said
    assert not (tmp_path / "labels.jsonl").exists()


def test_texts_of_a_model_nobody_names_are_not_guessed(chain: Path, tmp_path: Path) -> None:
    shutil.copy(chain / "generations.jsonl", tmp_path)
    command = ("mentions", tmp_path / "generations.jsonl", "--vocabulary", "organism", "--out")
    assert "--model" in refused(*command, tmp_path / "rows.jsonl")
    worked(*command, tmp_path / "rows.jsonl", "--model", "organism")
    assert lines(tmp_path / "rows.jsonl") == lines(chain / "rows.jsonl")


def test_rows_of_plain_captions_are_said_to_be_no_rows_to_trace(chain: Path, tmp_path: Path) -> None:
    texts = chain / "generations.jsonl"
    write_jsonl(
        tmp_path / "captions.jsonl", ({"image": "a", "caption": line["text"]} for line in lines(texts))
    )
    worked(
        "mentions", tmp_path / "captions.jsonl", "--vocabulary", "organism", "--out", tmp_path / "rows.jsonl"
    )
    said = refused(
        "extract", "--model", "organism", "--generations", texts, "--rows", tmp_path / "rows.jsonl",
        "--images", chain / "scenes", "--out", tmp_path / "store",
    )  # fmt: skip
    assert f"probekit mentions {texts}" in said


def test_an_evaluation_elsewhere_leaves_the_scores_of_the_run(chain: Path) -> None:
    before = (chain / "scores.csv").read_bytes()
    worked("evaluate", chain / "store", "--detectors", "svar", "--seeds", 1, "--out", chain / "other.json")
    assert (chain / "scores.csv").read_bytes() == before
    with (chain / "other.scores.csv").open() as handle:
        assert {row["detector"] for row in csv.DictReader(handle)} == {"svar"}


def test_a_detector_without_a_head_is_said_to_need_none(chain: Path, tmp_path: Path) -> None:
    said = worked("train-probes", chain / "store", "--detectors", "svar", "--out", tmp_path / "heads")
    assert "svar needs no head" in said
    assert "heads fitted" not in said
    assert "0/0" not in said
    assert not (tmp_path / "heads").exists()


@pytest.mark.parametrize("spelling", ["--detector", "--detectors"])
@pytest.mark.parametrize("command", ["run", "extract", "train-probes", "evaluate"])
def test_both_spellings_are_taken(command: str, spelling: str) -> None:
    assert spelling in CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
