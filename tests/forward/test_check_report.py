"""Reports of checks: kept, found again by weights and dtype, and the command's exit code."""

import json

import pytest
from typer.testing import CliRunner

from probekit.cli import app
from probekit.forward.check import Outcome, Report, last_report
from probekit.forward.check import run as runner


def made(**changes):
    values = {
        "model": "folder",
        "revision": "sha256:1",
        "family": "llava",
        "architecture": "LlavaForConditionalGeneration",
        "dtype": "float32",
        "device": "cpu",
        "versions": {"torch": "2"},
        "outcomes": (
            Outcome("spans", "passed", 0.0, 0.0, "all"),
            Outcome("TransformerLens", "skipped", None, None, "not installed"),
        ),
    }
    return Report(**{**values, **changes})


def test_a_report_survives_saving(tmp_path):
    report = made()
    again = Report.load(report.save(tmp_path / "deep" / "report.json"))
    assert again == report
    assert again.digest == report.digest
    assert json.loads((tmp_path / "deep" / "report.json").read_text())["digest"] == report.digest


def test_the_digest_is_of_everything():
    digests = {
        made().digest,
        made(revision="sha256:2").digest,
        made(dtype="bfloat16").digest,
        made(outcomes=(Outcome("spans", "passed", 1e-9, 0.0, "all"),)).digest,
    }
    assert len(digests) == 4


def test_a_skipped_contract_does_not_fail_and_a_failed_one_does():
    assert made().passed
    assert not made(
        outcomes=(*made().outcomes, Outcome("logits", "failed", 1.0, 0.1, "")),
    ).passed


def test_reports_are_remembered_by_weights_and_dtype(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path))
    report = made()
    report.remember()
    assert last_report("sha256:1", "float32") == report
    assert last_report("sha256:1", "bfloat16") is None
    assert last_report("sha256:2", "float32") is None


@pytest.mark.parametrize("broken", [False, True])
def test_the_command_exits_with_one_when_a_contract_is_broken(broken, monkeypatch, tmp_path):
    def contract(bench):
        if broken:
            raise RuntimeError("no such layer\nand more")
        return bench.found("spans", 0.0, 0.0, "fine")

    monkeypatch.setattr(runner, "CONTRACTS", {"spans": contract})
    out = tmp_path / "report.json"
    result = CliRunner().invoke(app, ["check", "--tiny", "llava", "--json", "--out", str(out)])
    assert result.exit_code == int(broken), result.output
    report = json.loads(out.read_text())
    assert report["passed"] is not broken
    assert report["model"] == "tiny llava"
    if broken:
        assert report["outcomes"][0]["note"] == "RuntimeError: no such layer"
    assert json.loads(result.stdout)["digest"] == report["digest"]


def test_a_model_or_a_family_must_be_named():
    result = CliRunner().invoke(app, ["check"])
    assert result.exit_code != 0
