"""Effect sizes and tests equal scipy's on random data, and SPEC 7's values on printed moments."""

import math

import numpy as np
import pytest
import scipy.stats as stats

from probekit.errors import InputError
from probekit.evaluation.effects import (
    Moments,
    cohens_d,
    compare,
    d_rms,
    from_moments,
    glass_delta,
    mann_whitney,
    normal_rank_test,
    rank_test_of_p,
    student,
    welch,
)


def draw(seed: int, ties: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(0.2, 1.3, 60), rng.gamma(2.0, 0.5, 35)
    return (first.round(1), second.round(1)) if ties else (first, second)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [False, True])
def test_tests_equal_scipy(seed: int, ties: bool) -> None:
    first, second = draw(seed, ties)
    one, two = Moments.of(first), Moments.of(second)
    for ours, equal_var in ((student(one, two), True), (welch(one, two), False)):
        theirs = stats.ttest_ind(first, second, equal_var=equal_var)
        assert ours.t == pytest.approx(theirs.statistic)
        assert ours.df == pytest.approx(theirs.df)
        assert ours.p == pytest.approx(theirs.pvalue)
    for continuity in (False, True):
        ours = mann_whitney(first, second, ties=True, continuity=continuity)
        theirs = stats.mannwhitneyu(first, second, method="asymptotic", use_continuity=continuity)
        assert ours.u == pytest.approx(theirs.statistic)
        assert ours.p == pytest.approx(theirs.pvalue)
        assert ours.auc == pytest.approx(theirs.statistic / (60 * 35))
        assert ours.rank_biserial == pytest.approx(2 * ours.auc - 1)


def test_tie_and_continuity_corrections_are_off_by_default() -> None:
    first, second = draw(1, ties=True)
    plain = mann_whitney(first, second)
    # Without corrections: z = (U - n1 n2 / 2) / sqrt(n1 n2 (n1 + n2 + 1) / 12).
    z = (plain.u - 60 * 35 / 2) / math.sqrt(60 * 35 * 96 / 12)
    assert plain.z == pytest.approx(z)
    assert plain.p == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert mann_whitney(first, second, ties=True).p < plain.p
    assert mann_whitney(first, second, continuity=True).p > plain.p


def test_moments_effects_equal_their_definitions() -> None:
    first, second = draw(2, ties=False)
    one, two = Moments.of(first), Moments.of(second)
    gap = first.mean() - second.mean()
    v1, v2 = first.var(ddof=1), second.var(ddof=1)
    assert cohens_d(one, two) == pytest.approx(gap / math.sqrt((59 * v1 + 34 * v2) / 93))
    assert d_rms(one, two) == pytest.approx(gap / math.sqrt((v1 + v2) / 2))
    assert glass_delta(one, two) == pytest.approx((gap / math.sqrt(v1), gap / math.sqrt(v2)))
    assert cohens_d(two, one) == pytest.approx(-cohens_d(one, two))


def test_printed_moments_give_the_values_of_the_specification() -> None:
    # POPE-audit Table 9: attention of correct and wrong answers. SPEC 7's table.
    correct, wrong = Moments(2490, 0.0738, 0.0142), Moments(510, 0.0801, 0.0128)
    found = from_moments(correct, wrong)
    assert found.d_pooled.value == pytest.approx(-0.4509, abs=1e-4)
    assert found.d_rms.value == pytest.approx(-0.46604, abs=1e-5)
    assert (found.glass_first, found.glass_second) == pytest.approx((-0.4437, -0.4922), abs=5e-5)
    assert found.welch.t == pytest.approx(-9.93346, abs=1e-5)
    assert found.welch.df == pytest.approx(787.718, abs=1e-3)
    assert found.welch.p == pytest.approx(5.5e-22, rel=0.01)
    assert found.student.t == pytest.approx(-9.27684, abs=1e-5)
    assert (found.student.df, found.student.p) == (2998, pytest.approx(3.2e-20, rel=0.02))
    assert math.isnan(found.d_pooled.low)
    normal = normal_rank_test(wrong, correct)
    assert normal.auc == pytest.approx(0.629, abs=5e-4)
    assert normal.z == pytest.approx(9.20, abs=5e-3)
    assert normal.p == pytest.approx(3.5e-20, rel=0.02)
    implied = rank_test_of_p(1.4e-24, 510, 2490)
    assert implied.z == pytest.approx(10.234, abs=1e-3)
    assert implied.auc == pytest.approx(0.6436, abs=5e-5)
    assert implied.u == pytest.approx(817_323, abs=1)
    assert implied.rank_biserial == pytest.approx(0.287, abs=5e-4)


def test_a_comparison_of_values_agrees_with_its_parts() -> None:
    first, second = draw(3, ties=True)
    values = np.concatenate([first, [np.nan], second])
    is_first = np.array([True] * 61 + [False] * 35)
    found = compare(values, is_first, [f"{i}" for i in range(96)], draws=50)
    assert (found.first, found.second) == (Moments.of(first), Moments.of(second))
    assert (found.first.n, found.excluded, found.d_pooled.excluded) == (60, 1, 1)
    assert found.d_pooled.value == cohens_d(found.first, found.second)
    assert found.auc.value == mann_whitney(first, second).auc == found.rank.auc
    for estimate in (found.d_pooled, found.d_rms, found.auc):
        assert estimate.low < estimate.value < estimate.high


def test_bootstrap_draws_are_what_repeating_pictures_gives() -> None:
    # One draw by hand: repeat each picture as often as it was drawn, then use the plain formulas.
    from probekit.metrics.estimates import percentile_interval, resamples

    rng = np.random.default_rng(5)
    values, images = rng.normal(size=40).round(1), [f"{i // 4}" for i in range(40)]
    is_first = rng.random(40) < 0.4
    ds, aucs = [], []
    for weight in np.concatenate(list(resamples(10, 30, seed=9))):
        rows = np.repeat(np.arange(40), np.repeat(weight, 4))
        one, two = values[rows][is_first[rows]], values[rows][~is_first[rows]]
        ds.append(cohens_d(Moments.of(one), Moments.of(two)))
        aucs.append(mann_whitney(one, two).auc)
    found = compare(values, is_first, images, draws=30, seed=9)
    assert (found.d_pooled.low, found.d_pooled.high) == pytest.approx(percentile_interval(ds))
    assert (found.auc.low, found.auc.high) == pytest.approx(percentile_interval(aucs))


def test_small_and_constant_groups_are_not_a_number_and_nothing_breaks() -> None:
    one, few = Moments.of(np.array([1.0])), Moments.of(np.array([1.0, 2.0]))
    for value in (cohens_d(one, few), welch(one, few).p, student(one, few).t):
        assert math.isnan(value)
    flat = Moments.of(np.array([3.0, 3.0]))
    assert math.isnan(cohens_d(flat, flat))
    empty = np.zeros(0)
    assert math.isnan(mann_whitney(empty, np.array([1.0])).auc)
    nothing = compare(empty, np.zeros(0, bool), [])
    assert math.isnan(nothing.d_pooled.value)
    only = compare(np.array([1.0, 2.0]), np.array([True, True]), ["a", "b"], draws=20)
    assert math.isnan(only.auc.value)


def test_lengths_are_checked() -> None:
    with pytest.raises(InputError):
        compare(np.zeros(3), np.zeros(3, bool), ["a"] * 2)
