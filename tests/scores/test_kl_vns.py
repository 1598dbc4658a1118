"""KL per position and VNS against scipy, closed forms, and the traps of log-probabilities."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from probekit.errors import InputError
from probekit.scores.kl import kl_per_position, log_softmax
from probekit.scores.vns import kept, vns

LOGITS = hnp.arrays(np.float64, (3, 6), elements=st.floats(-30, 30))


@given(LOGITS, LOGITS)
def test_kl_equals_scipy_entropy(full: np.ndarray, other: np.ndarray) -> None:
    p, q = np.exp(log_softmax(full)), np.exp(log_softmax(other))
    expected = stats.entropy(p, q, axis=1)
    assert kl_per_position(full, other) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(LOGITS, st.floats(-100, 100))
def test_kl_ignores_a_constant_added_to_logits(full: np.ndarray, shift: float) -> None:
    assert kl_per_position(full + shift, full) == pytest.approx(0, abs=1e-9)


def test_kl_takes_float32_and_any_length() -> None:
    generator = np.random.default_rng(0)
    full = generator.normal(size=(200, 11)).astype(np.float32)
    other = generator.normal(size=(200, 11)).astype(np.float32)
    whole = kl_per_position(full, other)
    assert whole[130] == kl_per_position(full[130:131], other[130:131])[0]


def test_a_word_of_probability_zero_adds_nothing_and_a_ruled_out_word_is_infinite() -> None:
    p = np.log(np.array([[0.5, 0.5, 1e-300]]))
    p[0, 2] = -np.inf
    q = np.log(np.array([[0.25, 0.25, 0.5]]))
    assert kl_per_position(p, q)[0] == pytest.approx(math.log(2))
    assert kl_per_position(q, p)[0] == math.inf


def test_nan_stays_nan() -> None:
    p = np.zeros((2, 3))
    q = p.copy()
    q[1, 0] = np.nan
    assert np.isnan(kl_per_position(p, q)).tolist() == [False, True]


def test_shapes_must_agree() -> None:
    # Unwrapped, as installed: the test run's own type check would speak first.
    with pytest.raises(InputError, match="answer index"):
        inspect.unwrap(kl_per_position)(np.zeros((3, 4)), np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("positions", "expected"), [(1, 1), (2, 1), (3, 1), (4, 2), (10, 3), (11, 4), (20, 6)]
)
def test_thirty_percent_is_rounded_up_and_at_least_one(positions: int, expected: int) -> None:
    assert kept(positions) == expected


def test_binary_rounding_never_adds_a_position() -> None:
    for positions in range(1, 400):
        assert kept(positions, 0.1) == -(-positions // 10)
        assert kept(positions, 0.7) == -(-7 * positions // 10)


def test_end_of_sequence_position_is_left_out_by_the_mask() -> None:
    kl = np.array([1.0, 2.0, 50.0])
    assert vns(kl, mask=np.array([True, True, False])) == 2.0
    assert math.isnan(vns(kl, mask=np.zeros(3, dtype=np.bool_)))
    assert math.isnan(vns(np.array([1.0, np.nan])))
    assert vns(np.array([1.0, np.nan]), mask=np.array([True, False])) == 1.0


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 50)), st.floats(0.01, 1))
def test_vns_lies_between_mean_and_maximum(kl: np.ndarray, fraction: float) -> None:
    assert kl.mean() - 1e-9 <= vns(kl, fraction=fraction) <= kl.max() + 1e-9


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.01])
def test_fraction_out_of_range_is_refused(fraction: float) -> None:
    with pytest.raises(InputError):
        vns(np.ones(3), fraction=fraction)
