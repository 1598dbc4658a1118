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


def test_each_share_counts_the_rows_it_is_taken_over() -> None:
    """Forty questions of twenty pictures, of which the first ten are attempted."""
    rng = np.random.default_rng(0)
    outcomes = [RIGHT] * 6 + [WRONG] * 4 + [NONE] * 30
    right, groups = rng.random(40) < 0.5, [f"i{n // 2}" for n in range(40)]
    found = own_against_probe(outcomes, right, -np.arange(40.0), groups, draws=0)
    assert (found.coverage.n, found.forced.n, found.own.n, found.probe.n) == (40, 40, 10, 10)
    assert (found.coverage.groups, found.own.groups, found.probe.groups) == (20, 5, 5)
    tied = own_against_probe(outcomes, right, -np.repeat(np.arange(2.0), 20), groups, draws=0)
    assert (tied.probe.n, tied.probe.groups) == (20, 10), "any of twenty may be picked"
    at = selective(-np.arange(40.0), right, groups, coverage=0.25, draws=0)
    assert (at.accuracy.n, at.accuracy_at.n, at.accuracy_at.groups) == (40, 10, 5)
    for ties, counts in (("input", (10, 5)), ("average", (20, 10))):
        at = selective(-np.repeat(np.arange(2.0), 20), right, groups, coverage=0.25, ties=ties, draws=0)
        assert (at.accuracy_at.n, at.accuracy_at.groups) == counts


def test_a_share_of_nothing_has_nothing_behind_it() -> None:
    found = own_against_probe([NONE] * 10, np.ones(10, bool), np.arange(10.0), list("abcdefghij"), draws=20)
    for share in (found.own, found.probe):
        assert math.isnan(share.value)
        assert (share.n, share.groups) == (0, 0)
    assert (found.coverage.n, found.coverage.groups) == (10, 10)
