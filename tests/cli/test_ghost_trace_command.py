"""`probekit ghost run` and `ghost trace` from a shell's point of view."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probekit.cli import app
from probekit.errors import InputError

RUN = CliRunner()
ASK = ("ghost", "run", "organism", "--per-category", "1", "--draws", "20", "--dtype", "float32")


def run(*arguments: object) -> str:
    done = RUN.invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def refused(*arguments: object) -> str:
    done = RUN.invoke(app, [str(argument) for argument in arguments])
    assert isinstance(done.exception, InputError), (done.output, done.exception)
    return str(done.exception)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that stopped at the rates."""
    out = tmp_path_factory.mktemp("ghost") / "run"
    said = run(*ASK, "--out", out, "--no-trace")
    assert "H-Rate: % of valid responses" in said
    assert "plan:" not in said
    assert not (out / "store").exists()
    assert not (out / "ghost.html").exists()
    return out


def test_a_run_is_traced_afterwards_and_then_nothing_is_computed_again(asked: Path, monkeypatch) -> None:
    said = run("ghost", "trace", asked, "--draws", 20)
    assert "plan: 10 answers of" in said
    for text in ("Quantities by tone", "Detectors against the verdict", "page:", "probekit ls"):
        assert text in said
    assert (asked / "ghost.html").exists()
    record = json.loads((asked / "ghost.json").read_text())
    assert record["model"] == "organism"
    assert set(record["quantities"]["all"]) >= {"image_mass", "vns", "entropy"}
    monkeypatch.setattr("probekit.pipeline.tracing.load_model", lambda spec: pytest.fail("loaded"))
    again = run(*ASK, "--out", asked)
    assert "plan:" not in again
    assert "page:" in again
    assert "H-Rate by tone" not in again  # printed once, by the rates


def test_the_next_page_keeps_the_last_pages_scores_unless_made_afresh(asked: Path, tmp_path: Path) -> None:
    judged = tmp_path / "judged.jsonl"
    lines = [json.loads(line) for line in (asked / "responses.jsonl").read_text().splitlines()]
    judged.write_text("".join(json.dumps({**line, "score": 4}) + "\n" for line in lines))
    assert "as on the last page" not in run("ghost", "trace", asked, "--draws", 20, "--judged", judged)
    source = lambda: json.loads((asked / "ghost.json").read_text())["h_score"]  # noqa: E731
    assert source() == "recorded scores"
    assert f"With scores of {judged}, as on the last page" in run("ghost", "trace", asked, "--draws", 20)
    assert source() == "recorded scores"
    away = judged.rename(tmp_path / "away.jsonl")
    assert "no longer there" in run("ghost", "trace", asked, "--draws", 20)
    assert source() != "recorded scores"
    run("ghost", "trace", asked, "--draws", 20, "--judged", away)
    assert "last page" not in run("ghost", "trace", asked, "--draws", 20, "--afresh")
    assert source() != "recorded scores"


def test_faults_are_named(asked: Path, tmp_path: Path) -> None:
    assert "no responses.jsonl here" in refused("ghost", "trace", tmp_path)
    assert "no such folder of heads" in refused("ghost", "trace", asked, "--heads", tmp_path / "none")
    assert "nobody" in refused("ghost", "trace", asked, "--detectors", "nll,nobody")
    other = tmp_path / "other"
    other.mkdir()
    (other / "responses.jsonl").write_text((asked / "responses.jsonl").read_text())
    assert "--model" in refused("ghost", "trace", other)
    manifest = asked / "set" / "manifest.jsonl"
    said = run(
        "ghost", "trace", other, "--model", "organism", "--manifest", manifest, "--dtype", "float32",
        "--draws", 0, "--detectors", "nll",
    )  # fmt: skip
    assert "plan: 10 answers" in said
