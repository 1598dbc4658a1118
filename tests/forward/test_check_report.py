"""Reports of checks: kept, found again by weights and dtype, and the command's exit code."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from probekit.cli import app
from probekit.errors import FamilyError
from probekit.families import load
from probekit.families.table import GENERIC
from probekit.families.tiny import make
from probekit.forward.check import Outcome, Report, check, last_report, require_proven
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
    assert last_report("moved elsewhere", "sha256:1", "float32") == report
    assert last_report("folder", "sha256:1", "bfloat16") is None
    assert last_report("folder", "sha256:2", "float32") is None
    made(revision="unknown").remember()
    assert last_report("another", "unknown", "float32") is None


def test_what_broke_a_contract_is_refused_until_accepted_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    vlm = load(str(make("llava", tmp_path / "m")), dtype="float32", device="cpu")
    assert require_proven(vlm) is None
    broken = made(revision=vlm.revision, outcomes=(Outcome("logits", "failed", 1.0, 0.1, ""),))
    broken.remember()
    with pytest.raises(FamilyError, match="broke logits"):
        require_proven(vlm)
    replace(broken, accepted=("logits",)).remember()
    assert require_proven(vlm).accepted == ("logits",)


def test_an_unknown_architecture_is_refused_until_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    vlm = load(str(make("llava", tmp_path / "m")), dtype="float32", device="cpu")
    vlm = replace(vlm, family=GENERIC)
    with pytest.raises(FamilyError, match="no family covers the architecture 'llava'"):
        require_proven(vlm)
    report = check(vlm)
    assert report.passed
    report.remember()
    assert require_proven(vlm) == report


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


def test_a_store_says_which_check_its_model_passed(tmp_path, monkeypatch):
    from probekit.families import Prompter
    from probekit.pipeline.tracing import make_header
    from probekit.store.schema import differences

    monkeypatch.setenv("PROBEKIT_CACHE", str(tmp_path / "cache"))
    vlm = load(str(make("llava", tmp_path / "m")), dtype="float32", device="cpu")
    facts = {"job_digest": "0", "agreement": 1.0, "shard_examples": 8, "extra": {"condition": "full"}}
    before = make_header(vlm, Prompter(vlm), **facts)
    assert "check" not in before.extra
    report = made(revision=vlm.revision)
    report.remember()
    after = make_header(vlm, Prompter(vlm), **facts)
    assert after.extra["check"] == report.digest
    assert list(differences(before, (), after, ())) == []
