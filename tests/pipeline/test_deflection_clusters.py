"""Several questions about one picture are one group: in one fold, and drawn together."""

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from probekit.benchmarks.deflection import Evidence, Sample, Scenario, load_samples
from probekit.benchmarks.deflection_world import make_deflection
from probekit.cli import app
from probekit.evaluation.deflection_detectors import cross_validated, folds_of
from probekit.jobs import ModelSpec
from probekit.pipeline.deflection import DeflectionJob, deflection
from probekit.pipeline.deflection_clusters import clusters_of, clusters_of_samples


@pytest.fixture
def images(tmp_path: Path) -> Path:
    for number in range(12):
        pixels = np.random.default_rng(number).integers(0, 255, (6, 6, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"i{number}.png")
    shutil.copy(tmp_path / "i0.png", tmp_path / "again.png")
    Image.new("RGB", (6, 6)).save(tmp_path / "black.png")
    Image.new("L", (9, 9), 200).save(tmp_path / "grey.png")
    return tmp_path


def sample(name: str, image: str | None, gold: str | None = None, other: str | None = None) -> Sample:
    def piece(picture: str | None) -> tuple[Evidence, ...]:
        return () if picture is None else (Evidence(image=picture),)

    return Sample(name, "Q?", image, ("x",), piece(gold), piece(other))


def parts(samples: list[Sample], images: Path | None) -> set[frozenset[str]]:
    of = clusters_of_samples(samples, images).of
    return {frozenset(n for n, group in of.items() if group == name) for name in set(of.values())}


def test_samples_with_a_picture_in_common_are_one_group(images: Path) -> None:
    """a and b share the question's picture under two names; c shows b's gold as a distractor."""
    held = [
        sample("a", "i0.png"), sample("b", "again.png", gold="i1.png"), sample("c", "i2.png", other="i1.png"),
        sample("d", "i3.png"), sample("e", None),
    ]  # fmt: skip
    assert parts(held, images) == {frozenset("abc"), frozenset("d"), frozenset("e")}
    # without the pictures, by the name of the question's
    assert parts([*held, sample("f", "i0.png")], None) == {
        frozenset("af"), frozenset("b"), frozenset("c"), frozenset("d"), frozenset("e")
    }  # fmt: skip


def test_a_picture_of_one_colour_joins_nobody(images: Path) -> None:
    held = [sample("a", "black.png"), sample("b", "black.png"), sample("c", "grey.png", other="black.png"),
            sample("d", "grey.png", gold="i1.png"), sample("e", "black.png", gold="i1.png")]  # fmt: skip
    assert parts(held, images) == {frozenset("a"), frozenset("b"), frozenset("c"), frozenset("de")}


def test_a_small_pool_of_distractors_does_not_make_one_group_of_all(images: Path) -> None:
    """Ten samples on five pictures, all with one distractor: folds need the questions' pictures."""
    held = [sample(f"s{n}", f"i{n // 2}.png", other="i9.png") for n in range(10)]
    found = clusters_of_samples(held, images)
    assert "questions' pictures alone" in found.note
    assert sorted(found.of.values()) == [f"s{n}" for n in (0, 0, 2, 2, 4, 4, 6, 6, 8, 8)]


def test_a_signature_of_the_picture_with_a_label_of_the_picture_gives_chance() -> None:
    """TRAPS T23: 60 pictures with 5 questions, label random per picture, state = signature and noise."""
    rng = np.random.default_rng(0)
    label = np.repeat(rng.random(60) < 0.5, 5)
    states = np.repeat(rng.normal(size=(60, 40)), 5, axis=0) + 0.05 * rng.normal(size=(300, 40))
    pictures = [f"p{n // 5}" for n in range(300)]
    by_sample = cross_validated(states, label, [f"s{n}" for n in range(300)])
    by_picture = cross_validated(states, label, pictures)
    assert roc_auc_score(label, by_sample) > 0.9
    assert abs(roc_auc_score(label, by_picture) - 0.5) < 0.12
    fold = folds_of(pictures)
    assert all(len(set(fold[5 * n : 5 * n + 5])) == 1 for n in range(60))


@pytest.fixture(scope="module")
def doubled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each question asked three times about its picture, under other ids."""
    out = tmp_path_factory.mktemp("doubled")
    make_deflection(out, 1)
    lines = [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]
    many = [{**line, "id": f"{line['id']}-{n}"} for line in lines for n in range(3)]
    (out / "many.jsonl").write_text("".join(json.dumps(line) + "\n" for line in many))
    return out


def test_a_run_resamples_pictures_and_not_questions(doubled: Path, tmp_path: Path) -> None:
    """Asking the same thrice makes no interval narrower: rates and ends are those of asking once."""
    spec, found = ModelSpec(name="organism"), {}
    for name in ("samples", "many"):
        job = DeflectionJob(spec, tmp_path / name, doubled / f"{name}.jsonl", trace=False, draws=400,
                            scenarios=(Scenario.PARAMETRIC, Scenario.ORACLE))  # fmt: skip
        found[name] = deflection(job).summary
    # a black question with evidence in words has no picture that a sample could be known by
    scenes = [s.sample_id for s in load_samples(doubled / "samples.jsonl")]
    apart = [name for name in scenes if name.endswith("black-000") and "pictures" not in name]
    assert found["many"].samples == 36
    assert found["many"].groups == 12 + 2 * len(apart)
    assert (
        "36 samples, 20 groups without a picture in common" in (tmp_path / "many/deflection.html").read_text()
    )
    only = doubled / "scenes.jsonl"
    lines = (doubled / "many.jsonl").read_text().splitlines(keepends=True)
    only.write_text("".join(line for line in lines if "-scene-" in line))
    once = doubled / "once.jsonl"
    once.write_text("".join(line for line in lines if "-scene-" in line and '-0"' in line))
    made = {}
    for path in (only, once):
        told = CliRunner().invoke(app, [
            "deflection", "score", str(tmp_path / "many/answers.jsonl"), "--samples", str(path),
            "--images", str(doubled / "images"), "--out", str(tmp_path / f"{path.stem}.json"),
        ])  # fmt: skip
        made[path.stem] = told
    # answers of other samples are unknown to these files
    assert made["scenes"].exit_code != 0
    for path in (only, once):
        keep = {json.loads(line)["id"] for line in path.read_text().splitlines()}
        answers = tmp_path / f"{path.stem}-answers.jsonl"
        answers.write_text("".join(
            line for line in (tmp_path / "many/answers.jsonl").read_text().splitlines(keepends=True)
            if json.loads(line)["sample_id"] in keep
        ))  # fmt: skip
        done = CliRunner().invoke(app, [
            "deflection", "score", str(answers), "--samples", str(path), "--images", str(doubled / "images"),
            "--out", str(tmp_path / f"{path.stem}.json"),
        ])  # fmt: skip
        assert done.exit_code == 0, done.output
    thrice, single = (
        json.loads((tmp_path / f"{name}.json").read_text())["scenarios"]["oracle"]["accuracy"]
        for name in ("scenes", "once")
    )
    assert (thrice["n"], single["n"]) == (18, 6)
    for end in ("value", "low", "high"):
        assert thrice[end] == pytest.approx(single[end], abs=1e-9)


def test_many_samples_are_grouped_in_time_that_grows_as_they_do() -> None:
    """Each by itself: comparing every group with every sample would be 1.6 billion comparisons."""
    alone = {f"s{n}": [] for n in range(40_000)}
    before = time.process_time()
    found = clusters_of(alone, alone)
    assert time.process_time() - before < 5
    assert len(set(found.of.values())) == 40_000
