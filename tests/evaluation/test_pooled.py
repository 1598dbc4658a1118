"""Few pictures give no interval, and flags that never vary no certainty."""

import math

import numpy as np
import pytest
from scipy import stats

from probekit.evaluation.pooled import Pooled, SeedEstimate


def test_pictures_of_all_seeds_are_counted_and_few_of_them_give_no_interval() -> None:
    drawn = np.linspace(0.25, 0.75, 101)
    for second, sure in (((0, 1, 3), False), ((3, 4, 5), True)):
        found = Pooled.of({
            0: [SeedEstimate(0.5, drawn, 4, (np.array([0, 1, 2, 2]),))],
            1: [SeedEstimate(0.5, drawn, 3, (np.array(second),))],
        })  # fmt: skip
        assert found.images == len({0, 1, 2, *second})
        assert (found.value, math.isnan(found.low)) == (0.5, not sure)


def test_each_class_needs_its_pictures() -> None:
    many, few = np.arange(20), np.arange(4)
    drawn = np.linspace(0.25, 0.75, 101)
    found = Pooled.of({0: [SeedEstimate(0.5, drawn, 24, (many, few))]})
    assert (found.images, math.isnan(found.low)) == (20, True)
    found = Pooled.of({0: [SeedEstimate(0.5, drawn, 40, (many, many + 20))]})
    assert (found.images, found.low) == (40, pytest.approx(0.2625))


def test_a_share_that_is_never_flagged_is_not_certain() -> None:
    found = Pooled.of({0: [SeedEstimate(0.0, np.zeros(50), 12, (np.arange(8),))]})
    other = stats.binomtest(0, 8).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=1e-12)
