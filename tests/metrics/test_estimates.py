"""Estimates and their bootstrap against closed forms and against another bootstrap."""

import math

import numpy as np
import pytest
from scipy import stats

from probekit.errors import InputError
from probekit.metrics.estimates import group_index, mean, ratio, resamples, statistic


def test_mean_interval_agrees_with_scipy_bootstrap() -> None:
    values = np.random.default_rng(1).normal(size=60)
    found = mean(values, [str(i) for i in range(60)], draws=4000, seed=3)
    other = stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=5)
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(other.confidence_interval.low, abs=0.03)
    assert found.high == pytest.approx(other.confidence_interval.high, abs=0.03)


def test_rows_of_one_group_are_drawn_together() -> None:
    values = np.repeat([0.0, 1.0], 50)
    found = mean(values, ["a"] * 50 + ["b"] * 50)
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)


def test_missing_values_are_excluded_and_counted_and_never_zero() -> None:
    found = mean(np.array([np.nan, 1.0, 1.0, np.nan]), list("abcd"))
    assert (found.value, found.n, found.excluded) == (1.0, 2, 2)
    empty = mean(np.array([np.nan]), ["a"])
    assert math.isnan(empty.value)
    assert math.isnan(empty.low)
    assert str(empty) == "n/a"


def test_ratio_counts_the_rows_of_its_base() -> None:
    found = ratio(np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0]), list("abc"), draws=0)
    assert (found.value, found.n) == (0.5, 2)
    assert math.isnan(ratio(np.array([0.0]), np.array([0.0]), ["a"]).value)


def test_one_group_has_no_interval() -> None:
    found = mean(np.array([0.0, 1.0]), ["a", "a"])
    assert found.value == 0.5
    assert math.isnan(found.low)


def test_every_draw_draws_as_many_groups_as_there_are() -> None:
    counts = np.concatenate(list(resamples(7, 200, seed=0)))
    assert counts.shape == (200, 7)
    assert (counts.sum(axis=1) == 7).all()
    assert counts.mean() == pytest.approx(1.0)
    assert group_index(["b", "a", "b"])[0].tolist() == [0, 1, 0]


def test_statistic_sees_repetition_counts() -> None:
    values = np.array([1.0, 2.0, 9.0])
    found = statistic(lambda counts: float(np.median(np.repeat(values, counts))), ["a", "b", "c"])
    assert (found.value, found.low, found.high) == (2.0, 1.0, 9.0)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(0).random(20)
    names = [str(i) for i in range(20)]
    assert mean(values, names, seed=4) == mean(values, names, seed=4)
    assert mean(values, names, seed=4) != mean(values, names, seed=5)


def test_lengths_must_agree() -> None:
    with pytest.raises(InputError):
        mean(np.array([1.0]), ["a", "b"])
