"""No image on two sides, nested budgets, equal histograms, the threshold's own arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probekit.detectors.table import CONCRETE, HALLUCINATED, NON_ASSERTIVE
from probekit.errors import ContractError
from probekit.evaluation.budgets import MIXES, budget, fit_rows
from probekit.evaluation.matching import matched, position_bins
from probekit.evaluation.splits import PARTS, Split
from probekit.evaluation.thresholds import Threshold


@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=3), max_size=120),
    st.integers(0, 2**31),
)
def test_no_image_is_on_two_sides_for_any_seed(images: list[str], seed: int) -> None:
    split = Split.of(images, seed)
    column = np.asarray(images, object)
    sides = [{images[at] for at in split.rows(part, column)} for part in PARTS]
    assert sides[0] | sides[1] | sides[2] == set(images)
    assert sum(map(len, sides)) == len(set(images))
    assert Split.of(list(reversed(images)), seed) == split


def test_shares_are_fifteenths_and_seeds_differ() -> None:
    images = [str(at) for at in range(150)]
    split = Split.of(images, 0)
    assert [len(getattr(split, part)) for part in PARTS] == [80, 20, 50]
    assert Split.of(images, 1) != split


def test_an_image_in_two_parts_is_refused() -> None:
    with pytest.raises(ContractError, match="'b'"):
        Split(0, frozenset("ab"), frozenset("c"), frozenset("b"))


def test_a_split_is_read_back(tmp_path: Path) -> None:
    split = Split.of(map(str, range(30)), 2)
    split.save(tmp_path / "seed2.json")
    assert Split.load(tmp_path / "seed2.json") == split


@pytest.mark.parametrize(
    ("mix", "expected"), [("none", 0), ("10", 40), ("30", 120), ("100", 400), ("max", 700), ("natural", 58)]
)
def test_budget_sizes(mix: str, expected: int) -> None:
    """Natural at 4.2 %: n / (n + 1310) = .042 gives 57.4 of 1,310."""
    share = 0.0423
    assert budget(mix, 910, 400, 700, share) == expected  # type: ignore[arg-type]
    assert budget(mix, 910, 400, 5, share) == min(expected, 5)  # type: ignore[arg-type]
    if mix == "natural":
        assert expected / (expected + 1310) == pytest.approx(share, abs=4e-4)


def test_llava_natural_budget_is_twenty_examples() -> None:
    """Share 1.3 %; the paper says 20 examples, which makes about 1,520 other fit mentions."""
    assert budget("natural", 1100, 418, 500, 0.013) == 20


def test_budgets_are_nested_and_keep_all_other_rows() -> None:
    random = np.random.default_rng(0)
    label = random.integers(0, 3, 300)
    fit = np.sort(random.permutation(300)[:160])
    sets = {mix: set(fit_rows(fit, label, mix, 1, 0.1).tolist()) for mix in MIXES}
    extra = {mix: {r for r in rows if label[r] == NON_ASSERTIVE} for mix, rows in sets.items()}
    assert extra["none"] == set()
    assert extra["10"] < extra["30"] < extra["100"] <= extra["max"]
    assert extra["natural"] <= extra["max"]
    for rows in sets.values():
        assert {r for r in fit.tolist() if label[r] != NON_ASSERTIVE} <= rows <= set(fit.tolist())
    assert set(fit_rows(fit, label, "10", 2, 0.1).tolist()) != sets["10"]


def test_matched_classes_have_equal_histograms_and_lose_their_position_signal() -> None:
    random = np.random.default_rng(0)
    label = random.integers(0, 3, 3000)
    position = random.poisson(20 + 15 * (label > 0))
    rows = matched(position, label, (CONCRETE, HALLUCINATED, NON_ASSERTIVE), seed=0)
    bins = position_bins(position)
    counts = [np.bincount(bins[rows[label[rows] == code]], minlength=10) for code in range(3)]
    assert np.array_equal(counts[0], counts[1])
    assert np.array_equal(counts[0], counts[2])
    assert counts[0].sum() > 100
    before = np.mean(position[label == 1]) - np.mean(position[label == 0])
    kept = position[rows], label[rows]
    after = np.mean(kept[0][kept[1] == 1]) - np.mean(kept[0][kept[1] == 0])
    assert abs(after) < 0.15 * before
    assert not np.array_equal(rows, matched(position, label, (0, 1, 2), seed=1))
    pair = matched(position, label, (CONCRETE, HALLUCINATED), seed=0)
    assert set(label[pair]) == {CONCRETE, HALLUCINATED}


def test_matching_without_one_class_leaves_nothing() -> None:
    assert len(matched(np.arange(10), np.zeros(10, int), (0, 1), seed=0)) == 0
    assert len(matched(np.zeros(0, int), np.zeros(0, int), (0, 1), seed=0)) == 0


def test_threshold_of_the_golden_unit() -> None:
    threshold = Threshold.of(np.arange(1, 21, dtype=float))
    assert threshold.value == pytest.approx(18.1)
    assert threshold.flag(np.arange(1, 21, dtype=float)).sum() == 2
    assert threshold.achieved == pytest.approx(0.1)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80))
def test_ten_percent_of_its_own_rows_are_flagged_and_at_most_one_row_more(scores: list[float]) -> None:
    """Interpolation between two order statistics: ceil((n - 1) / 10) of n distinct scores lie above."""
    threshold = Threshold.of(np.asarray(scores))
    assert round(threshold.achieved * len(scores)) <= np.ceil((len(scores) - 1) / 10)


def test_ties_at_the_top_flag_nothing_above() -> None:
    threshold = Threshold.of(np.asarray([0.0] * 5 + [1.0] * 5))
    assert threshold.value == 1
    assert threshold.achieved == 0
    assert threshold.flag(np.asarray([1.0, 1.1])).tolist() == [False, True]


def test_no_calibration_row_gives_no_flag() -> None:
    threshold = Threshold.of(np.zeros(0))
    assert np.isnan(threshold.value)
    assert not threshold.flag(np.asarray([9.0])).any()
