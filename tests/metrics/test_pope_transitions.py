"""Paired readouts: moves, rates and the closed form, on drawn decisions."""

import math

import numpy as np
import pytest

from probekit.metrics.pope import confusion
from probekit.metrics.pope_transitions import closed_form, closed_form_f1, transitions


def draw(seed: int, back: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 400).astype(np.int8)
    first = np.where(rng.random(400) < 0.8, labels, 1 - labels).astype(np.int8)
    turned = rng.random(400) < 0.3
    second = np.where(turned & (back | (first == 0)), 1 - first, first).astype(np.int8)
    return labels, first, second


def test_moves_lead_from_one_table_to_the_other() -> None:
    labels, first, second = draw(0, back=True)
    moved = transitions(labels, first, second, ("8", "2"))
    assert moved.before() == confusion(labels, first)
    assert moved.after() == confusion(labels, second)
    assert moved.positive.yes_no > 0
    assert moved.no_read_as_yes == int(((first == 0) & (second == 1)).sum())
    assert moved.positive.yes_to_no == pytest.approx(
        ((labels == 1) & (first == 1) & (second == 0)).sum() / ((labels == 1) & (first == 1)).sum()
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_closed_form_is_exact_when_no_yes_is_lost(seed: int) -> None:
    labels, first, second = draw(seed, back=False)
    moved = transitions(labels, first, second)
    before = confusion(labels, first)
    table = closed_form(
        before.tp + before.fn, before.tn + before.fp, before.tp, before.tn, moved.phi, moved.rho_n
    )
    after = confusion(labels, second)
    assert (table.tp, table.fp, table.fn, table.tn) == pytest.approx((after.tp, after.fp, after.fn, after.tn))
    f1 = closed_form_f1(
        before.tp + before.fn, before.tn + before.fp, before.tp, before.tn, moved.phi, moved.rho_n
    )
    assert f1 == pytest.approx(after.f1)


def test_unknown_answers_take_part_in_no_move() -> None:
    labels = np.array([1, 1, 0, 0], dtype=np.int8)
    first = np.array([1, -1, 0, 0], dtype=np.int8)
    second = np.array([1, 1, 1, -1], dtype=np.int8)
    moved = transitions(labels, first, second)
    assert moved.dropped == 2
    assert (moved.positive.n, moved.negative.n) == (1, 1)
    assert math.isnan(moved.phi)
    assert moved.rho_n == 1.0
