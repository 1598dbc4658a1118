"""Deflection against selection at equal coverage, where the better one is known."""

import math
from itertools import permutations

import numpy as np
import pytest

from probekit.benchmarks.deflection import Outcome
from probekit.errors import InputError
from probekit.scores.deflection_coverage import own_against_probe
from probekit.scores.selective import augrc, aurc, averaged, selective

RIGHT, WRONG, NONE = Outcome.CORRECT, Outcome.INCORRECT, Outcome.NOT_ATTEMPTED
FORCED = np.array([True, True, False, False])


def test_a_model_that_declines_what_it_would_get_wrong_beats_a_blind_probe() -> None:
    found = own_against_probe(
        [RIGHT, RIGHT, NONE, NONE], FORCED, np.array([0.1, 0.2, 0.8, 0.9]), list("abcd")
    )
    assert (found.coverage.value, found.own.value, found.probe.value) == (0.5, 1.0, 0.0)
    assert (found.forced.value, found.difference.value) == (0.5, 1.0)


def test_a_good_probe_beats_a_model_that_declines_at_the_wrong_time() -> None:
    found = own_against_probe(
        [NONE, NONE, WRONG, WRONG], FORCED, np.array([0.9, 0.8, 0.2, 0.1]), list("abcd")
    )
    assert (found.own.value, found.probe.value, found.difference.value) == (0.0, 1.0, -1.0)


def test_without_attempts_there_is_nothing_to_compare() -> None:
    found = own_against_probe([NONE] * 4, FORCED, np.arange(4.0), list("abcd"))
    assert found.coverage.value == 0
    assert math.isnan(found.difference.value)


def test_missing_confidences_are_refused() -> None:
    with pytest.raises(InputError):
        own_against_probe([NONE] * 4, FORCED, np.array([np.nan, 1, 2, 3]), list("abcd"))


def by_lot(confidences: np.ndarray, right: np.ndarray, picked: int) -> float:
    """Mean accuracy of the surest over all orders of the rows that sorting by confidence allows."""
    orders = [o for o in permutations(range(len(right))) if (np.diff(confidences[list(o)]) <= 0).all()]
    return float(np.mean([right[list(order[:picked])].mean() for order in orders]))


@pytest.mark.parametrize("attempts", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    "confidences", [[1, 1, 1, 1, 1, 1], [2, 2, 1, 1, 1, 0], [0, 1, 0, 1, 0, 1], [5, 4, 3, 2, 1, 0]]
)
def test_equal_confidences_are_picked_by_lot(confidences: list[float], attempts: int) -> None:
    values, right = np.array(confidences, dtype=float), np.array([True, True, True, False, False, True])
    outcomes = [WRONG] * attempts + [NONE] * (6 - attempts)
    found = own_against_probe(outcomes, right, values, list("abcdef"), draws=0)
    assert found.probe.value == pytest.approx(by_lot(values, right, attempts))


def test_the_order_of_the_rows_plays_no_part() -> None:
    rng = np.random.default_rng(0)
    n = 60
    outcomes = [(RIGHT, WRONG, NONE)[k] for k in rng.integers(0, 3, n)]
    right, values = rng.random(n) < 0.5, rng.integers(0, 4, n).astype(float)
    groups = [f"s{k}" for k in rng.integers(0, 12, n)]
    found = own_against_probe(outcomes, right, values, groups, draws=200)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(n)
        again = own_against_probe(
            [outcomes[k] for k in order], right[order], values[order], [groups[k] for k in order], draws=200
        )
        for name in ("coverage", "own", "probe", "forced", "difference"):
            one, other = getattr(found, name), getattr(again, name)
            assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    same = own_against_probe(outcomes, np.sort(right)[::-1].copy(), np.zeros(n), groups, draws=0)
    assert same.probe.value == pytest.approx(right.mean())


def test_areas_under_ties_are_the_mean_over_all_orders() -> None:
    confidences, errors = np.array([2.0, 1, 1, 1, 0, 0]), np.array([0.0, 1, 0, 0, 1, 0])
    orders = [list(o) for o in permutations(range(6)) if (np.diff(confidences[list(o)]) <= 0).all()]
    found = selective(confidences, errors == 0, list("abcdef"), ties="average", draws=0)
    assert found.aurc.value == pytest.approx(np.mean([aurc(errors[o]) for o in orders]))
    assert found.augrc.value == pytest.approx(np.mean([augrc(errors[o]) for o in orders]))
    assert found.accuracy_at.value == pytest.approx(np.mean([1 - errors[o[:3]].mean() for o in orders]))
    assert found.oracle.value == pytest.approx(aurc(np.sort(errors)))
    assert found.e_aurc.value == pytest.approx(found.aurc.value - found.oracle.value)
    curve = np.mean([np.cumsum(errors[o]) / np.arange(1, 7) for o in orders], axis=0)
    assert np.cumsum(averaged(confidences, errors)) / np.arange(1, 7) == pytest.approx(curve)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(6)
        again = selective(confidences[order], errors[order] == 0, list("abcdef"), ties="average", draws=0)
        assert again.aurc.value == pytest.approx(found.aurc.value)
