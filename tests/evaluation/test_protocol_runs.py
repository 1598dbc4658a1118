"""From a store to an evaluation and back: the protocol end to end on a made world."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from probekit.detectors import DETECTORS, feature_table
from probekit.detectors.heads import FittedHead
from probekit.detectors.table import CONCRETE, HALLUCINATED, NON_ASSERTIVE, population
from probekit.errors import ContractError, InputError, UnservedError
from probekit.evaluation.protocol import Protocol, Scored
from probekit.evaluation.records import Evaluation
from probekit.evaluation.run import evaluate, train
from probekit.evaluation.splits import Split
from probekit.labels import LabelSet, RowLabel, Usage
from probekit.rows import RowKey
from probekit.store import Store

CHEAP = ("lookback", "hidden_mid", "svar", "position")
MIXES = ("none", "natural", "max")


def captures_of(names: tuple[str, ...]) -> list:  # type: ignore[type-arg]
    return [capture for name in names for capture in DETECTORS[name].needs()]


@pytest.fixture(scope="module")
def run(make_world, tmp_path_factory) -> Path:  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("run")
    make_world(images=90, mentions=6, seed=2).write(folder, captures_of(CHEAP))
    train(folder / "store", folder / "labels/labels.jsonl", folder / "heads", mixes=MIXES)
    evaluate(
        folder / "store", folder / "labels/labels.jsonl", folder / "heads", folder / "evaluation.json",
        scores=folder / "scores.csv",
    )  # fmt: skip
    return folder


def value(evaluation: Evaluation, *wanted: str) -> float:
    names = ("detector", "mix", "measure", "population", "subtype")
    (record,) = [r for r in evaluation.records if tuple(getattr(r, n) for n in names) == wanted]
    assert np.isnan(record.value) or record.low <= record.value <= record.high
    return record.value


def test_records_cover_measures_populations_and_subtypes(run: Path) -> None:
    evaluation = Evaluation.load(run / "evaluation.json")
    subtypes = {"all", "hedged", "depictive", "purpose", "negation"}
    for detector, mixes in (("svar", {"none"}), ("lookback", set(MIXES)), ("position", {"none"})):
        mine = [r for r in evaluation.records if r.detector == detector]
        assert {r.mix for r in mine} == mixes
        assert {r.measure for r in mine} == {"auroc", "tpr", "fpr_concrete", "fpr_non_assertive"}
        assert {r.population for r in mine} == {"all", "position_matched"}
        assert {r.subtype for r in mine if r.measure == "fpr_non_assertive"} == subtypes
        assert {r.variant for r in mine} == {DETECTORS[detector].variant}


def test_the_signal_is_found_and_matching_takes_only_the_position_away(run: Path) -> None:
    evaluation = Evaluation.load(run / "evaluation.json")
    assert value(evaluation, "hidden_mid", "none", "auroc", "all", "all") > 0.7
    assert value(evaluation, "hidden_mid", "none", "auroc", "position_matched", "all") > 0.7
    assert value(evaluation, "position", "none", "auroc", "all", "all") > 0.7
    assert value(evaluation, "position", "none", "auroc", "position_matched", "all") < 0.6
    assert value(evaluation, "lookback", "none", "fpr_concrete", "all", "all") == pytest.approx(0.1, abs=0.08)


def test_more_non_assertive_examples_lower_their_false_positive_rate(run: Path) -> None:
    evaluation = Evaluation.load(run / "evaluation.json")
    before, after = (
        value(evaluation, "hidden_mid", mix, "fpr_non_assertive", "all", "all") for mix in ("none", "max")
    )
    assert after < before


def test_estimates_equal_what_the_score_file_gives(run: Path) -> None:
    """The csv is enough to recompute the table: thresholds, shares and AUROC, by other means."""
    evaluation = Evaluation.load(run / "evaluation.json")
    labels = LabelSet.load(run / "labels/labels.jsonl")
    with (run / "scores.csv").open() as handle:
        lines = [r for r in csv.DictReader(handle) if (r["detector"], r["mix"]) == ("lookback", "natural")]
    aurocs, tprs = [], []
    for seed in "012":
        mine = [r for r in lines if r["seed"] == seed]
        label = {
            split: [
                (float(r["score"]), str(labels.rows[RowKey(r["example_id"], int(r["index"]))].label))
                for r in mine
                if r["split"] == split
            ]
            for split in ("calibration", "test")
        }
        threshold = np.percentile([s for s, name in label["calibration"] if name == "concrete"], 90)
        assert np.allclose([float(r["threshold"]) for r in mine], threshold)
        assert all((float(r["score"]) > threshold) == (r["flagged"] == "true") for r in mine)
        tprs.append(np.mean([s > threshold for s, name in label["test"] if name == "hallucinated"]))
        pair = [(s, name == "hallucinated") for s, name in label["test"] if name != "non_assertive"]
        aurocs.append(roc_auc_score([p for _, p in pair], [s for s, _ in pair]))
    assert value(evaluation, "lookback", "natural", "tpr", "all", "all") == pytest.approx(np.mean(tprs))
    assert value(evaluation, "lookback", "natural", "auroc", "all", "all") == pytest.approx(np.mean(aurocs))


def test_counts_and_provenance_say_what_was_used(run: Path) -> None:
    evaluation = Evaluation.load(run / "evaluation.json")
    counts = evaluation.counts
    assert sum(counts["rows"][name] for name in ("concrete", "hallucinated", "non_assertive")) == 540
    assert counts["splits"]["0"]["fit"]["images"] == 48
    served = {*CHEAP, "pas", "vade_proxy"}
    assert set(counts["unserved"]) == set(DETECTORS) - served
    assert counts["budgets"]["max"]["0"]["non_assertive"] == counts["splits"]["0"]["fit"]["non_assertive"]
    assert counts["budgets"]["none"]["0"]["non_assertive"] == 0
    thresholds = [t for t in counts["thresholds"] if t["detector"] == "svar"]
    assert [t["seed"] for t in thresholds] == [0, 1, 2]
    assert all(t["calibration_fpr"] <= 0.1 + 1 / t["calibration_concrete"] for t in thresholds)
    assert evaluation.provenance["store_job"] == "0123456789abcdef"
    assert evaluation.provenance["seeds"] == [0, 1, 2]
    assert len(evaluation.provenance["labels_sha256"]) == 64


def test_test_images_never_took_part_in_a_fit(run: Path) -> None:
    for seed in range(3):
        split = Split.load(run / f"heads/splits/seed{seed}.json")
        with (run / "scores.csv").open() as handle:
            seen = {
                r["example_id"].replace("e", "i") for r in csv.DictReader(handle) if r["seed"] == str(seed)
            }
        assert seen == split.test | split.calibration
        assert not seen & split.fit


def test_training_again_keeps_what_is_fitted_and_refits_what_is_lost(run: Path) -> None:
    places = run / "store", run / "labels/labels.jsonl", run / "heads"
    lost = run / "heads/lookback/none/seed1.safetensors"
    before = lost.read_bytes()
    lost.unlink()
    result = train(*places, mixes=MIXES)
    assert (result.fitted, result.kept) == (1, 17)
    after = FittedHead.load(lost)
    lost.write_bytes(before)
    assert np.allclose(after.weights["coef"], FittedHead.load(lost).weights["coef"], rtol=1e-6)
    assert train(*places, mixes=MIXES).fitted == 0


def test_an_evaluation_repeats_to_the_byte(run: Path, tmp_path: Path) -> None:
    places = run / "store", run / "labels/labels.jsonl", run / "heads"
    evaluate(*places, tmp_path / "again.json", scores=tmp_path / "again.csv")
    assert (tmp_path / "again.json").read_bytes() == (run / "evaluation.json").read_bytes()
    assert (tmp_path / "again.csv").read_bytes() == (run / "scores.csv").read_bytes()


def test_a_detector_without_heads_is_refused_and_nothing_is_written(run: Path, tmp_path: Path) -> None:
    places = run / "store", run / "labels/labels.jsonl", tmp_path / "heads"
    with pytest.raises(InputError, match="no heads for hidden_mid"):
        evaluate(*places, tmp_path / "e.json", detectors=["hidden_mid"])
    assert not (tmp_path / "e.json").exists()


def test_heads_of_other_labels_are_refused(run: Path, tmp_path: Path) -> None:
    labels = LabelSet.load(run / "labels/labels.jsonl")
    turned = LabelSet.of(
        RowLabel(r.key, r.usage, not r.present if at < 40 else r.present) for at, r in enumerate(labels)
    )
    turned.save(tmp_path / "labels.jsonl")
    with pytest.raises(InputError, match="other rows, labels or parameters"):
        evaluate(run / "store", tmp_path / "labels.jsonl", run / "heads", tmp_path / "e.json")


def test_a_detector_asked_for_by_name_must_be_served(run: Path, tmp_path: Path) -> None:
    places = run / "store", run / "labels/labels.jsonl"
    with pytest.raises(UnservedError, match=r"glsim.*image_similarity") as caught:
        evaluate(*places, run / "heads", tmp_path / "e.json", detectors=["glsim"])
    assert caught.value.exit_code == 2
    with pytest.raises(UnservedError, match="text_only"):
        train(*places, tmp_path / "heads", detectors=["text_only"])
    with pytest.raises(InputError, match="no detector is called 'lookbak'"):
        train(*places, tmp_path / "heads", detectors=["lookbak"])


def test_one_class_is_not_available_with_a_reason(make_world, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """TRAPS 25: no hallucination anywhere. Nothing crashes, nothing is zero."""
    world = make_world(images=20, shares=(0.8, 0.0, 0.2))
    world.write(tmp_path, captures_of(CHEAP))
    places = tmp_path / "store", tmp_path / "labels/labels.jsonl", tmp_path / "heads"
    result = train(*places, detectors=["hidden_mid"], mixes=["none"])
    assert result.fitted == 0
    assert len(result.refused) == 3
    (tmp_path / "heads/hidden_mid").mkdir(parents=True)
    evaluation = evaluate(*places, tmp_path / "e.json", detectors=["hidden_mid", "svar"], mixes=["none"])
    assert np.isnan(value(evaluation, "svar", "none", "auroc", "all", "all"))
    reasons = {(n["detector"], n["reason"]) for n in evaluation.counts["not_available"]}
    assert ("svar", "the test set lacks a class") in reasons
    assert any(d == "hidden_mid" and "0 hallucinated" in why for d, why in reasons)
    assert json.loads((tmp_path / "e.json").read_text())["records"][0]["value"] is None


def test_rows_that_cannot_be_scored_are_counted_and_left_out(make_world, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    world = make_world(images=40)
    world.doubt[:7] = np.nan
    world.write(tmp_path, captures_of(("nll",)))
    places = tmp_path / "store", tmp_path / "labels/labels.jsonl", tmp_path / "heads"
    evaluation = evaluate(*places, tmp_path / "e.json", scores=tmp_path / "s.csv", detectors=["nll"])
    lost = evaluation.counts["unscored"]["nll"]
    assert lost["rows"] == 7
    assert sum(lost[name] for name in ("concrete", "hallucinated", "non_assertive")) == 7
    with (tmp_path / "s.csv").open() as handle:
        empty = {r["example_id"] + r["index"] for r in csv.DictReader(handle) if r["score"] == ""}
    assert empty <= {"e0000", "e0001", "e0002", "e0003", "e0004", "e0005", "e0010"}
    assert empty


def test_unlabelled_and_excluded_rows_are_counted(make_world) -> None:  # type: ignore[no-untyped-def]
    world = make_world(images=10, mentions=4)
    rows = list(world.labels)[:-3]
    rows[0] = RowLabel(rows[0].key, Usage.GENERIC, True)
    rows[1] = RowLabel(rows[1].key, Usage.EXISTENTIAL, None)
    rows.append(RowLabel(RowKey("nowhere", 0), Usage.EXISTENTIAL, True))
    found = population(world.rows, LabelSet.of(rows))
    assert (len(found), found.unlabelled, found.without_row) == (35, 3, 1)
    assert found.excluded == {"generic": 1, "presence unknown": 1}


def protocol_of(world) -> Protocol:  # type: ignore[no-untyped-def]
    everyone = population(world.rows, world.labels)
    return Protocol(everyone, [Split.of(everyone.image.tolist(), seed) for seed in range(3)], replicates=50)


def test_a_detector_that_is_constant_over_the_whole_set_is_refused(world) -> None:  # type: ignore[no-untyped-def]
    protocol = protocol_of(world)
    flat = np.ones(len(protocol.population))
    with pytest.raises(ContractError, match="flat gives all 360 mentions"):
        protocol.judge(Scored("flat", "v", "none", {0: flat}))
    (record, *_) = protocol.judge(Scored("flat", "v", "none", {0: flat}, baseline=True)).records
    assert record.value == 0.5


def test_shuffled_labels_give_chance(make_world) -> None:  # type: ignore[no-untyped-def]
    """A head fitted on labels that were dealt out anew finds nothing on images it has not seen."""
    world = make_world(images=150, signal=1.5)
    label = population(world.rows, world.labels).label
    x = DETECTORS["hidden_mid"].features(world.shard(DETECTORS["hidden_mid"].needs()))
    assert (
        abs(image_split_auroc(x, np.random.default_rng(0).permutation(label == HALLUCINATED), world) - 0.5)
        < 0.06
    )
    assert image_split_auroc(x, label == HALLUCINATED, world) > 0.8


def image_split_auroc(x: np.ndarray, y: np.ndarray, world) -> float:  # type: ignore[no-untyped-def]
    from probekit.detectors.heads import Problem
    from probekit.detectors.heads.logistic import Logistic

    found = []
    for seed in range(3):
        split = Split.of(world.rows.image_id.tolist(), seed)
        fit, test = (split.rows(part, world.rows.image_id) for part in ("fit", "test"))
        (solution,) = Logistic().fit(x, [Problem(fit, y[fit].astype(np.int64), seed)])
        found.append(roc_auc_score(y[test], Logistic().score(solution.weights, x[test])))
    return float(np.mean(found))


def test_labels_by_image_cannot_be_learnt_through_an_image_split() -> None:
    """TRAPS 23: 60 images x 5 mentions, label random per image, feature = the image's signature."""
    random = np.random.default_rng(0)
    image = np.repeat([f"i{at:02d}" for at in range(60)], 5).astype(object)
    found = []
    for draw in range(6):
        y = np.repeat(np.random.default_rng(draw).random(60) < 0.5, 5)
        x = np.repeat(random.standard_normal((60, 40)), 5, axis=0) + 0.1 * random.standard_normal((300, 40))

        class Rows:
            image_id = image

        class Made:
            rows = Rows

        found.append(image_split_auroc(x.astype(np.float32), y, Made))
    assert abs(np.mean(found) - 0.5) < 0.1


def test_scores_of_a_head_that_was_interrupted_equal_those_of_an_unbroken_run(make_world, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """TRAPS 26: seven of ten heads there, then resumed: every figure is the unbroken run's."""
    world = make_world(images=40, mentions=5)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    results = []
    for folder in (whole, broken):
        world.write(folder, captures_of(CHEAP))
        places = folder / "store", folder / "labels/labels.jsonl", folder / "heads"
        if folder is broken:
            train(*places, mixes=["none"], seeds=2)
        train(*places, mixes=["none", "30"])
        results.append(evaluate(*places, folder / "e.json"))
    for ours, theirs in zip(results[0].records, results[1].records, strict=True):
        assert (ours.detector, ours.n, ours.mix) == (theirs.detector, theirs.n, theirs.mix)
        assert ours.value == pytest.approx(theirs.value, abs=1e-9, nan_ok=True)


def test_threshold_hits_its_target_on_the_rows_it_was_set_on(world) -> None:  # type: ignore[no-untyped-def]
    protocol = protocol_of(world)
    scores = np.random.default_rng(0).standard_normal(len(protocol.population))
    for threshold in protocol.judge(
        Scored("noise", "v", "none", dict.fromkeys(range(3), scores))
    ).thresholds.values():
        assert 0.05 < threshold.achieved <= 0.1 + 1 / threshold.n


def test_matched_rows_have_equal_class_counts(world) -> None:  # type: ignore[no-untyped-def]
    protocol = protocol_of(world)
    for draws in protocol.triples.values():
        for rows in draws:
            counts = np.bincount(protocol.population.label[rows], minlength=3)
            assert counts[CONCRETE] == counts[HALLUCINATED] == counts[NON_ASSERTIVE] > 0


def test_cleared_rows_are_never_flagged_and_set_no_threshold(world) -> None:  # type: ignore[no-untyped-def]
    protocol = protocol_of(world)
    scores = np.random.default_rng(0).standard_normal(len(protocol.population))
    cleared = {0: protocol.population.label == NON_ASSERTIVE}
    judged = protocol.judge(Scored("noise", "v", "none", {0: scores}), cleared)
    rates = {(r.measure, r.population): r.value for r in judged.records if r.subtype == "all"}
    assert rates["fpr_non_assertive", "all"] == 0
    everything = {0: np.ones(len(scores), bool)}
    assert np.isnan(protocol.judge(Scored("n", "v", "none", {0: scores}), everything).thresholds[0].value)


def test_the_store_is_read_shard_by_shard(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[int] = []
    read: Callable[[Store, int], object] = Store.shard

    def counting(self: Store, number: int) -> object:
        alive.append(number)
        return read(self, number)

    monkeypatch.setattr(Store, "shard", counting)
    table = feature_table(
        Store.open(run / "store"), DETECTORS["hidden_mid"], LabelSet.load(run / "labels/labels.jsonl")
    )
    assert alive == [0, 1, 2]
    assert len(table.x) == 540
    assert isinstance(FittedHead.load(run / "heads/hidden_mid/none/seed0").weights["coef"], np.ndarray)


def test_the_commands_find_labels_and_heads_beside_the_store(make_world, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    from typer.testing import CliRunner

    from probekit.cli import app

    store = str(make_world(images=30).write(tmp_path, captures_of(CHEAP)))
    runner = CliRunner()
    trained = runner.invoke(app, ["train-probes", store, "--mix", "none", "--mix", "max"])
    assert trained.exit_code == 0
    assert "12 heads fitted" in trained.output
    assert f"next: probekit evaluate {store}" in trained.output
    done = runner.invoke(app, ["evaluate", store])
    assert done.exit_code == 0
    assert (tmp_path / "scores.csv").exists()
    assert {r.mix for r in Evaluation.load(tmp_path / "evaluation.json").records} == {"none", "max"}
    unserved = runner.invoke(app, ["evaluate", store, "--detectors", "svar,glsim"])
    assert isinstance(unserved.exception, UnservedError)
    wrong = runner.invoke(app, ["train-probes", store, "--mix", "20"])
    assert isinstance(wrong.exception, InputError)
