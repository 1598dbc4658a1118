"""The NAME-Bench studies run as they are documented, and end in a table and a figure."""

from __future__ import annotations

import csv
import os
import runpy
import sys
from pathlib import Path

import pytest
import yaml

from probekit.captures import HiddenState
from probekit.detectors import DETECTORS
from probekit.evaluation.run import evaluate, train

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("lookback", "hidden_mid", "text_only", "pas", "position")
MIXES = ("none", "natural", "max")


def run(module: str, *arguments: object) -> None:
    """Run a study in this process; studies are never imported."""
    before, path, folder = sys.argv, list(sys.path), Path.cwd()
    sys.argv = [module, *map(str, arguments)]
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    try:
        runpy.run_module(module, run_name="__main__")
    finally:
        sys.argv, sys.path[:] = before, path
        os.chdir(folder)


@pytest.fixture(scope="module")
def made(make_world, tmp_path_factory) -> Path:  # type: ignore[no-untyped-def]
    folder: Path = tmp_path_factory.mktemp("studied")
    captures = [c for name in NAMES for c in DETECTORS[name].needs()]
    captures += [HiddenState(layer=layer) for layer in range(4)]
    make_world(images=90, mentions=6, seed=3).write(folder, captures)
    places = folder / "store", folder / "labels/labels.jsonl", folder / "heads"
    train(*places, mixes=MIXES)
    evaluate(*places, folder / "evaluation.json")
    return folder


def table(folder: Path, name: str) -> list[dict[str, str]]:
    """The study's csv; its figure and Markdown must be there too."""
    assert (folder / "studies" / f"{name}.svg").read_text().startswith("<?xml")
    assert "|" in (folder / "studies" / f"{name}.md").read_text()
    with (folder / "studies" / f"{name}.csv").open() as handle:
        return list(csv.DictReader(handle))


def test_mixing_curve(made: Path) -> None:
    run("analysis.mixing_curve", made)
    rows = {(r["detector"], r["measure"]): r for r in table(made, "mixing_curve")}
    row = rows["hidden_mid", "fpr_non_assertive"]
    assert float(row["max"]) < float(row["none"])
    assert float(row["none_low"]) <= float(row["none"]) <= float(row["none_high"])
    assert {name for name, _ in rows} == {"lookback", "hidden_mid", "text_only"}


def test_position_matching_prints_both_positions(made: Path) -> None:
    run("analysis.position_matching", made)
    rows = table(made, "position_matching")
    assert sum(r["detector"] == "position" for r in rows) == 2
    (probe,) = [r for r in rows if r["detector"] == "hidden_mid"]
    assert float(probe["auroc_position_matched"]) > 0.7


def test_absent_against_present(made: Path) -> None:
    """In the made world an absent object leaves a trace even where nothing is claimed."""
    run("analysis.absent_present", made, "--detector", "hidden_mid")
    (row,) = [r for r in table(made, "absent_present") if r["subtype"] == "all"]
    assert float(row["absent"]) > float(row["present"])
    assert float(row["auroc"]) > 0.5


def test_natural_rates(made: Path) -> None:
    run("analysis.natural_rates", made)
    (row,) = table(made, "natural_rates")
    assert float(row["non_assertive_share_low"]) < 0.2 < float(row["non_assertive_share_high"])
    assert float(row["hallucination_rate"]) == pytest.approx(0.25 / 0.8, abs=0.06)


def test_teacher_forced_control(made: Path) -> None:
    run("analysis.teacher_forced_control", made, "--other", made)
    for row in table(made, "teacher_forced_control"):
        assert row["own"] == row["forced"]


def test_leave_one_subtype_out_costs_more_where_it_was_left_out(made: Path) -> None:
    run("train.leave_one_subtype_out", made, "--detector", "hidden_mid")
    rows = table(made, "leave_one_subtype_out")
    assert [r["subtype"] for r in rows] == ["hedged", "depictive", "purpose", "negation"]
    assert sum(float(r["unseen"]) - float(r["seen"]) for r in rows) > 0


def test_text_filter(made: Path) -> None:
    run("train.text_filter", made)
    rows = {r["detector"]: r for r in table(made, "text_filter")}
    assert set(rows) >= set(NAMES)
    assert sum(float(r["fpr"]) - float(r["fpr_filtered"]) for r in rows.values()) > 0
    assert "The filter catches all" in (made / "studies/text_filter.md").read_text()


def test_hedges_as_claims(made: Path) -> None:
    run("train.hedges_as_claims", made, "--detector", "hidden_mid")
    assert [(r["detector"], r["mix"]) for r in table(made, "hedges_as_claims")] == [
        ("hidden_mid", "none"),
        ("hidden_mid", "natural"),
    ]


def test_layer_sweep(made: Path) -> None:
    run("train.layer_sweep", made, "--mix", "none", "--mix", "max")
    rows = table(made, "layer_sweep")
    assert [r["layer"] for r in rows] == ["0", "1", "2", "3"]
    assert all(float(r["none"]) > 0.6 for r in rows)


@pytest.mark.parametrize(
    "file",
    [
        *("train/layer_sweep", "train/leave_one_subtype_out", "train/hedges_as_claims", "train/text_filter"),
        *("evaluate/mixing_curve", "evaluate/position_matching", "evaluate/absent_present"),
        *("evaluate/natural_rates", "evaluate/teacher_forced_control"),
    ],
)
def test_each_config_names_its_command_and_is_a_valid_job(file: str) -> None:
    from probekit import jobs

    path = ROOT / "configs" / f"{file}.yaml"
    module = path.read_text().splitlines()[0].split()[3]
    assert path.read_text().splitlines()[0].split()[4] == f"configs/{file}.yaml"
    assert (ROOT / (module.replace(".", "/") + ".py")).exists()
    assert jobs.load(path, jobs.StudyJob).run == Path(yaml.safe_load(path.read_text())["run"])
