"""First tokens, the running yes-rate, and groups by outcome."""

import math

import numpy as np
import pytest

from probekit.metrics.pope_flow import (
    FirstToken,
    correct,
    first_tokens,
    outcome_groups,
    outcomes,
    read_and_emitted,
    running_yes_rate,
)

LABELS = np.array([1, 1, 0, 0, 1, 0], dtype=np.int8)
DECISIONS = np.array([1, 0, 1, 0, -1, 0], dtype=np.int8)


def test_first_tokens_are_counted_by_label_most_frequent_first() -> None:
    counts = first_tokens(LABELS, np.array([3869, 1939, 3869, 1939, 450, 1939]))
    assert counts == (FirstToken(1939, 1, 2), FirstToken(3869, 1, 1), FirstToken(450, 1, 0))
    assert [first.count for first in counts] == [3, 2, 1]
    assert read_and_emitted(counts, (3582,), (1217,)) == {"yes": 0, "no": 0, "unread": 6}
    assert read_and_emitted(counts, (3582, 3869), (1217, 1939)) == {"yes": 2, "no": 3, "unread": 1}


def test_the_running_rate_ends_at_the_yes_ratio() -> None:
    rate = running_yes_rate(DECISIONS)
    np.testing.assert_allclose(rate, [1, 1 / 2, 2 / 3, 2 / 4, 2 / 5, 2 / 6])
    assert len(running_yes_rate(np.zeros(0, np.int8))) == 0


def test_outcomes_and_correctness() -> None:
    assert outcomes(LABELS, DECISIONS).tolist() == ["tp", "fn", "fp", "tn", "unknown", "tn"]
    assert correct(LABELS, DECISIONS).tolist() == [1, 0, 0, 1, -1, 1]


def test_groups_have_sample_deviations_and_count_what_is_missing() -> None:
    values = np.array([2.0, 1.0, np.nan, 1.0, 9.0, 2.0])
    groups = outcome_groups(LABELS, DECISIONS, values)
    assert list(groups) == ["tp", "tn", "fp", "fn"]
    assert (groups["tn"].n, groups["tn"].mean) == (2, 1.5)
    assert groups["tn"].sd == pytest.approx(math.sqrt(0.5))
    assert (groups["fp"].n, groups["fp"].excluded) == (0, 1)
    assert math.isnan(groups["fp"].mean)
    assert math.isnan(groups["tp"].sd)
