"""Deflection against selection at equal coverage, where the better one is known."""

import math

import numpy as np
import pytest

from probekit.benchmarks.deflection import Outcome
from probekit.errors import InputError
from probekit.scores.deflection_coverage import own_against_probe

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
