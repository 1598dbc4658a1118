"""Detectors against deflection: folds by sample, scikit-learn as the oracle, closed forms."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from probekit.benchmarks.deflection import Evidence, Outcome, Sample, Scenario
from probekit.captures import STATISTICS
from probekit.detectors.heads.base import NotFittableError
from probekit.evaluation.deflection_detectors import compare_detectors, cross_validated, folds_of
from probekit.evaluation.deflection_store import DeflectionTrace
from probekit.evaluation.deflection_summary import ALL, summarise
from probekit.metrics.deflection_responses import DeflectionResponse

RIGHT, WRONG, NONE = Outcome.CORRECT, Outcome.INCORRECT, Outcome.NOT_ATTEMPTED
GROUPS = [f"s{n:02d}" for n in range(40) for _ in range(4)]


def test_no_sample_straddles_folds_and_folds_are_equal():
    fold = folds_of(GROUPS)
    by_sample = {
        name: {int(f) for f, g in zip(fold, GROUPS, strict=True) if g == name} for name in set(GROUPS)
    }
    assert all(len(found) == 1 for found in by_sample.values())
    assert np.bincount(fold).tolist() == [32] * 5
    assert (folds_of(GROUPS, seed=1) != fold).any()


def test_probes_are_scikit_learns_on_the_other_samples():
    rng = np.random.default_rng(0)
    states = rng.normal(size=(160, 6))
    wrong = states[:, 0] + rng.normal(size=160) > 0
    fold, found = folds_of(GROUPS), cross_validated(states, wrong, GROUPS)
    for number in range(5):
        fit, held = fold != number, fold == number
        oracle = LogisticRegression(max_iter=1000).fit(states[fit], wrong[fit])
        np.testing.assert_allclose(found[held], oracle.predict_proba(states[held])[:, 1], atol=2e-3)


def test_what_is_known_of_a_sample_alone_does_not_help():
    """States that name the sample, labels that are the sample's: a probe that saw it would be perfect."""
    rng = np.random.default_rng(1)
    label = rng.random(40) < 0.5
    states, wrong = np.repeat(np.eye(40), 4, axis=0), np.repeat(label, 4)
    scores = cross_validated(states, wrong, GROUPS)
    fold = folds_of(GROUPS)
    for number in range(5):
        assert np.ptp(scores[fold == number]) < 1e-6
    straddling = cross_validated(states, wrong, [f"row{n}" for n in range(160)])
    assert roc_auc_score(wrong, straddling) == 1.0


def test_a_probe_needs_both_classes_and_enough_samples():
    states = np.random.default_rng(0).normal(size=(160, 3))
    with pytest.raises(NotFittableError, match="both classes"):
        cross_validated(states, np.zeros(160, dtype=bool), GROUPS)
    with pytest.raises(NotFittableError, match="1 groups of samples for 5 folds"):
        cross_validated(states[:4], np.array([True, False, True, False]), GROUPS[:4])


def test_detectors_by_hand():
    """Four questions; the model attempts two and gets one; forced it gets two, which one detector knows."""
    outcomes = [RIGHT, WRONG, NONE, NONE]
    forced = np.array([True, False, True, False])
    confidences = {"good": np.array([3.0, 1.0, 2.0, 0.0]), "bad": np.array([0.0, 2.0, 1.0, 3.0])}
    good, bad = compare_detectors(outcomes, forced, confidences, list("abcd"), trained=("good",), draws=50)
    assert (good.name, good.trained, bad.trained) == ("good", True, False)
    assert (good.auroc.value, bad.auroc.value) == (1.0, 0.0)
    assert (good.against.coverage.value, good.against.own.value) == (0.5, 0.5)
    assert (good.against.probe.value, bad.against.probe.value) == (1.0, 0.0)
    assert (good.against.difference.value, bad.against.difference.value) == (-0.5, 0.5)
    assert good.auroc.value == roc_auc_score(forced, confidences["good"])


def test_confidences_by_hand():
    """An answer of four tokens whose log-probabilities sum to -2, entropy 0.7, best two -0.5 and -1.5."""
    row = {"logp": -0.5, "entropy": 0.7, "top1_logp": -0.5, "top2_logp": -1.5, "logp_variance": 9.0,
           "span_logp": -2.0, "cumulative_logp": -3.0}  # fmt: skip
    statistics = np.array([[row[name] for name in STATISTICS]])
    count = np.array([4])
    trace = DeflectionTrace(statistics, count, {}, None, count, count, 1.0)
    found = {name: float(values[0]) for name, values in trace.confidences().items()}
    assert found == {
        "nll": -0.5,
        "total": -2.0,
        "first": -0.5,
        "entropy": -0.7,
        "margin": 1.0,
        "length": -4.0,
    }


def responses(texts):
    """One sample a letter, in the order of scenarios."""
    found = []
    for number, by_scenario in enumerate(texts):
        sample = Sample(f"s{number}", "Q?", None, ("Paris",), (Evidence(text="g"),), (), f"kind {number % 2}")
        for scenario, outcome in zip(Scenario, by_scenario, strict=True):
            found.append(DeflectionResponse(sample, scenario, "", outcome))
    return found


def test_a_summary_by_hand():
    free = responses([(WRONG, RIGHT, RIGHT, NONE), (NONE, RIGHT, WRONG, WRONG), (WRONG, NONE, RIGHT, NONE)])
    forced = responses([(RIGHT, RIGHT, RIGHT, WRONG)] * 3)
    rng = np.random.default_rng(0)
    n = len(free)
    mass = rng.dirichlet(np.ones(6), n)
    trace = DeflectionTrace(
        rng.normal(size=(n, len(STATISTICS))), np.full(n, 2), {"hidden_mid": rng.normal(size=(n, 3))}, mass,
        np.full(n, 9), np.full(n, 4), 1.0,
    )  # fmt: skip
    found = summarise(free, forced, trace, forced_apart=True, draws=20)
    scenarios = found.results[ALL].scenarios
    assert [scenarios[s].accuracy.value for s in Scenario] == pytest.approx([0, 2 / 3, 2 / 3, 0])
    assert [scenarios[s].deflection.value for s in Scenario] == pytest.approx([1 / 3, 1 / 3, 0, 2 / 3])
    assert found.results[ALL].reliability_gap.value == pytest.approx(1 / 3)
    assert found.results["kind 0"].reliability_gap.value == pytest.approx(1 - 1 / 2)
    assert found.results["kind 1"].reliability_gap.value == pytest.approx(0.0)
    assert found.results[ALL].evidence_gain.value == pytest.approx(2 / 3)
    assert found.results[ALL].gold_gain.value == pytest.approx(2 / 3)
    assert found.results["kind 0"].evidence_gain.value == pytest.approx(1 / 2)
    assert found.results["kind 1"].gold_gain.value == pytest.approx(0.0)
    assert found.forced[ALL].gold_gain.value == pytest.approx(1.0)
    assert list(found.results) == [ALL, "kind 0", "kind 1"]
    # three samples do not fill five folds: the probe is missing, and it is said why
    assert [s.name for s in found.detectors[ALL]] == ["nll", "total", "first", "entropy", "margin", "length"]
    assert found.notes == ("hidden_mid: 3 groups of samples for 5 folds",)
    adversarial = found.detectors["adversarial"][0].against
    assert (adversarial.coverage.value, adversarial.own.value) == pytest.approx((1 / 3, 0.0))
    assert adversarial.forced.value == 0.0
    oracle = found.detectors["oracle"][0].against
    assert (oracle.coverage.value, oracle.own.value, oracle.probe.value) == pytest.approx((2 / 3, 1.0, 1.0))
    picked = [i for i, r in enumerate(free) if r.scenario is Scenario.REALISTIC]
    assert found.attention["realistic"]["image"].value == pytest.approx(mass[picked, 2].mean())
    assert sum(e.value for e in found.attention["realistic"].values()) == pytest.approx(1.0)
    assert found.attention["realistic"]["image"].groups == 3
    assert math.isnan(found.attention["realistic"]["image"].low)
    # a difference of two scenarios counts each pair once
    assert found.results[ALL].reliability_gap.n == 3


def test_without_a_pass_there_are_rates_alone():
    free = responses([(WRONG, RIGHT, RIGHT, NONE)])
    found = summarise(free, free, None, forced_apart=False, draws=0)
    assert (found.detectors, found.attention) == ({}, {})
    assert list(found.results) == [ALL]
