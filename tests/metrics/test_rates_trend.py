"""Page's trend test and McNemar's against scipy, permutation and counting."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from probekit.errors import InputError
from probekit.metrics.rates_trend import Change, mcnemar, page_trend


def test_without_ties_it_is_scipys_page_test() -> None:
    table = np.random.default_rng(0).normal(size=(25, 5)) + 0.1 * np.arange(5)
    found = page_trend(table)
    other = stats.page_trend_test(table, method="asymptotic")
    assert found.statistic == pytest.approx(other.statistic)
    assert found.p == pytest.approx(other.pvalue)


def test_with_ties_its_moments_are_those_of_permuting_within_images() -> None:
    table = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    ranks = [list(itertools.permutations(stats.rankdata(row))) for row in table]
    levels = np.array([1, 2, 3])
    values = np.array([np.dot(a, levels) + np.dot(b, levels) for a in ranks[0] for b in ranks[1]])
    found = page_trend(table)
    assert found.z == pytest.approx((found.statistic - values.mean()) / values.std())
    # Ignoring ties, as the textbook variance does, would call the same rise less certain.
    untied = 2 * 3 * (3 + 1) ** 2 * (3 - 1) * 3 / 144
    assert values.var() < untied


def test_a_fall_is_no_rise_and_a_constant_is_not_available() -> None:
    rising = np.tile(np.arange(5.0), (10, 1))
    assert page_trend(rising).p < 1e-6
    assert page_trend(rising[:, ::-1]).p > 1 - 1e-6
    flat = page_trend(np.ones((10, 5)))
    assert math.isnan(flat.p)
    assert flat.n == 10


def test_images_with_a_missing_level_are_left_out_and_counted() -> None:
    table = np.array([[0.0, 1.0], [np.nan, 1.0], [0.0, 1.0]])
    found = page_trend(table)
    assert (found.n, found.excluded) == (2, 1)
    with pytest.raises(InputError):
        page_trend(np.zeros((3, 1)))
    assert math.isnan(page_trend(np.full((2, 3), np.nan)).p)


def test_mcnemar_counts_changes_and_is_exact() -> None:
    before = np.array([0, 0, 0, 0, 0, 1, 1, 0, np.nan])
    after = np.array([1.0, 1, 1, 1, 1, 0, 1, 0, 1])
    found = mcnemar(before, after, Change(1, 2))
    assert (found.up, found.down, found.n, found.excluded) == (5, 1, 8, 1)
    # Two-sided exact: P(X <= 1 or X >= 5), X ~ Binomial(6, 1/2) = 2 (1 + 6) / 64.
    assert found.p == pytest.approx(14 / 64)
    assert mcnemar(np.ones(3), np.ones(3), Change(1, 2)).p == 1.0
