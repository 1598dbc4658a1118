"""Heads against scikit-learn and torch: same objective, same coefficients, same scores."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from probekit.detectors.heads import FittedHead, NotFittableError, Problem
from probekit.detectors.heads.boosting import Boosting
from probekit.detectors.heads.dhcp_mlp import DhcpMlp
from probekit.detectors.heads.halp_mlp import HalpMlp
from probekit.detectors.heads.logistic import Logistic
from probekit.errors import InputError


def made(rows: int, columns: int, seed: int = 0, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    z = random.standard_normal((rows, columns))
    y = (random.random(rows) < 1 / (1 + np.exp(-z @ random.standard_normal(columns) / np.sqrt(columns)))) * 1
    scale = np.exp(spread * random.standard_normal(columns))
    return (z * scale + 3 * scale * random.standard_normal(columns)).astype(np.float32), y


def problems_of(y: np.ndarray) -> list[Problem]:
    """Three seeds x three nested sizes, as a sweep has them."""
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(y))
        found += [Problem(np.sort(order[:size]), y[np.sort(order[:size])], seed) for size in (60, 90, 120)]
    return found


@pytest.mark.parametrize("columns", [12, 400], ids=["tall", "wide"])
@pytest.mark.parametrize("c", [1.0, 0.05])
@pytest.mark.parametrize("balanced", [False, True])
def test_sweep_finds_the_coefficients_of_scikit_learn(columns: int, c: float, balanced: bool) -> None:
    x, y = made(200, columns, spread=0.3)
    problems = problems_of(y)
    solutions = list(Logistic(c=c, tol=1e-9, balanced=balanced).fit(x, problems))
    for problem, solution in zip(problems, solutions, strict=True):
        reference = LogisticRegression(
            C=c, tol=1e-10, max_iter=10000, class_weight="balanced" if balanced else None
        ).fit(x[problem.rows].astype(np.float64), problem.y)
        scale = np.abs(reference.coef_).max()
        assert np.abs(solution.weights["coef"] - reference.coef_[0]).max() < 2e-4 * scale
        assert solution.weights["intercept"][0] == pytest.approx(reference.intercept_[0], abs=2e-3)
        probability = Logistic().score(solution.weights, x)
        assert np.allclose(probability, reference.predict_proba(x)[:, 1], atol=1e-4)


def test_defaults_agree_with_scikit_learn_in_auroc_on_columns_of_unlike_scale() -> None:
    x, y = made(400, 40, spread=1.5)
    (solution,) = Logistic().fit(x, [Problem(np.arange(200), y[:200])])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = LogisticRegression(max_iter=1000).fit(x[:200].astype(np.float64), y[:200])
    ours = roc_auc_score(y[200:], Logistic().score(solution.weights, x[200:]))
    theirs = roc_auc_score(y[200:], reference.decision_function(x[200:]))
    assert ours == pytest.approx(theirs, abs=2e-3)
    assert solution.log["converged"]


def test_the_reference_solver_can_be_asked_for() -> None:
    x, y = made(120, 8)
    problem = Problem(np.arange(120), y)
    (ours,) = Logistic(tol=1e-9).fit(x, [problem])
    (theirs,) = Logistic(tol=1e-9, max_iter=5000, solver="sklearn").fit(x, [problem])
    assert np.allclose(ours.weights["coef"], theirs.weights["coef"], atol=1e-4)
    assert theirs.log["iterations"] > 0


def test_the_scaled_variant_uses_the_fit_rows_alone() -> None:
    x, y = made(100, 6)
    x[60:] += 1000
    (solution,) = Logistic(scale=True).fit(x, [Problem(np.arange(60), y[:60])])
    assert np.allclose(solution.weights["mean"], x[:60].astype(np.float64).mean(axis=0))
    assert np.allclose(solution.weights["deviation"], x[:60].astype(np.float64).std(axis=0))


def test_constant_columns_are_allowed() -> None:
    x, y = made(80, 5)
    x[:, 2] = 7
    for head in (Logistic(), Logistic(scale=True), DhcpMlp(epochs=2)):
        (solution,) = head.fit(x, [Problem(np.arange(80), y)])
        assert np.isfinite(head.score(solution.weights, x)).all()


@pytest.mark.parametrize("head", [Logistic(), DhcpMlp(), HalpMlp(), Boosting()])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_is_refused_with_the_reason(head: Logistic, label: int) -> None:
    x, _ = made(20, 4)
    with pytest.raises(NotFittableError, match="both classes"):
        list(head.fit(x, [Problem(np.arange(20), np.full(20, label))]))


def test_dhcp_scores_equal_the_torch_network_and_use_fit_statistics() -> None:
    x, y = made(90, 12)
    head = DhcpMlp(epochs=5)
    (solution,) = head.fit(x, [Problem(np.arange(60), y[:60], seed=3)])
    weights = solution.weights
    assert np.allclose(weights["mean"], x[:60].mean(axis=0), atol=1e-4)
    network = torch.nn.Sequential(torch.nn.Linear(12, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
    network.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items() if "." in k})
    scaled = torch.from_numpy((x - weights["mean"]) / weights["deviation"])
    with torch.no_grad():
        expected = torch.sigmoid(network(scaled))[:, 0].numpy()
    assert np.allclose(head.score(weights, x), expected, atol=1e-5)


def test_halp_scores_equal_the_torch_network_in_evaluation_mode() -> None:
    x, y = made(70, 9)
    head = HalpMlp(epochs=3)
    (solution,) = head.fit(x, [Problem(np.arange(70), y, seed=1)])
    layers: list[torch.nn.Module] = []
    width = 9
    for wide in (512, 256, 128):
        layers += [
            torch.nn.Linear(width, wide),
            torch.nn.ReLU(),
            torch.nn.BatchNorm1d(wide),
            torch.nn.Dropout(),
        ]
        width = wide
    network = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1)).eval()
    network.load_state_dict({k: torch.from_numpy(np.asarray(v)) for k, v in solution.weights.items()})
    with torch.no_grad():
        expected = torch.sigmoid(network(torch.from_numpy(x)))[:, 0].numpy()
    assert np.allclose(head.score(solution.weights, x), expected, atol=1e-5)


@pytest.mark.parametrize("rows", [33, 65, 2])
def test_halp_survives_a_last_batch_of_one(rows: int) -> None:
    x, y = made(rows, 4)
    y[:2] = (0, 1)
    (solution,) = HalpMlp(epochs=2).fit(x, [Problem(np.arange(rows), y)])
    assert np.isfinite(HalpMlp().score(solution.weights, x)).all()


@pytest.mark.parametrize("head", [DhcpMlp(epochs=3), HalpMlp(epochs=2)])
def test_neural_heads_repeat_with_the_seed_and_learn(head: DhcpMlp) -> None:
    x, y = made(64, 5)
    torch.manual_seed(0)
    (first,) = head.fit(x, [Problem(np.arange(64), y, 7)])
    torch.manual_seed(99)
    (again,) = head.fit(x, [Problem(np.arange(64), y, 7)])
    (other,) = head.fit(x, [Problem(np.arange(64), y, 8)])
    assert all(np.array_equal(first.weights[k], again.weights[k]) for k in first.weights)
    assert not np.array_equal(first.weights["0.weight"], other.weights["0.weight"])


def test_boosted_trees_score_as_scikit_learn_does() -> None:
    x, y = made(150, 6)
    (solution,) = Boosting(trees=20).fit(x, [Problem(np.arange(100), y[:100], 0)])
    reference = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(x[:100], y[:100])
    assert np.allclose(Boosting(trees=20).score(solution.weights, x), reference.predict_proba(x)[:, 1])


def test_damaged_heads_are_named(tmp_path: Path) -> None:
    x, y = made(40, 3)
    (solution,) = Logistic().fit(x, [Problem(np.arange(40), y)])
    head = FittedHead("hidden_mid", "v", {}, "none", 0, "d", {}, solution.weights)
    head.save(tmp_path / "seed0")
    (tmp_path / "seed0.safetensors").write_bytes(b"cut")
    with pytest.raises(InputError, match=r"seed0\.safetensors"):
        FittedHead.load(tmp_path / "seed0")
    (tmp_path / "seed0.json").write_text("{}")
    with pytest.raises(InputError, match=r"seed0\.json"):
        FittedHead.load(tmp_path / "seed0")
