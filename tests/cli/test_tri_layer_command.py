"""``probekit trilayer`` on the embedded model: one command, then other choices without another pass."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from probekit.cli import app
from probekit.errors import InputError
from probekit.files import read_json, read_jsonl
from probekit.organism import path as organism_path
from probekit.scores.tri_layer import load_rows


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


@pytest.mark.skipif(not organism_path().exists(), reason="the embedded model's weights are not there")
def test_one_command_and_other_choices(tmp_path: Path) -> None:
    common = ("trilayer", "organism", "--out", tmp_path, "--limit", 8, "--draws", 20, "--max-new-tokens", 12)
    output = run(*common)
    assert "Taxonomy" in output
    assert "a plain loop" in output
    first = load_rows(tmp_path / "tri_layer.csv")
    assert len(first) == 8
    assert all(row.lad == row.lad and row.vns == row.vns and row.cs == row.cs for row in first)
    choices = read_json(tmp_path / "summary.json")["choices"]
    evidence = (tmp_path / "evidence.jsonl").read_bytes()
    run(*common, "--fraction", 1.0, "--gen", "full")
    second = load_rows(tmp_path / "tri_layer.csv")
    assert (tmp_path / "evidence.jsonl").read_bytes() == evidence
    assert read_json(tmp_path / "summary.json")["choices"] != choices
    assert [row.lad for row in second] == [row.lad for row in first]
    # A mean over all positions is never above the mean of the largest.
    assert all(b.vns <= a.vns + 1e-12 for a, b in zip(first, second, strict=True))
    assert all(row.cs == row.cs_full for row in second)
    truth = {line["image"]: set(line["objects"]) for _, line in read_jsonl(tmp_path / "objects.jsonl")}
    for _, line in read_jsonl(tmp_path / "questions-full.jsonl"):
        there = any(f" {o} " in f" {line['prompt'].replace('?', ' ')} " for o in truth[line["image"]])
        assert (line["reference"] == ["yes"]) == there


def test_faulty_requests(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--questions"):
        run("trilayer", "some/model", "--out", tmp_path)
    file = tmp_path / "q.jsonl"
    file.write_text('{"image": "i.png", "question": "Q?", "answer": "a"}\n')
    with pytest.raises(InputError, match="--annotations"):
        run("trilayer", "organism", "--out", tmp_path, "--questions", file, "--kind", "vqa")
    with pytest.raises(InputError, match="--kind other"):
        run("trilayer", "organism", "--out", tmp_path, "--questions", file, "--kind", "other")
