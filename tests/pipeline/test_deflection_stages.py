"""The paper's order with a model of the house: stage I before there is evidence, stage III after mining."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probekit.benchmarks.deflection import Scenario, load_samples, pose
from probekit.benchmarks.deflection_wording import ORGANISM_WORDING
from probekit.benchmarks.deflection_world import make_deflection
from probekit.cli import app
from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.jobs import ModelSpec
from probekit.metrics.deflection_rules import judge
from probekit.pipeline.deflection import DeflectionJob, deflection
from probekit.pipeline.deflection_ask import answer_samples

ORGANISM = ModelSpec(name="organism")


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["deflection", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def lines_of(path: Path) -> list[dict]:
    return [line for _, line in read_jsonl(path)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set as it is, and the same with neither evidence nor distractors."""
    out = tmp_path_factory.mktemp("world")
    make_deflection(out, 1)
    bare = [
        {k: v for k, v in line.items() if k not in ("gold", "distractors")}
        for line in lines_of(out / "samples.jsonl")
    ]
    (out / "bare.jsonl").write_text("".join(json.dumps(line) + "\n" for line in bare))
    held = [{**line, "distractors": []} for line in lines_of(out / "samples.jsonl")]
    (out / "golden.jsonl").write_text("".join(json.dumps(line) + "\n" for line in held))
    return out


def test_a_parametric_run_needs_neither_evidence_nor_distractors(world: Path, tmp_path: Path) -> None:
    told = run("run", "organism", "--samples", world / "bare.jsonl", "--scenario", "parametric", "--no-trace",
               "--draws", 0, "--out", tmp_path / "run")  # fmt: skip
    assert "parametric" in told
    assert "Correct, oracle" not in told
    answers = lines_of(tmp_path / "run/answers.jsonl")
    assert [line["scenario"] for line in answers] == ["parametric"] * 12
    found = json.loads((tmp_path / "run/deflection.json").read_text())["results"]["all"]
    assert list(found["scenarios"]) == ["parametric"]
    assert found["reliability_gap"] is None
    with pytest.raises(InputError, match="another scenarios"):
        deflection(DeflectionJob(ORGANISM, tmp_path / "run", world / "bare.jsonl", least_distractors=0))


def test_an_oracle_run_needs_no_distractors_and_is_traced(world: Path, tmp_path: Path) -> None:
    job = DeflectionJob(ORGANISM, tmp_path / "run", world / "golden.jsonl", draws=0,
                        scenarios=Scenario.chosen(["oracle", "parametric"]))  # fmt: skip
    found = deflection(job).summary
    assert list(found.results["all"].scenarios) == [Scenario.PARAMETRIC, Scenario.ORACLE]
    assert set(found.detectors) == {"all", "parametric", "oracle"}
    assert set(found.attention) == {"parametric", "oracle"}
    for scenario, message in (
        ("realistic", "0 distractors, at least 5"),
        ("wise", "unknown scenario 'wise'"),
    ):
        with pytest.raises(InputError, match=message):
            run("run", "organism", "--samples", world / "golden.jsonl", "--scenario", scenario, "--out",
                tmp_path / "other")  # fmt: skip
    with pytest.raises(InputError, match="no gold evidence"):
        run("questions", world / "bare.jsonl", "--scenario", "oracle", "--out", tmp_path / "q.jsonl")


def test_questions_under_chosen_scenarios(world: Path, tmp_path: Path) -> None:
    out = tmp_path / "q.jsonl"
    assert "12 prompts" in run("questions", world / "bare.jsonl", "--scenario", "parametric", "--out", out)
    samples = world / "samples.jsonl"
    assert "60 prompts" in run("questions", samples, "--single-distractors", "--out", out)
    assert "72 prompts" in run(
        "questions", samples, "--single-distractors", "--scenario", "oracle", "--out", out
    )
    assert {line.get("scenario") for line in lines_of(out)} == {"oracle", None}


def test_single_distractors_are_each_all_the_evidence(world: Path, tmp_path: Path) -> None:
    """Every prompt holds one distractor and no other piece, and is answered as if asked by itself."""
    out = tmp_path / "model.jsonl"
    samples = {s.sample_id: s for s in load_samples(world / "samples.jsonl")}
    assert answer_samples(ORGANISM, world / "samples.jsonl", out, scenarios=(), alone=True) == 60
    lines = lines_of(out)
    assert sorted((line["sample_id"], line["distractor"]) for line in lines) == sorted(
        (name, number) for name in samples for number in range(5)
    )
    for line in lines:
        sample = samples[line["sample_id"]]
        words = json.dumps(line["messages"])
        for number, piece in enumerate((*sample.distractors, *sample.gold)):
            shown = number == line["distractor"]
            if piece.image is not None:
                assert (piece.image in line["images"]) is shown
            elif piece.asked is not None:
                assert (piece.asked in words) is shown or piece.asked == sample.question
            else:
                assert (str(piece.text) in words) is shown
    before = out.read_bytes()
    assert answer_samples(ORGANISM, world / "samples.jsonl", out, scenarios=(), alone=True) == 60
    assert out.read_bytes() == before
    with pytest.raises(InputError, match="another run"):
        answer_samples(ORGANISM, world / "samples.jsonl", out, scenarios=(Scenario.ORACLE,), alone=True)
    with pytest.raises(InputError, match="nothing to ask"):
        answer_samples(ORGANISM, world / "samples.jsonl", tmp_path / "x.jsonl", scenarios=())


def test_the_whole_order_from_the_command_line(world: Path, tmp_path: Path) -> None:
    """Stages I and III by commands; what stays is counted from the answers by hand."""
    first, third = tmp_path / "one/organism.jsonl", tmp_path / "three/organism.jsonl"
    run("answer", "organism", "--samples", world / "bare.jsonl", "--scenario", "parametric", "--out", first)
    told = run("gate", world / "bare.jsonl", "--responses", first, "--out", tmp_path / "one/kept.jsonl")
    assert "I, parametric (1 models)" in told
    samples = {s.sample_id: s for s in load_samples(world / "samples.jsonl")}

    def right(line: dict) -> bool:
        return judge(line["text"], samples[line["sample_id"]].answers).outcome == "correct"

    known = {line["sample_id"] for line in lines_of(first) if right(line)}
    kept = [line["id"] for line in lines_of(tmp_path / "one/kept.jsonl")]
    assert kept == [name for name in samples if name not in known]
    run("answer", "organism", "--samples", world / "samples.jsonl", "--scenario", "oracle",
        "--single-distractors", "--out", third)  # fmt: skip
    told = run("gate", world / "samples.jsonl", "--responses", third, "--least-distractors", 3, "--out",
               tmp_path / "three/kept.jsonl")  # fmt: skip
    assert "III, oracle (1 models); III, distractors (1 models)" in told
    lines = lines_of(third)
    answerable = {line["sample_id"] for line in lines if line.get("scenario") == "oracle" and right(line)}
    telling = {
        (line["sample_id"], line["distractor"]) for line in lines if "distractor" in line and right(line)
    }
    expected = {
        name: [piece for n, piece in enumerate(sample.distractors) if (name, n) not in telling]
        for name, sample in samples.items()
        if name in answerable
    }
    expected = {name: pieces for name, pieces in expected.items() if len(pieces) >= 3}
    assert 0 < len(expected) < 12
    stay = load_samples(tmp_path / "three/kept.jsonl", least_distractors=0)
    assert {s.sample_id: list(s.distractors) for s in stay} == expected


def test_verdicts_on_single_distractors_reach_the_gate(world: Path, tmp_path: Path) -> None:
    """Judged line by line, scenarios and single distractors alike."""
    out, judged, record = tmp_path / "m.jsonl", tmp_path / "judged.jsonl", tmp_path / "record.jsonl"
    answer_samples(ORGANISM, world / "samples.jsonl", out, scenarios=(Scenario.ORACLE,), alone=True)
    lines = lines_of(out)
    record.write_text("".join(json.dumps({**line, "outcome": "incorrect"}) + "\n" for line in lines))
    told = run("gate", world / "samples.jsonl", "--responses", record, "--out", tmp_path / "k/kept.jsonl")
    assert "0 samples stay" in told
    verdicts = [{**line, "outcome": "correct" if "scenario" in line else "incorrect"} for line in lines]
    judged.write_text("".join(json.dumps(line) + "\n" for line in verdicts))
    told = run("gate", world / "samples.jsonl", "--responses", judged, "--out", tmp_path / "k/kept.jsonl")
    assert "12 samples stay" in told
    alone = tmp_path / "alone.jsonl"
    alone.write_text("".join(json.dumps(line) + "\n" for line in lines if "distractor" in line))
    with pytest.raises(InputError, match="no response under a scenario"):
        run("score", alone, "--samples", world / "samples.jsonl")


@pytest.fixture(scope="module")
def rules_run(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rules")
    deflection(DeflectionJob(ORGANISM, out, world / "samples.jsonl", draws=0))
    return out


def numbers(folder: Path) -> dict:
    return json.loads((folder / "deflection.json").read_text())


def test_verdicts_of_a_file_decide_in_page_detectors_and_coverage(
    world: Path, rules_run: Path, tmp_path: Path
) -> None:
    """Free answers: the first 40 judged correct. Forced: every answer about turns right, no other."""
    before = numbers(rules_run)
    assert "Outcomes by the rules (48 answers)." in (rules_run / "deflection.html").read_text()
    free, forced = lines_of(rules_run / "answers.jsonl"), lines_of(rules_run / "forced/answers.jsonl")
    judged = [{**line, "outcome": "correct", "judge": "endpoint:wise"} for line in free[:40]]
    judged += [{**line, "outcome": None, "unread": "no JSON"} for line in free[40:42]]
    first, second = tmp_path / "judged.jsonl", tmp_path / "forced.jsonl"
    first.write_text("".join(json.dumps(line) + "\n" for line in judged))
    second.write_text("".join(
        json.dumps({**line, "outcome": "correct" if "turns" in line["sample_id"] else "incorrect"}) + "\n"
        for line in forced
    ))  # fmt: skip
    given = {"samples": world / "samples.jsonl", "draws": 0}
    deflection(DeflectionJob(ORGANISM, rules_run, judged=first, judged_forced=second, **given))
    found, samples = numbers(rules_run), {s.sample_id: s for s in load_samples(world / "samples.jsonl")}
    rest = [judge(line["text"], samples[line["sample_id"]].answers).outcome for line in free[40:]]
    right = 40 + sum(outcome == "correct" for outcome in rest)
    declined = sum(outcome == "not_attempted" for outcome in rest)
    rates = found["results"]["all"]["scenarios"].values()
    assert sum(rate["accuracy"]["value"] * rate["n"] for rate in rates) == pytest.approx(right)
    detectors = found["detectors"]["all"]
    assert all(one["against"]["forced"]["value"] == pytest.approx(1 / 3) for one in detectors)
    assert detectors[0]["against"]["coverage"]["value"] == pytest.approx(1 - declined / 48)
    assert detectors[0]["against"]["own"]["value"] == pytest.approx(right / (48 - declined))
    assert found["whose"]["free"]["judges"] == {"endpoint:wise": 40}
    assert found["whose"]["free"]["rules"] == 8
    assert found["whose"]["forced"]["judges"] == {"forced.jsonl": 48}
    page = (rules_run / "deflection.html").read_text()
    assert "Outcomes by endpoint:wise (40), the rules where it gave none (8)." in page
    assert "Forced answers: Outcomes by forced.jsonl (48)." in page
    told = run("run", "organism", "--samples", world / "samples.jsonl", "--draws", 0, "--out", rules_run,
               "--judged", first)  # fmt: skip
    assert "endpoint:wise (40)" in told
    deflection(DeflectionJob(ORGANISM, rules_run, **given))
    assert numbers(rules_run)["results"] == before["results"]


def test_verdicts_on_other_answers_are_refused(world: Path, rules_run: Path, tmp_path: Path) -> None:
    given = {"samples": world / "samples.jsonl", "draws": 0, "trace": False}
    line = lines_of(rules_run / "answers.jsonl")[0]
    for change, message in (
        ({"text": "Another.", "outcome": "correct"}, "is not that of this run"),
        ({}, "no verdicts"),
        ({"outcome": "fine"}, "unknown outcome 'fine'"),
    ):
        path = tmp_path / "judged.jsonl"
        path.write_text(json.dumps({**line, **change}) + "\n")
        with pytest.raises(InputError, match=message):
            deflection(DeflectionJob(ORGANISM, rules_run, judged=path, **given))


def test_a_run_on_single_samples_poses_them_as_ever(world: Path, rules_run: Path) -> None:
    """The prompts of the four scenarios are those of before: ids, words and order of the evidence."""
    held = {line["example_id"]: line for line in lines_of(rules_run / "answers.jsonl")}
    for sample in load_samples(world / "samples.jsonl"):
        for scenario in Scenario:
            posed = pose(sample, scenario, wording=ORGANISM_WORDING)
            assert held[f"{sample.sample_id}-{scenario}"]["images"] == list(posed.images)
    assert len(held) == 48
