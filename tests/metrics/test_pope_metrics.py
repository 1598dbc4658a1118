"""POPE's metrics against hand counts, scikit-learn, and TRAPS 1."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from probekit.errors import InputError
from probekit.metrics.pope import Confusion, confusion, counts_by_image, difference, score
from probekit.readouts import string_parse


def codes(*words: str) -> np.ndarray:
    return np.array([{"yes": 1, "no": 0, "unknown": -1}[word] for word in words], dtype=np.int8)


LABELS = codes("yes", "yes", "no", "no")


def test_all_yes_has_a_yes_ratio_of_one() -> None:
    counts = confusion(LABELS, string_parse(["Yes"] * 4).decisions)
    assert counts == Confusion(2, 2, 0, 0)
    assert (counts.yes_ratio, counts.label_yes_ratio) == (1.0, 0.5)
    assert (counts.recall, counts.accuracy) == (1.0, 0.5)


def test_written_out_answers_are_right() -> None:
    answers = ["Yes.", "Yes, there is", "No.", "No, there is not"]
    assert confusion(LABELS, string_parse(answers).decisions).accuracy == 1.0


def test_an_unknown_answer_misses_its_object_and_is_neither_yes_nor_no() -> None:
    counts = confusion(LABELS, string_parse(["yes", "I cannot tell", "no", "no"]).decisions)
    assert counts == Confusion(1, 0, 0, 2, 1, 0)
    assert (counts.recall, counts.precision, counts.accuracy) == (0.5, 1.0, 0.75)
    assert round(counts.f1, 3) == 0.667
    assert (counts.unknown_yes + counts.unknown_no, counts.unknown_share) == (1, 0.25)
    assert counts.yes_ratio == 0.25


def test_an_unknown_answer_to_an_absent_object_is_no_false_yes_and_not_right() -> None:
    counts = confusion(LABELS, codes("yes", "yes", "unknown", "no"))
    assert counts == Confusion(2, 0, 0, 1, 0, 1)
    assert (counts.precision, counts.recall, counts.accuracy) == (1.0, 1.0, 0.75)


def test_nothing_answered_yes_has_no_precision_and_an_f1_of_zero() -> None:
    counts = confusion(LABELS, codes("no", "no", "no", "no"))
    assert math.isnan(counts.precision)
    assert (counts.f1, counts.recall) == (0.0, 0.0)
    assert math.isnan(Confusion(0, 0, 0, 0).f1)


@pytest.mark.parametrize("seed", range(4))
def test_decided_answers_agree_with_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 200).astype(np.int8)
    decisions = np.where(rng.random(200) < 0.7, labels, 1 - labels).astype(np.int8)
    counts = confusion(labels, decisions)
    assert counts.precision == pytest.approx(precision_score(labels, decisions))
    assert counts.recall == pytest.approx(recall_score(labels, decisions))
    assert counts.f1 == pytest.approx(f1_score(labels, decisions))
    assert counts.accuracy == pytest.approx(accuracy_score(labels, decisions))
    assert counts.yes_ratio == pytest.approx(decisions.mean())


def test_estimates_stand_inside_their_intervals_and_count_pictures() -> None:
    rng = np.random.default_rng(0)
    labels = np.tile(codes("yes", "no"), 150)
    decisions = np.where(rng.random(300) < 0.8, labels, 1 - labels).astype(np.int8)
    images = [f"{i // 6}" for i in range(300)]
    scores = score(labels, decisions, images, draws=300)
    assert scores.images == 50
    for name, estimate in scores.estimates().items():
        assert estimate.value == getattr(scores.confusion, name)
        assert estimate.low <= estimate.value <= estimate.high, name
    assert scores.f1.high - scores.f1.low > 0.02
    again = score(labels, decisions, images, draws=300)
    assert again == scores


def test_each_measure_counts_the_questions_and_pictures_of_its_own_base() -> None:
    """Ten pictures, asked about one object present and one absent; yes is said to both in the first three,
    to neither in the next five, and two answers are unknown."""
    labels = np.tile(codes("yes", "no"), 10)
    decisions = codes(*["yes"] * 6, *["no"] * 10, *["unknown"] * 4)
    found = score(labels, decisions, [f"{i // 2}" for i in range(20)], draws=0)
    counts = {name: (estimate.n, estimate.groups) for name, estimate in found.estimates().items()}
    assert counts.pop("precision") == (6, 3), "what was answered yes"
    assert counts.pop("recall") == (10, 10), "what is present"
    assert counts.pop("f1") == (13, 10), "either"
    assert set(counts.values()) == {(20, 10)}


def test_pictures_are_drawn_whole() -> None:
    # Every picture is all right or all wrong: six questions of one picture are one observation, so the
    # interval is about sqrt(6) wider than that of independent questions.
    labels = np.tile(codes("yes", "no"), 300)
    right = np.repeat(np.random.default_rng(1).random(100) < 0.7, 6)
    decisions = np.where(right, labels, 1 - labels).astype(np.int8)
    by_image = score(labels, decisions, [f"{i // 6}" for i in range(600)], draws=400).accuracy
    alone = score(labels, decisions, [f"{i}" for i in range(600)], draws=400).accuracy
    ratio = (by_image.high - by_image.low) / (alone.high - alone.low)
    assert 1.9 < ratio < 3.1
    # Standard error of a share over 100 pictures, by the closed form.
    share = by_image.value
    assert (by_image.high - by_image.low) / 3.92 == pytest.approx(
        math.sqrt(share * (1 - share) / 100), rel=0.2
    )


def test_one_picture_has_no_interval() -> None:
    scores = score(LABELS, LABELS, ["a"] * 4)
    assert scores.f1.value == 1.0
    assert math.isnan(scores.f1.low)


def test_counts_by_image_sum_to_the_whole() -> None:
    table = counts_by_image(LABELS, codes("yes", "no", "yes", "unknown"), ["a", "b", "a", "b"])
    assert table.tolist() == [[1, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 1]]


def test_measures_that_never_vary_have_wilsons_interval_on_their_pictures() -> None:
    labels = np.tile(codes("yes", "no", "no"), 20)
    images = [f"{i // 3}" for i in range(60)]
    found = score(labels, labels, images, draws=50)
    end = stats.binomtest(20, 20).proportion_ci(method="wilson")
    for name in ("f1", "precision", "recall", "accuracy"):
        assert (getattr(found, name).low, getattr(found, name).high) == pytest.approx((end.low, 1.0)), name
    assert found.unknown_share.high == pytest.approx(1 - end.low)


def test_a_difference_is_paired_by_picture() -> None:
    rng = np.random.default_rng(2)
    labels = np.tile(codes("yes", "no"), 150)
    images = [f"{i // 6}" for i in range(300)]
    first = np.where(rng.random(300) < 0.8, labels, 1 - labels).astype(np.int8)
    second = first.copy()
    second[:12] = labels[:12]
    gain = difference(labels, first, second, images, draws=300)
    assert gain.value == pytest.approx(confusion(labels, second).f1 - confusion(labels, first).f1)
    same = difference(labels, first, first, images, draws=100)
    assert same.value == 0.0
    assert np.isnan(same.low), "no width is no certainty"
    # Pairing removes what both share: the interval is far narrower than that of either F1.
    alone = score(labels, first, images, draws=300).f1
    assert gain.high - gain.low < (alone.high - alone.low) / 2


def test_codes_and_lengths_are_checked() -> None:
    with pytest.raises(InputError, match="label -1"):
        confusion(codes("unknown"), codes("yes"))
    with pytest.raises(InputError, match="decision 2"):
        confusion(codes("yes"), np.array([2], dtype=np.int8))
    with pytest.raises(InputError, match="1 pictures"):
        counts_by_image(LABELS, LABELS, ["a"])
