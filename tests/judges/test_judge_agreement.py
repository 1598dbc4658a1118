"""Agreement against scikit-learn, and the rule judge on real captions."""

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, precision_score, recall_score

from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.judges.agreement import agreement, cohens_kappa
from probekit.judges.rules import usage
from probekit.labels import NON_ASSERTIVE

SHARED = Path(__file__).resolve().parents[3] / "shared"
DEV = SHARED / "data" / "real" / "usage_dev.jsonl"
GREEDY = SHARED / "data" / "real" / "llava-1.5-7b_greedy_captions.jsonl"


@pytest.fixture
def labels() -> tuple[list[str], list[str], list[str]]:
    generator = np.random.default_rng(3)
    reference = generator.choice(["a", "b", "c"], p=[0.7, 0.2, 0.1], size=300)
    judged = np.where(generator.random(300) < 0.8, reference, generator.choice(["a", "b", "d"], size=300))
    return list(map(str, reference)), list(map(str, judged)), [f"caption {n // 3}" for n in range(300)]


def test_accuracy_and_kappa_equal_scikit_learn(labels: tuple[list[str], list[str], list[str]]) -> None:
    reference, judged, captions = labels
    found = agreement(reference, judged, captions, draws=0)
    assert found.accuracy == pytest.approx(accuracy_score(reference, judged))
    assert found.kappa == pytest.approx(cohen_kappa_score(reference, judged))
    for name, one in found.classes.items():
        here, there = [x == name for x in reference], [x == name for x in judged]
        assert one.kappa == pytest.approx(cohen_kappa_score(here, there))
        if one.judged:
            assert one.precision == pytest.approx(precision_score(here, there))
        if one.reference:
            assert one.recall == pytest.approx(recall_score(here, there))
    assert sum(count for row in found.confusion.values() for count in row.values()) == 300


def test_a_class_one_side_lacks_is_not_a_number(labels: tuple[list[str], list[str], list[str]]) -> None:
    reference, judged, captions = labels
    found = agreement(reference, judged, captions, draws=0)
    assert math.isnan(found.classes["d"].recall)
    assert found.classes["d"].reference == 0


def test_kappa_of_a_table_worked_by_hand() -> None:
    # Observed 0.7; expected 0.5 * 0.6 + 0.5 * 0.4 = 0.5; (0.7 - 0.5) / 0.5 = 0.4.
    assert cohens_kappa(np.array([[20, 5], [10, 15]])) == pytest.approx(0.4)
    assert math.isnan(cohens_kappa(np.array([[7]])))


def test_interval_resamples_captions_and_so_widens_when_captions_are_few() -> None:
    reference = ["a", "b"] * 60
    judged = ["a"] * 60 + ["a", "b"] * 30
    many = agreement(reference, judged, [str(n) for n in range(120)])
    few = agreement(reference, judged, [str(n // 60) for n in range(120)])
    assert many.accuracy_interval[0] < many.accuracy < many.accuracy_interval[1]
    width = many.accuracy_interval[1] - many.accuracy_interval[0]
    assert few.accuracy_interval[1] - few.accuracy_interval[0] > 2 * width


def test_no_rows_or_unequal_lengths_are_refused() -> None:
    with pytest.raises(InputError):
        agreement([], [], [])
    with pytest.raises(InputError):
        agreement(["a"], ["a", "b"], ["x"])


@pytest.mark.skipif(not DEV.exists(), reason="needs the shared data")
def test_rules_agree_with_the_labels_of_real_mentions() -> None:
    rows = [row for _, row in read_jsonl(DEV)]
    judged = [str(usage(row["caption"], row["start"], row["end"], row["category"]).usage) for row in rows]
    found = agreement([row["usage"] for row in rows], judged, [row["caption"] for row in rows], draws=0)
    assert found.n == 387
    assert found.accuracy >= 0.98
    assert found.kappa >= 0.96
    assert found.classes["existential"].precision >= 0.98
    assert found.classes["existential"].recall >= 0.98
    for subtype in NON_ASSERTIVE:
        assert found.classes[subtype].recall >= 0.9, subtype
        assert found.classes[subtype].precision >= 0.85, subtype


@pytest.mark.skipif(not DEV.exists(), reason="needs the shared data")
def test_an_assertive_judge_would_fail_the_floors() -> None:
    rows = [row for _, row in read_jsonl(DEV)]
    found = agreement(
        [r["usage"] for r in rows], ["existential"] * 387, [r["caption"] for r in rows], draws=0
    )
    assert found.kappa == pytest.approx(0.0)
    assert found.accuracy == pytest.approx(257 / 387)


@pytest.mark.skipif(not GREEDY.exists(), reason="needs the shared data")
def test_claims_are_the_rule_in_captions_of_llava() -> None:
    words = [
        "man",
        "woman",
        "people",
        "person",
        "car",
        "dog",
        "cat",
        "bench",
        "chair",
        "bus",
        "train",
        "pizza",
    ]
    counts: dict[str, int] = {}
    for _, row in read_jsonl(GREEDY):
        caption = row["caption"]
        for word in words:
            start = caption.find(f" {word} ") + 1
            if start > 0:
                said = str(
                    usage(caption, start, start + len(word), "person" if len(word) > 5 else word).usage
                )
                counts[said] = counts.get(said, 0) + 1
    total = sum(counts.values())
    assert total > 500
    assert 0.9 < counts["existential"] / total < 0.99
    # Denials are rare in this model: its captions almost never say what is absent.
    assert counts.get("negation", 0) / total < 0.01
