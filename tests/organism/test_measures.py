"""The card's two numbers against their definitions."""

import numpy as np

from probekit.organism.measures import auroc, probe_scores


def test_auroc_counts_pairs() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 6, 60).astype(np.float64)
    positive = rng.random(60) < 0.4
    pairs = [(p > n) + 0.5 * (p == n) for p in scores[positive] for n in scores[~positive]]
    assert np.isclose(auroc(scores, positive), np.mean(pairs))
    assert auroc(np.zeros(4), np.array([True, False, True, False])) == 0.5
    assert np.isnan(auroc(np.zeros(2), np.array([True, True])))


def test_probe_finds_a_signal_and_nothing_in_shuffled_labels() -> None:
    rng = np.random.default_rng(1)
    positive = rng.random(600) < 0.3
    x = rng.normal(size=(600, 8))
    x[:, 3] += 2 * positive
    group = np.arange(600) // 4
    everything = np.ones(600, dtype=bool)
    assert auroc(probe_scores(x, positive, group, everything), positive) > 0.88
    shuffled = rng.permutation(positive)
    assert 0.35 < auroc(probe_scores(x, shuffled, group, everything), shuffled) < 0.65


def test_a_signature_of_the_image_gives_chance() -> None:
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(60), 5)
    positive = np.repeat(rng.random(60) < 0.5, 5)
    x = np.repeat(rng.normal(size=(60, 16)), 5, axis=0) + 0.01 * rng.normal(size=(300, 16))
    scores = probe_scores(x, positive, group, np.ones(300, dtype=bool))
    assert 0.3 < auroc(scores, positive) < 0.7
