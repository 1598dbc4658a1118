"""THRONE's arithmetic against definitions written out, and scikit-learn where it defines the same."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from probekit.errors import InputError
from probekit.labels import RowLabel, Usage
from probekit.metrics.throne import Ballot, Verdict, collapse, majority
from probekit.metrics.throne_mentions import flagged_by_group
from probekit.metrics.throne_score import default_thresholds
from probekit.rows import RowKey


@pytest.mark.parametrize(("votes", "expected"), [(9, 5), (3, 2), (1, 1), (4, 3)])
def test_majority_is_more_than_half(votes: int, expected: int) -> None:
    assert majority(votes) == expected


def test_default_thresholds() -> None:
    assert default_thresholds(9) == (9, 8, 5)
    assert default_thresholds(3) == (3, 2)
    assert default_thresholds(1) == (1,)


def test_a_majority_of_an_odd_number_disqualifies_nothing() -> None:
    for votes in (1, 3, 5, 7, 9):
        found = {collapse(yes, majority(votes), votes) for yes in range(votes + 1)}
        assert Verdict.DISQUALIFIED not in found


def test_collapse_is_symmetric_between_yes_and_no() -> None:
    mirror = {
        Verdict.PRESENT: Verdict.ABSENT,
        Verdict.ABSENT: Verdict.PRESENT,
        Verdict.DISQUALIFIED: Verdict.DISQUALIFIED,
    }
    for threshold, yes in itertools.product(range(5, 10), range(10)):
        assert collapse(9 - yes, threshold, 9) is mirror[collapse(yes, threshold, 9)]


@pytest.mark.parametrize(("yes", "threshold", "votes"), [(10, 9, 9), (-1, 5, 9), (3, 0, 9), (3, 10, 9)])
def test_impossible_counts_are_refused(yes: int, threshold: int, votes: int) -> None:
    with pytest.raises(InputError):
        collapse(yes, threshold, votes)


Grid = np.ndarray


def grids(captions: int, classes: int, seed: int) -> tuple[Grid, Grid, Grid]:
    generator = np.random.default_rng(seed)
    kind = generator.integers(0, 3, (captions, classes))
    return kind == 0, kind == 1, generator.random((captions, classes)) < 0.4


def ballot(present: Grid, disqualified: Grid, truth: Grid) -> Ballot:
    return Ballot([str(n) for n in range(len(present))], present, disqualified, truth)


def f_beta(p: float, r: float, beta: float) -> float:
    bottom = beta * beta * p + r
    return (1 + beta * beta) * p * r / bottom if bottom > 0 else math.nan


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 10_000))
def test_class_wise_and_per_image_follow_their_definitions(captions: int, classes: int, seed: int) -> None:
    present, disqualified, truth = grids(captions, classes, seed)
    result = ballot(present, disqualified, truth)
    by_class, by_image = [], []
    for column in range(classes):
        judged = [row for row in range(captions) if not disqualified[row, column]]
        predicted = {row for row in judged if present[row, column]}
        annotated = {row for row in judged if truth[row, column]}
        p = len(predicted & annotated) / len(predicted) if predicted else math.nan
        r = len(predicted & annotated) / len(annotated) if annotated else math.nan
        f = math.nan if math.isnan(p) or math.isnan(r) else f_beta(p, r, 0.5)
        by_class.append((p, r, f))
    for row in range(captions):
        judged = [column for column in range(classes) if not disqualified[row, column]]
        predicted = {column for column in judged if present[row, column]}
        annotated = {column for column in judged if truth[row, column]}
        both = bool(predicted and annotated)
        p = len(predicted & annotated) / len(predicted) if both else 0.0
        r = len(predicted & annotated) / len(annotated) if both else 0.0
        by_image.append((p, r, f_beta(p, r, 0.5)))
    for scores, rows in ((result.class_wise(draws=0), by_class), (result.per_image(draws=0), by_image)):
        for measured, values in zip(
            (scores.precision, scores.recall, scores.f_half), zip(*rows, strict=True), strict=True
        ):
            kept = [value for value in values if not math.isnan(value)]
            expected = sum(kept) / len(kept) if kept else math.nan
            assert measured.value == pytest.approx(expected, nan_ok=True)


def test_class_wise_equals_scikit_learn_where_every_class_has_both_sides() -> None:
    present, _, truth = grids(60, 5, 1)
    scores = ballot(present, np.zeros_like(present), truth).class_wise(draws=0)
    for beta, measured in ((1.0, scores.f1), (0.5, scores.f_half)):
        p, r, f, _ = precision_recall_fscore_support(truth, present, beta=beta, average="macro")
        assert (scores.precision.value, scores.recall.value) == (pytest.approx(p), pytest.approx(r))
        assert measured.value == pytest.approx(f)


def test_a_class_with_nothing_right_counts_in_precision_and_not_in_f() -> None:
    present = np.array([[True, True], [False, True]])
    truth = np.array([[True, False], [True, False]])
    scores = ballot(present, np.zeros_like(present), truth).class_wise(draws=0)
    assert scores.precision.value == 0.5
    assert scores.recall.value == 0.5
    assert scores.f1.value == pytest.approx(2 / 3)


def test_disqualified_classes_leave_both_sides() -> None:
    present = np.array([[True, False]])
    truth = np.array([[True, True]])
    none = ballot(present, np.array([[False, False]]), truth).per_image(draws=0)
    left = ballot(present, np.array([[False, True]]), truth).per_image(draws=0)
    assert (none.recall.value, left.recall.value) == (0.5, 1.0)


def test_intervals_resample_images() -> None:
    present, disqualified, truth = grids(40, 4, 3)
    one = ballot(present, disqualified, truth).class_wise(draws=200)
    assert one.f_half.low < one.f_half.value < one.f_half.high
    twice = Ballot(
        [str(n) for n in range(40)] * 2, *(np.concatenate([g, g]) for g in (present, disqualified, truth))
    ).class_wise(draws=200)
    assert twice.f_half.low == pytest.approx(one.f_half.low)


def test_a_class_without_votes_is_named() -> None:
    with pytest.raises(InputError, match="caption c: no votes on 'cat'"):
        Ballot.of({"c": {"dog": Verdict.PRESENT}}, {"c": frozenset()}, ("dog", "cat"), {"c": "i"})


def test_mentions_are_flagged_only_when_judged_present_and_absent() -> None:
    cases = [
        (Usage.EXISTENTIAL, False, Verdict.PRESENT),
        (Usage.EXISTENTIAL, False, Verdict.DISQUALIFIED),
        (Usage.EXISTENTIAL, False, Verdict.ABSENT),
        (Usage.EXISTENTIAL, True, Verdict.PRESENT),
        (Usage.NEGATION, False, Verdict.ABSENT),
        (Usage.HEDGED, False, Verdict.PRESENT),
        (Usage.HEDGED, False, Verdict.DISQUALIFIED),
        (Usage.HEDGED, True, Verdict.PRESENT),
        (Usage.GENERIC, False, Verdict.PRESENT),
        (Usage.EXISTENTIAL, None, Verdict.PRESENT),
    ]
    labels = [RowLabel(RowKey("e", n), usage, here) for n, (usage, here, _) in enumerate(cases)]
    verdicts = [verdict for _, _, verdict in cases]
    found = {
        one.group: (one.share.value, one.share.n, one.disqualified)
        for one in flagged_by_group(labels, verdicts, [str(n) for n in range(len(cases))])
    }
    assert found["hallucinated"] == (pytest.approx(1 / 3), 3, 1)
    assert found["concrete"] == (0.0, 1, 0)
    assert found["hedged"] == (0.5, 2, 1)
    assert found["negation"] == (0.0, 1, 0)
    assert found["non_assertive"] == (pytest.approx(1 / 3), 3, 1)
    assert found["purpose"][1] == 0
    assert math.isnan(found["purpose"][0])
