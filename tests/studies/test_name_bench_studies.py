"""The NAME-Bench studies run as they are documented, and end in a table and a figure."""

from __future__ import annotations

import csv
import os
import re
import runpy
import sys
from pathlib import Path

import pytest
import yaml

from probekit.captures import HiddenState
from probekit.detectors import DETECTORS
from probekit.evaluation.records import Evaluation, Record
from probekit.evaluation.run import evaluate, train
from probekit.files import read_jsonl, write_jsonl
from probekit.pipeline.run import demo_job
from probekit.pipeline.run import run as run_all

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


def test_the_mixing_curve_goes_from_fewest_to_most(tmp_path: Path) -> None:
    """The natural share lies anywhere among the fixed ones: the axis follows what was drawn."""
    sizes = {"none": 0, "natural": 50, "10": 3, "30": 9, "100": 30, "max": 60}
    records = [
        Record("probe", "v", mix, measure, "all", "all", 0.5, 0.4, 0.6, 40, 20)
        for mix in sizes
        for measure in ("fpr_non_assertive", "tpr")
    ]
    counts = {"budgets": {mix: {"0": {"non_assertive": n}} for mix, n in sizes.items()}}
    Evaluation(tuple(records), counts).save(tmp_path / "evaluation.json")
    run("analysis.mixing_curve", tmp_path)
    (row, _) = table(tmp_path, "mixing_curve")
    assert [name for name in row if name in sizes] == sorted(sizes, key=lambda mix: sizes[mix])
    drawn = (tmp_path / "studies" / "mixing_curve.svg").read_text()
    labels = [f">{mix}{' %' * mix.isdigit()}<" for mix in sorted(sizes, key=lambda mix: sizes[mix])]
    places = [drawn.index(label) for label in labels]
    assert places == sorted(places)
    assert "% of hallucinated" in (tmp_path / "studies" / "mixing_curve.md").read_text() + drawn


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


def test_the_layer_sweep_takes_labels_of_another_folder(made: Path, tmp_path: Path) -> None:
    (tmp_path / "store").symlink_to(made / "store")
    run("train.layer_sweep", tmp_path, "--labels", made / "labels/labels.jsonl", "--seeds", 1)
    assert [r["layer"] for r in table(tmp_path, "layer_sweep")] == ["0", "1", "2", "3"]


def test_the_layers_of_the_config_are_those_of_the_sweep() -> None:
    from probekit import jobs
    from probekit.captures import parse_capture

    job = jobs.load(ROOT / "configs/extract/layer_sweep.yaml", jobs.ExtractJob)
    assert [parse_capture(key) for key in job.captures] == [HiddenState(layer=n) for n in range(5)]
    study = jobs.load(ROOT / "configs/train/layer_sweep.yaml", jobs.StudyJob)
    assert study.run / "store" == job.out
    assert study.labels == job.rows.parent / "labels/labels.jsonl"


@pytest.mark.parametrize("file", sorted((ROOT / "configs").rglob("*.yaml")), ids=lambda file: file.stem)
def test_the_first_line_of_each_config_is_the_command_that_runs_it(file: Path) -> None:
    first = file.read_text().splitlines()[0].split()
    assert str(file.relative_to(ROOT)) in first
    if first[1] == "python":
        assert (ROOT / (first[3].replace(".", "/") + ".py")).exists()
    else:
        assert first[1] == "probekit"


def test_configs_that_are_named_somewhere_exist() -> None:
    sources = [f for folder in ("analysis", "train", "extract", "docs") for f in (ROOT / folder).rglob("*.*")]
    text = " ".join(f.read_text() for f in [*sources, ROOT / "README.md"] if f.suffix in (".py", ".md"))
    named = set(re.findall(r"configs/\w+/\w+\.yaml", text))
    assert "configs/extract/teacher_forced.yaml" in named
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_a_run_through_another_model_is_compared_with_its_own(tmp_path: Path) -> None:
    """Texts go through anew with the model's tokens; the control then has both sides."""
    own = demo_job(tmp_path / "own", 40, 3).model_copy(
        update={"detectors": ("hidden_mid", "svar"), "mixes": ("none",), "seeds": 1}
    )
    run_all(own)
    study = {"run": str(tmp_path / "own"), "models": ["organism"], "out": str(tmp_path / "forced")}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    run("extract.other_texts", tmp_path / "study.yaml", "--detectors", "hidden_mid,svar")
    forced = tmp_path / "forced/organism"
    run("analysis.teacher_forced_control", forced, "--other", tmp_path / "own", "--detector", "hidden_mid")
    found = {(r["detector"], r["mix"], r["measure"]) for r in table(forced, "teacher_forced_control")}
    assert ("hidden_mid", "none", "auroc") in found
    assert ("svar", "none", "auroc") in found


def test_empty_texts_are_left_out_and_cut_ones_end_as_in_their_own_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The embedded model says its own texts once more, so that the same mentions are dropped as cut."""
    changes = {"detectors": ("svar",), "mixes": ("none",), "seeds": 1, "max_new_tokens": 9}
    run_all(demo_job(tmp_path / "own", 40, 3).model_copy(update=changes))
    texts = tmp_path / "own/generations.jsonl"
    lines = [line for _, line in read_jsonl(texts)]
    cut = {
        (line["example_id"], line["start"])
        for _, line in read_jsonl(tmp_path / "own/dropped.jsonl")
        if "cut" in line["reason"]
    }
    assert len(cut) > 3
    empty = next(line for line in lines if line["example_id"] not in {name for name, _ in cut})
    empty |= {"text": "", "token_ids": []}
    write_jsonl(texts, lines)
    study = {"run": str(tmp_path / "own"), "models": ["organism"], "out": str(tmp_path / "forced")}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    for _ in range(2):
        run("extract.other_texts", tmp_path / "study.yaml", "--detectors", "svar")
    assert "1 of 40 texts are empty" in caplog.text
    forced = tmp_path / "forced/organism"
    names = [line["example_id"] for _, line in read_jsonl(forced / "generations.jsonl")]
    assert names == [line["example_id"] for line in lines if line is not empty]
    assert cut == {
        (line["example_id"], line["start"])
        for _, line in read_jsonl(forced / "dropped.jsonl")
        if "cut" in line["reason"]
    }


STUDIES = sorted(f for folder in ("analysis", "train", "extract") for f in (ROOT / folder).glob("*.py"))
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "effects": ("/none", "--labels", "/none", "--capture", "group_count", "--first", "a", "--second", "b"),
    "tri_layer_tables": ("/none/rows.csv",),
    "teacher_forced_control": ("/none", "--other", "/nowhere"),
}
MAKES_ITS_OWN = ("family_table", "readout_table", "ghost_consistency")


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_a_study_tells_bad_input_in_a_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert file.read_text().rstrip().endswith("run_telling(main)")
    if file.stem in MAKES_ITS_OWN:
        return
    with pytest.raises(SystemExit) as left:
        run(f"{file.parent.name}.{file.stem}", *ARGUMENTS.get(file.stem, ("/none",)))
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") or "\nerror: " in said, said
    assert "/no" in said


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
