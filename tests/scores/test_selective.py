"""Selective prediction against definitions written out, and against its limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.errors import InputError
from probekit.scores.selective import accuracy_at, augrc, aurc, confidence, risk_coverage, selective
from probekit.scores.taxonomy import Category

ERRORS = st.lists(st.booleans(), min_size=1, max_size=30)


def slow_aurc(ranked: list[bool]) -> float:
    return sum(sum(ranked[:k]) / k for k in range(1, len(ranked) + 1)) / len(ranked)


@given(ERRORS)
def test_areas_follow_their_definitions(ranked: list[bool]) -> None:
    values = np.array(ranked, dtype=np.float64)
    n = len(ranked)
    assert aurc(values) == pytest.approx(slow_aurc(ranked))
    assert augrc(values) == pytest.approx(sum(sum(ranked[:k]) / n for k in range(1, n + 1)) / n)


@given(st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=1, max_size=25))
def test_no_ranking_beats_the_oracle(rows: list[tuple[float, bool]]) -> None:
    confidences = np.array([c for c, _ in rows])
    right = np.array([r for _, r in rows], dtype=np.bool_)
    found = selective(confidences, right, [str(i) for i in range(len(rows))], draws=0)
    assert found.e_aurc.value >= -1e-12
    assert found.aurc.value == pytest.approx(found.oracle.value + found.e_aurc.value)
    assert found.accuracy.value == pytest.approx(right.mean())


def test_risk_coverage_ends_at_full_coverage_with_the_error_rate() -> None:
    coverage, risk = risk_coverage(np.array([0.1, 0.9, 0.5]), np.array([1.0, 0.0, 1.0]))
    assert coverage == pytest.approx([1 / 3, 2 / 3, 1])
    assert risk == pytest.approx([0, 0.5, 2 / 3])


@pytest.mark.parametrize(("n", "expected"), [(1, 1), (2, 1), (3, 2), (5, 3), (10, 5), (1000, 500)])
def test_half_coverage_is_rounded_up(n: int, expected: int) -> None:
    ranked = np.zeros(n)
    ranked[expected:] = 1
    assert accuracy_at(ranked) == 1.0
    if expected > 1:
        ranked[expected - 1] = 1
        assert accuracy_at(ranked) < 1.0


def test_ties_keep_the_order_of_the_input_and_are_counted() -> None:
    right = np.array([True, False, True])
    found = selective(np.array([0.5, 0.5, 0.1]), right, ["a", "b", "c"], draws=0)
    assert found.tied == 2
    assert found.aurc.value == pytest.approx((0 + 1 / 2 + 1 / 3) / 3)


def test_missing_confidence_is_excluded_and_counted() -> None:
    found = selective(np.array([np.nan, 0.2, 0.8]), np.array([False, False, True]), ["a", "b", "c"])
    assert (found.accuracy.value, found.accuracy.n, found.accuracy.excluded) == (0.5, 2, 1)
    with pytest.raises(InputError):
        risk_coverage(np.array([np.nan]), np.array([1.0]))


def test_intervals_resample_images_not_rows() -> None:
    """One row repeated 50 times under one image each tells no more than one row."""
    generator = np.random.default_rng(0)
    right = generator.random(30) < 0.5
    once = selective(np.arange(30.0), right, [str(i) for i in range(30)], draws=300)
    images = [str(i) for i in range(30) for _ in range(20)]
    many = selective(np.repeat(np.arange(30.0), 20), np.repeat(right, 20), images, draws=300)
    alone = selective(
        np.repeat(np.arange(30.0), 20), np.repeat(right, 20), [str(i) for i in range(600)], draws=300
    )
    width = [found.accuracy.high - found.accuracy.low for found in (once, many, alone)]
    assert width[1] == pytest.approx(width[0], rel=0.1)
    assert width[2] < width[0] / 3


def test_nothing_to_select_from_is_not_available() -> None:
    found = selective(np.array([np.nan]), np.array([True]), ["a"])
    assert math.isnan(found.aurc.value)
    with pytest.raises(InputError):
        selective(np.array([1.0]), np.array([True]), ["a"], coverage=0.0)


def test_confidence_by_diagnosis() -> None:
    assert confidence(Category.PERCEPTUAL_BLINDNESS, 1.2, 9.0) == 1.2
    assert confidence(Category.LANGUAGE_SHORTCUT, 3.0, 0.7) == 0.7
    assert confidence(Category.VISUAL_SYCOPHANCY, 3.0, 2.0) == 5.0
    assert math.isnan(confidence(Category.UNDEFINED, 3.0, 2.0))
    # SPEC 4.5: at the default thresholds every V.S. sample outranks every other.
    assert confidence(Category.VISUAL_SYCOPHANCY, 1.5001, 1.0001) > max(1.5, 1.0)
