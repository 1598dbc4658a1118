"""AUROC and average precision against scikit-learn; intervals against repetition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from probekit.evaluation.measures import Resamples, aupr, auroc, interval, weighted_auroc

PAIRS = st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=2, max_size=60)


@given(PAIRS)
def test_auroc_and_average_precision_with_ties(pairs: list[tuple[int, bool]]) -> None:
    scores = np.asarray([float(s) for s, _ in pairs])
    positive = np.asarray([p for _, p in pairs])
    assume(positive.any() and not positive.all())
    assert auroc(scores, positive) == pytest.approx(roc_auc_score(positive, scores))
    assert aupr(scores, positive) == pytest.approx(average_precision_score(positive, scores))


@given(PAIRS, st.integers(0, 1000))
def test_weights_mean_repetition(pairs: list[tuple[int, bool]], seed: int) -> None:
    scores = np.asarray([float(s) for s, _ in pairs])
    positive = np.asarray([p for _, p in pairs])
    counts = np.random.default_rng(seed).integers(0, 4, len(scores))
    repeated = np.repeat(np.arange(len(scores)), counts)
    assume(len(set(positive[repeated].tolist())) == 2)
    found = weighted_auroc(scores, positive, counts[None].astype(float))[0]
    assert found == pytest.approx(roc_auc_score(positive[repeated], scores[repeated]))


@given(PAIRS, st.integers(0, 1000))
def test_pairs_of_images_give_what_rows_give(pairs: list[tuple[int, bool]], seed: int) -> None:
    scores = np.asarray([float(s) for s, _ in pairs])
    positive = np.asarray([p for _, p in pairs])
    images = np.random.default_rng(seed).choice(list("abcdefg"), len(scores)).astype(object)
    resamples = Resamples.of(images, 40, seed)
    codes = resamples.codes(images)
    found = resamples.auroc(codes, scores, positive)
    expected = weighted_auroc(scores, positive, resamples.weights(codes))
    assert np.allclose(found, expected, equal_nan=True)


def test_a_constant_score_has_auroc_half() -> None:
    assert auroc(np.zeros(6), np.arange(6) < 2) == 0.5


def test_one_class_has_no_auroc() -> None:
    assert np.isnan(auroc(np.arange(3.0), np.ones(3, bool)))
    assert np.isnan(aupr(np.arange(3.0), np.zeros(3, bool)))


def test_resamples_draw_images_not_rows() -> None:
    images = np.repeat(np.asarray(["a", "b", "c", "d"], object), [1, 5, 2, 9])
    resamples = Resamples.of(images, 200)
    weights = resamples.weights(resamples.codes(images))
    assert np.all(resamples.counts.sum(axis=1) == 4)
    assert all(np.all(weights[:, images == name] == weights[:, images == name][:, :1]) for name in "abcd")
    assert weights.sum(axis=1).std() > 0


def test_share_in_each_replicate_equals_plain_counting() -> None:
    random = np.random.default_rng(0)
    images = random.choice(list("abcdef"), 40).astype(object)
    flagged = random.random(40) < 0.3
    resamples = Resamples.of(images, 50)
    codes = resamples.codes(images)
    weights = resamples.weights(codes)
    expected = (weights * flagged).sum(axis=1) / weights.sum(axis=1)
    assert np.allclose(resamples.share(codes, flagged), expected)


def test_intervals_of_clustered_rows_are_as_wide_as_the_images_say() -> None:
    """Every mention of an image is alike: ten mentions an image must not narrow the interval."""
    random = np.random.default_rng(0)
    per_image = random.random(100) < 0.4
    single = Resamples.of(np.arange(100).astype(str).astype(object), 2000)
    tenfold = Resamples.of(np.repeat(np.arange(100), 10).astype(str).astype(object), 2000)
    codes = single.codes(np.arange(100).astype(str).astype(object))
    many = tenfold.codes(np.repeat(np.arange(100), 10).astype(str).astype(object))
    low, high = interval(single.share(codes, per_image))
    assert interval(tenfold.share(many, np.repeat(per_image, 10))) == pytest.approx((low, high))
    share = per_image.mean()
    expected = 1.96 * np.sqrt(share * (1 - share) / 100)
    assert (high - low) / 2 == pytest.approx(expected, rel=0.1)


def test_interval_leaves_out_replicates_without_a_value() -> None:
    assert interval(np.asarray([np.nan, 0.5, 0.5])) == (0.5, 0.5)
    assert all(np.isnan(end) for end in interval(np.asarray([np.nan])))
