"""The whole way: the demo's stages on the embedded model, and real photographs through a random LLaVA."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from probekit.cli import app
from probekit.errors import InputError, ProbekitError
from probekit.families.tiny import Size, make
from probekit.files import read_jsonl, write_jsonl
from probekit.pipeline.run import demo_job, run
from probekit.store import Store

PHOTOGRAPHS = Path(__file__).resolve().parents[3] / "shared" / "data" / "real" / "images"

CAPTIONS = (
    "A man is riding a bicycle. There is possibly a dog nearby.",
    "The image shows a kitchen with a sink and an oven. No people are visible.",
    "A poster of a horse hangs over a bench for people to sit on.",
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo")
    job = demo_job(out, 45, seed=3).model_copy(update={"mixes": ("none", "natural"), "seeds": 2})
    return job, run(job)


def test_the_demo_writes_what_others_rely_on(demo):
    job, summary = demo
    evaluation = json.loads((job.out / "evaluation.json").read_text())
    assert set(evaluation) == {"records", "counts", "provenance"}
    fields = {
        *("detector", "variant", "mix", "measure", "population", "subtype"),
        *("value", "low", "high", "n", "images"),
    }
    assert all(set(record) == fields for record in evaluation["records"])
    assert {r["measure"] for r in evaluation["records"]} == {
        "auroc", "tpr", "fpr_concrete", "fpr_non_assertive",
    }  # fmt: skip
    assert {r["population"] for r in evaluation["records"]} == {"all", "position_matched"}
    detectors = {r["detector"] for r in evaluation["records"]}
    assert {
        "lookback",
        "hidden_mid",
        "dhcp",
        "text_only",
        "halp",
        "svar",
        "ic",
        "glsim",
        "position",
    } <= detectors
    assert min(summary.counts[name] for name in ("concrete", "hallucinated", "non_assertive")) > 10
    for path in (summary.folder.page, summary.folder.scores, job.out / "table.csv", job.out / "job.json"):
        assert path.stat().st_size > 0


def test_the_page_on_reading_a_run_from_python_runs_as_it_stands(demo, capsys):
    job, _ = demo
    page = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text()
    blocks = [part.split("```")[0] for part in page.split("```python\n")[1:]]
    assert len(blocks) == 3
    names: dict = {}
    for block in blocks:
        exec(block.replace("runs/demo", str(job.out)), names)
    said = capsys.readouterr().out
    store = names["store"]
    assert f"{len(store.rows())} mentions by organism with {store.depth} layers" in said
    assert names["middle"].shape == (len(store.rows()), store.header.width)
    assert names["image"].shape == (len(store.rows()), store.depth)
    assert ((names["image"] > 0) & (names["image"] < 1)).all()
    assert 0.5 < float(said.rsplit("AUROC", 1)[1]) <= 1


def test_a_second_run_does_nothing(demo, monkeypatch):
    job, _ = demo
    before = {f: f.stat().st_mtime_ns for f in job.out.rglob("*") if f.is_file() and f.name != "job.json"}
    monkeypatch.setattr("probekit.families.load", lambda *names, **options: pytest.fail("model loaded"))
    run(job)
    after = {f: f.stat().st_mtime_ns for f in job.out.rglob("*") if f.is_file() and f.name != "job.json"}
    assert after == before


def test_a_folder_of_another_job_is_refused(demo):
    job, _ = demo
    with pytest.raises(InputError, match="another question"):
        run(job.model_copy(update={"question": "What is this?"}))


def test_wrong_references_and_detectors_are_noticed_before_the_long_work(demo, tmp_path, monkeypatch):
    job, _ = demo
    monkeypatch.setattr("probekit.families.load", lambda *names, **options: pytest.fail("model loaded"))
    write_jsonl(tmp_path / "references.jsonl", [{"image": "nope.png", "objects": ["cup"]}])
    changes = {"references": tmp_path / "references.jsonl", "out": tmp_path / "run"}
    with pytest.raises(InputError, match=r"none of the 45 pictures"):
        run(job.model_copy(update=changes))
    with pytest.raises(InputError, match="nosuch"):
        run(job.model_copy(update={"detectors": ("nosuch",), "out": tmp_path / "other"}))


@pytest.fixture
def photographs(tmp_path):
    if not PHOTOGRAPHS.is_dir():
        pytest.skip("the photographs are not beside this checkout")
    images = tmp_path / "images"
    shutil.copytree(PHOTOGRAPHS, images)
    names = sorted(f.name for f in images.iterdir())
    write_jsonl(tmp_path / "references.jsonl", ({"image": n, "objects": ["person", "bench"]} for n in names))
    write_jsonl(
        tmp_path / "captions.jsonl",
        ({"image": n, "caption": c} for n, c in zip(names, CAPTIONS, strict=True)),
    )
    make("llava", tmp_path / "model", Size(image=112))
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_real_photographs_through_a_random_llava(photographs):
    root = photographs
    common = ("--images", root / "images", "--references", root / "references.jsonl", "--out", root / "run")
    result = invoke(
        "run", root / "model", *common, "--texts", root / "captions.jsonl", "--detector", "hidden_mid",
        "--detector", "svar", "--detector", "nll", "--seeds", "1",
    )  # fmt: skip
    store = Store.open(root / "run" / "store")
    rows = [row for _, row in read_jsonl(root / "run" / "rows.jsonl")]
    found = {(row["category"], row["surface"].lower()) for row in rows}
    assert {("person", "man"), ("bicycle", "bicycle"), ("dog", "dog"), ("horse", "horse")} <= found
    assert len(store) == len(rows)
    assert (store.rows().image_tokens == 64).all()
    usage = {line["usage"] for _, line in read_jsonl(root / "run" / "labels" / "labels.jsonl")}
    assert {"existential", "hedged", "negation", "depictive", "purpose"} <= usage
    for shard in store.shards():
        for capture in store.captures:
            assert np.isfinite(np.nan_to_num(shard[capture].astype(np.float64))).all()
    # Three pictures cannot be split into fit, calibration and test; that is said, and nothing is lost.
    assert result.exit_code == 0 or isinstance(result.exception, ProbekitError), result.exception


def test_a_random_model_describes_real_photographs(photographs):
    root = photographs
    arguments = ("generate", root / "model", "--images", root / "images", "--max-new-tokens", "6")
    result = invoke(*arguments, "--out", root / "texts.jsonl")
    assert result.exit_code == 0, result.output
    lines = [line for _, line in read_jsonl(root / "texts.jsonl")]
    assert len(lines) == 3
    assert all(len(line["token_ids"]) <= 6 and line["prompt_tokens"] > 64 for line in lines)
    kept = (root / "texts.jsonl").read_bytes()
    (root / "texts.jsonl").write_bytes(kept[: len(kept) - 40])
    assert invoke(*arguments, "--out", root / "texts.jsonl").exit_code == 0
    assert [line for _, line in read_jsonl(root / "texts.jsonl")] == lines


def test_bad_pictures_end_with_the_sample_and_keep_what_is_done(photographs):
    root = photographs
    worst = sorted((root / "images").iterdir())[-1]
    worst.write_bytes(worst.read_bytes()[:500])
    result = invoke(
        "generate", root / "model", "--images", root / "images", "--max-new-tokens", "4", "--batch", "1",
        "--out", root / "texts.jsonl",
    )  # fmt: skip
    assert isinstance(result.exception, InputError)
    assert result.exception.exit_code == 2
    assert worst.stem in str(result.exception)
    assert len(list(read_jsonl(root / "texts.jsonl"))) == 2


def test_the_plan_prints_costs_and_writes_nothing(demo, tmp_path):
    job, _ = demo
    result = invoke(
        "extract", "--model", "organism", "--generations", job.out / "generations.jsonl", "--rows",
        job.out / "rows.jsonl", "--images", job.images, "--out", tmp_path / "store", "--plan",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    for word in ("internal_confidence", "GFLOP", "free", "tokens"):
        assert word in result.output
    assert not (tmp_path / "store").exists()
