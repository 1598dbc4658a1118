"""Page's trend test and McNemar's against scipy, permutation and counting."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from probekit.errors import InputError
from probekit.metrics.rates_trend import EXACT_IMAGES, Change, mcnemar, page_trend


def test_without_ties_it_is_scipys_page_test() -> None:
    table = np.random.default_rng(0).normal(size=(25, 5)) + 0.1 * np.arange(5)
    found = page_trend(table)
    other = stats.page_trend_test(table, method="exact")
    assert found.statistic == pytest.approx(other.statistic)
    assert found.p == pytest.approx(other.pvalue)
    assert (found.varying, found.exact) == (25, True)


def test_one_image_that_varies_has_no_more_orders_than_it_has() -> None:
    """0,0,0,1,1 has C(5, 2) = 10 orders and is the highest of them: p is 1/10, however many hold still."""
    table = np.zeros((15, 5))
    table[3] = [0, 0, 0, 1, 1]
    found = page_trend(table)
    assert found.p == pytest.approx(0.1)
    assert found.p_two_sided == pytest.approx(0.2)
    assert (found.n, found.varying, found.exact) == (15, 1, True)
    assert page_trend(table[:, ::-1]).p == 1.0


@pytest.mark.parametrize("seed", range(6))
def test_p_is_that_of_every_order_of_every_image(seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.integers(0, 2 + seed % 2, size=(4, 4)).astype(float)
    levels = np.arange(1, 5)
    ranks = stats.rankdata(table, axis=1)
    observed = (ranks @ levels).sum()
    totals = [0.0]
    for row in ranks:
        totals = [t + np.dot(order, levels) for t in totals for order in itertools.permutations(row)]
    values = np.array(totals)
    found = page_trend(table)
    rise, fall = (values >= observed - 1e-9).mean(), (values <= observed + 1e-9).mean()
    assert found.p == pytest.approx(rise)
    assert found.p_two_sided == pytest.approx(min(1.0, 2 * min(rise, fall)))


@pytest.mark.parametrize("seed", range(4))
def test_where_many_images_vary_the_normal_tail_agrees(seed: int) -> None:
    generator = np.random.default_rng(seed)
    chance = 0.3 + 0.005 * np.arange(5)
    table = (generator.random((2 * EXACT_IMAGES, 5)) < chance).astype(float)
    varying = table[(table.sum(axis=1) % 5) != 0]
    found = page_trend(varying[:EXACT_IMAGES])
    assert found.exact
    assert stats.norm.sf(found.z) == pytest.approx(found.p, rel=0.05)
    many = page_trend(varying[: EXACT_IMAGES + 1])
    assert not many.exact
    assert many.p == pytest.approx(stats.norm.sf(many.z))
    assert many.p_two_sided == pytest.approx(2 * stats.norm.sf(abs(many.z)))


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
