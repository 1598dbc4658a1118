"""Estimates and their bootstrap against closed forms and against another bootstrap."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from probekit.errors import InputError
from probekit.metrics.estimates import (
    FEWEST,
    difference_interval,
    group_index,
    mean,
    ratio,
    resamples,
    share_interval,
    statistic,
    wilson,
)


def test_mean_interval_agrees_with_scipy_bootstrap() -> None:
    values = np.random.default_rng(1).normal(size=60)
    found = mean(values, [str(i) for i in range(60)], draws=4000, seed=3)
    other = stats.bootstrap((values,), np.mean, n_resamples=4000, method="percentile", rng=5)
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(other.confidence_interval.low, abs=0.03)
    assert found.high == pytest.approx(other.confidence_interval.high, abs=0.03)


def test_rows_of_one_group_are_drawn_together() -> None:
    found = mean(np.repeat([0.0, 1.0] * 3, 50), np.repeat(list("abcdef"), 50).tolist())
    # six draws of a coin, not three hundred
    ends = stats.binom(6, 0.5).ppf([0.025, 0.975]) / 6
    assert (found.value, found.low, found.high) == pytest.approx((0.5, *ends))
    assert (found.n, found.groups) == (300, 6)


def test_below_the_fewest_groups_there_is_no_interval() -> None:
    for count in (FEWEST - 1, FEWEST):
        names = [str(i // 4) for i in range(4 * count)]
        values = np.arange(4.0 * count)
        found = (
            mean(values, names),
            mean((values > 7).astype(float), names, share=True),
            statistic(lambda counts, v=values: float((v * counts).sum() / counts.sum()), names),
        )
        assert all(math.isnan(e.low) == math.isnan(e.high) == (count < FEWEST) for e in found)
        assert all(e.groups == count for e in found)


def test_the_order_of_the_rows_changes_no_interval() -> None:
    rng = np.random.default_rng(0)
    values, names = rng.normal(size=40), np.array([f"i{n // 2}" for n in range(40)])
    order = rng.permutation(40)
    first, again = mean(values, names.tolist()), mean(values[order], names[order].tolist())
    assert (first.low, first.high) == pytest.approx((again.low, again.high), rel=1e-12)

    def average(column: np.ndarray) -> Callable[[np.ndarray], float]:
        return lambda counts: float((column * counts).sum() / counts.sum())

    one = statistic(average(values), names.tolist())
    two = statistic(average(values[order]), names[order].tolist())
    assert (one.low, one.high) == pytest.approx((two.low, two.high), rel=1e-12)


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
    assert group_index(["b", "a", "b"])[0].tolist() == [1, 0, 1]


def test_statistic_sees_repetition_counts() -> None:
    values = np.array([1.0, 2.0, 3.0, 8.0, 9.0])
    found = statistic(lambda counts: float(np.median(np.repeat(values, counts))), list("abcde"))
    assert (found.value, found.low, found.high) == (3.0, 1.0, 9.0)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(0).random(20)
    names = [str(i) for i in range(20)]
    assert mean(values, names, seed=4) == mean(values, names, seed=4)
    assert mean(values, names, seed=4) != mean(values, names, seed=5)


def test_lengths_must_agree() -> None:
    with pytest.raises(InputError):
        mean(np.array([1.0]), ["a", "b"])


def test_wilson_agrees_with_scipy() -> None:
    for k, n in ((0, 10), (3, 10), (10, 10), (0, 200)):
        other = stats.binomtest(k, n).proportion_ci(method="wilson")
        assert wilson(k / n, n) == pytest.approx((other.low, other.high), abs=1e-12)
    assert all(math.isnan(end) for end in wilson(0.0, 0))


@pytest.mark.parametrize("said", [0.0, 1.0])
def test_a_share_on_which_all_images_agree_is_not_certain(said: float) -> None:
    """Ten images with three answers each: the interval is that of ten draws, not of thirty."""
    images = [f"{i // 3}" for i in range(30)]
    found = mean(np.full(30, said), images, share=True)
    other = stats.binomtest(int(10 * said), 10).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((other.low, other.high))
    assert found.low < found.high


def test_draws_that_differ_beyond_both_ends_do_not_all_agree() -> None:
    """Wilson's interval is for a share that nothing was seen to change: one draw that differs is enough."""
    agreed = [0.5] * 999
    end = stats.binomtest(25, 50).proportion_ci(method="wilson")
    assert share_interval(0.5, [*agreed, 0.5 + 1e-15, math.nan], 50) == pytest.approx((end.low, end.high))
    assert all(math.isnan(end) for end in share_interval(0.5, [*agreed, 0.9], 50))
    assert share_interval(0.5, [0.1] * 50 + [0.5] * 900 + [0.9] * 50, 50) == pytest.approx((0.1, 0.9))
    assert all(math.isnan(end) for end in share_interval(0.5, [math.nan] * 9, 50))


def test_a_share_counts_only_images_of_its_base() -> None:
    found = ratio(np.zeros(6), np.array([1.0, 1, 1, 1, 1, 0]), list("abcdef"))
    assert found.groups == 5
    assert found.high == pytest.approx(stats.binomtest(0, 5).proportion_ci(method="wilson").high)


def test_a_quantity_that_never_varies_has_no_interval() -> None:
    found = mean(np.full(5, 0.1), list("abcde"))
    assert found.value == pytest.approx(0.1)
    assert math.isnan(found.low)
    assert math.isnan(mean(np.zeros(1), ["a"], share=True).low)
    assert math.isnan(mean(np.zeros(4), list("abcd"), share=True, draws=0).low)


def test_a_difference_that_is_the_same_everywhere_leaves_room_for_groups_not_seen() -> None:
    unseen = stats.binomtest(0, 40).proportion_ci(method="wilson").high
    assert difference_interval(0.0, 40) == pytest.approx((-unseen, unseen))
    assert difference_interval(1.0, 40) == pytest.approx((1 - 2 * unseen, 1.0))
    assert difference_interval(-1.0, 40) == pytest.approx((-1.0, -1 + 2 * unseen))
    assert all(math.isnan(end) for end in difference_interval(0.0, 1))
