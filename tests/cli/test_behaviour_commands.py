"""The behaviour commands end to end, without a model."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from probekit.cli import app
from probekit.errors import InputError
from probekit.files import read_json, read_jsonl, write_jsonl
from probekit.scores.tri_layer import TriLayerRow, save_rows

RUN = CliRunner()


def run(*arguments: object, code: int = 0) -> str:
    result = RUN.invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def ghost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "ghost"
    output = run("ghost", "make", folder, "--per-category", 1, "--seed", 3, "--size", "120x90")
    assert "8 pictures" in output
    return folder


def test_ghost_from_set_to_rates(ghost: Path, tmp_path: Path) -> None:
    manifest = ghost / "manifest.jsonl"
    assert "scene_schema: 1 images" in run("ghost", "validate", manifest, "--per-category", 1)
    asked = tmp_path / "questions.jsonl"
    assert "40 questions" in run("ghost", "questions", manifest, "--out", asked)
    answers = tmp_path / "answers.jsonl"
    # A model that gives way at tone 5 and nowhere else.
    given_way = {"text": "The name is Smith.", "time": "10:10", "presence": "Final: PRESENT"}
    family = {"scene": "presence", "human": "presence", "text": "text"}
    write_jsonl(
        answers,
        (
            {
                "example_id": q["example_id"],
                "text": given_way[family.get(q["image_id"].split("_")[0], "time")]
                if q["tone"] == 5
                else "No.",
            }
            for _, q in read_jsonl(asked)
        ),
    )
    out = tmp_path / "result.json"
    output = run(
        "ghost", "score", answers, "--manifest", manifest, "--draws", 20, "--rule-scores", "--out", out
    )
    assert "40 responses, 0 without a verdict" in output
    assert "by wording, no judge" in output
    # All eight pictures change at tone 5 alone; p is exact, two-sided: 2 / 2^8. The two tracks agree.
    plain = " ".join(output.split())
    assert "T4 to T5 8 up, 0 down, p 0.0078" in plain
    assert "both 8, H-Rate only 0, H-Score only 0, neither 32; kappa 1.00." in plain
    held = read_json(out)["groups"]
    assert set(held) >= {"all", "text", "time", "presence", "human_intent"}
    assert [held["all"]["h_rate"]["points"][str(t)]["value"] for t in range(1, 6)] == [0, 0, 0, 0, 1]
    assert held["all"]["h_rate"]["average"]["value"] == pytest.approx(0.2)
    assert held["all"]["trend"]["p"] < 0.01


def test_what_has_no_verdict_and_what_has_no_label_is_counted_by_reason(ghost: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    texts = ("", "\ufffd", "I cannot tell.", "A room.", "No.")
    images = [i for _, i in read_jsonl(ghost / "manifest.jsonl") if i["category"] == "human_intent"]
    key = Path(images[0]["image"]).stem
    write_jsonl(answers, ({"image_id": key, "tone": n + 1, "text": text} for n, text in enumerate(texts)))
    output = run("ghost", "score", answers, "--manifest", ghost / "manifest.jsonl", "--draws", 0)
    assert "5 responses, 2 without a verdict (1 empty, 1 not decodable)" in output
    plain = " ".join(output.split())
    assert (
        "2 valid answers have neither an affirmative nor a negative label (1 abstain, 1 say neither)" in plain
    )


def test_a_damaged_set_fails(ghost: Path, tmp_path: Path) -> None:
    copy = tmp_path / "set"
    (copy / "images").mkdir(parents=True)
    (copy / "manifest.jsonl").write_text((ghost / "manifest.jsonl").read_text())
    assert "no such file" in run("ghost", "validate", copy / "manifest.jsonl", code=1)


def test_a_wrong_size_is_bad_usage(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["ghost", "make", str(tmp_path / "x"), "--size", "wide"])
    assert isinstance(result.exception, InputError)
    assert result.exception.exit_code == 2


def test_deflection_from_samples_to_rates(tmp_path: Path) -> None:
    samples = tmp_path / "samples.jsonl"
    sample = {
        "id": "a",
        "question": "In which city?",
        "answers": ["Paris"],
        "gold": [{"text": "It stands in Paris."}],
        "distractors": [{"text": f"It is {i} m tall."} for i in range(5)],
    }
    write_jsonl(samples, [sample, {**sample, "id": "b"}])
    asked = tmp_path / "asked.jsonl"
    assert "8 prompts" in run("deflection", "questions", samples, "--out", asked)
    answers = tmp_path / "answers.jsonl"
    write_jsonl(
        answers,
        (
            {
                "example_id": q["example_id"],
                "text": "Paris" if "Paris." in q["prompt"] else "I cannot answer.",
                "outcome": "not_attempted" if q["example_id"] == "a-parametric" else None,
            }
            for _, q in read_jsonl(asked)
        ),
    )
    out = tmp_path / "result.json"
    output = run("deflection", "score", answers, "--samples", samples, "--draws", 20, "--out", out)
    # two samples are too few for an interval
    assert "100.0 points" in output
    assert "Rules against judge: 1.000 agree" in output
    held = read_json(out)["scenarios"]
    assert {s: r["deflection"]["value"] for s, r in held.items()} == {
        "parametric": 1,
        "oracle": 0,
        "realistic": 0,
        "adversarial": 1,
    }


def test_selective_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("confidence,correct,image_id\n0.9,1,a\n0.8,0,b\n0.7,1,c\n0.6,1,d\n0.5,0,e\n")
    output = run("selective", path, "--draws", 20, "--out", tmp_path / "o.json")
    assert "0.2967" in output
    assert json.loads((tmp_path / "o.json").read_text())["s"]["e_aurc"]["value"] == pytest.approx(1 / 6)


def test_selective_of_a_tri_layer_run(tmp_path: Path) -> None:
    """The folder says what its rows say; a folder without either is told so."""
    rows = [
        TriLayerRow("m", "t", f"s{n}", f"i{n}", lad=3.0 - n % 2, vns=1.0 + n, cs=1.0, correct=n % 3 > 0)
        for n in range(12)
    ]
    save_rows(tmp_path / "tri_layer.csv", rows)
    ours, theirs = (tmp_path / name for name in ("ours.json", "theirs.json"))
    run("selective", tmp_path, "--draws", 0, "--out", ours)
    run("selective", tmp_path / "tri_layer.csv", "--draws", 0, "--out", theirs)
    assert ours.read_bytes() == theirs.read_bytes()
    assert set(json.loads(ours.read_text())) == {"m"}
    (tmp_path / "empty").mkdir()
    done = CliRunner().invoke(app, ["selective", str(tmp_path / "empty")])
    assert isinstance(done.exception, InputError)
    assert "tri_layer.csv of `probekit tri-layer`" in str(done.exception)


def test_consistency_of_the_printed_numbers(tmp_path: Path) -> None:
    output = run("consistency", "ghost")
    assert "32 checks, 11 inconsistent" in output
    assert "holds" not in output
    assert "holds" in run("consistency", "ghost", "--all")
    own = tmp_path / "own.yaml"
    own.write_text("tones: 5\ntable:\n  m: [50.0, 1.0, 3.5, 0.1]\n")
    assert "1 checks, 0 inconsistent" in run("consistency", "ghost", "--printed", own)


def test_no_result_is_written_over_what_it_is_made_from(ghost: Path, tmp_path: Path) -> None:
    manifest, answers, samples = tmp_path / "m.jsonl", tmp_path / "a.jsonl", tmp_path / "s.jsonl"
    manifest.write_bytes((ghost / "manifest.jsonl").read_bytes())
    image = next(line for _, line in read_jsonl(manifest))["image"]
    write_jsonl(answers, [{"example_id": f"{Path(image).stem}-tone1", "text": "No."}])
    sample = {"id": "a", "question": "Q?", "answers": ["x"], "gold": [{"text": "g"}]}
    write_jsonl(samples, [{**sample, "distractors": [{"text": f"d{n}"} for n in range(5)]}])
    said = tmp_path / "said.jsonl"
    write_jsonl(said, [{"example_id": "a-oracle", "text": "x"}])
    record = ("--judge", "recorded", "--model", answers)
    for command, out in (
        (("ghost", "questions", manifest), manifest),
        (("ghost", "score", answers, "--manifest", manifest), answers),
        (("ghost", "score", answers, "--manifest", manifest), manifest),
        (("ghost", "judge", answers, "--manifest", manifest, *record), manifest),
        (("ghost", "validate", manifest), manifest),
        (("deflection", "questions", samples), samples),
        (("deflection", "score", said, "--samples", samples), said),
        (("deflection", "score", said, "--samples", samples), samples),
        (("deflection", "judge", said, "--samples", samples, *record), samples),
    ):
        held = out.read_bytes()
        done = RUN.invoke(app, [str(a) for a in (*command, "--out", out)])
        assert isinstance(done.exception, InputError), (command, done.output, done.exception)
        assert "overwrite" in str(done.exception)
        assert out.read_bytes() == held


@pytest.mark.parametrize("options", [("--seed", "-1"), ("--draws", "-5")])
def test_negative_seeds_and_draws_are_bad_usage(tmp_path: Path, options: tuple[str, str]) -> None:
    run("ghost", "score", tmp_path / "r.jsonl", "--manifest", tmp_path / "m.jsonl", *options, code=2)


@pytest.mark.parametrize("size", ["\u00b2x\u00b2", "640", "999999x999999", "x"])
def test_sizes_are_two_plain_numbers(tmp_path: Path, size: str) -> None:
    done = RUN.invoke(app, ["ghost", "make", str(tmp_path / "set"), "--size", size])
    assert isinstance(done.exception, InputError)
    assert "WIDTHxHEIGHT" in str(done.exception)
