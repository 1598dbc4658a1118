"""Corrections decide by their rule, need their column, and are tuned on calibration pictures only."""

import numpy as np
import pytest

from probekit.errors import InputError, UnservedError
from probekit.metrics.pope import confusion
from probekit.scores.correction_tuning import calibration_images, tune
from probekit.scores.corrections import (
    BASELINE,
    CORRECTIONS,
    AttentionGating,
    CertaintyWeighting,
    EntropyGating,
    Evidence,
    MagnitudeGating,
    YesBiasShift,
)

GAP = np.array([2.0, 0.5, 0.0, -0.5, -2.0])


def everything(n: int = 600, seed: int = 0) -> tuple[Evidence, np.ndarray, list[str]]:
    """Questions whose gap is biased to yes, and whose other columns tell right from wrong."""
    rng = np.random.default_rng(seed)
    labels = np.tile(np.array([1, 0], dtype=np.int8), n // 2)
    gap = (labels - 0.5) * 2 + rng.normal(0.9, 1.0, n)
    wrong_yes = (gap > 0) & (labels == 0)
    return (
        Evidence(
            gap,
            entropy=np.where(wrong_yes, 1.0, 0.4) + rng.normal(0, 0.2, n),
            attention=np.where(wrong_yes, 0.6, 0.4) + rng.normal(0, 0.1, n),
            certainty=labels * 1.0 + rng.normal(0, 0.5, n),
        ),
        labels,
        [f"{i // 6}" for i in range(n)],
    )


def test_each_rule_by_hand() -> None:
    assert BASELINE.decide(Evidence(GAP)).tolist() == [1, 1, 0, 0, 0]
    assert YesBiasShift(1.0).decide(Evidence(GAP)).tolist() == [1, 0, 0, 0, 0]
    assert YesBiasShift(-1.0).decide(Evidence(GAP)).tolist() == [1, 1, 1, 1, 0]
    assert MagnitudeGating(1.0).decide(Evidence(GAP)).tolist() == [1, 0, 0, 0, 0]
    entropy = Evidence(GAP, entropy=np.array([0.9, 0.1, 0.9, 0.9, 0.1]))
    assert EntropyGating(0.5).decide(entropy).tolist() == [0, 1, 0, 0, 0]
    attention = Evidence(GAP, attention=np.array([0.1, 0.9, 0.5, 0.9, 0.1]))
    assert AttentionGating(0.5, "low").decide(attention).tolist() == [0, 1, 0, 0, 0]
    assert AttentionGating(0.5, "high").decide(attention).tolist() == [1, 0, 0, 0, 0]


def test_certainty_moves_the_gap() -> None:
    # Mean 0, sd 1. z = 0 costs beta / 2: .5 - 2 / 2 < 0; a large z costs nothing.
    evidence = Evidence(np.array([0.5, 0.5, -0.5]), certainty=np.array([0.0, 50.0, 50.0]))
    assert CertaintyWeighting(2.0).decide(evidence).tolist() == [0, 1, 0]
    assert CertaintyWeighting(2.0, suppress_only=False).decide(evidence).tolist() == [1, 1, 1]
    certain = Evidence(np.array([0.5]), certainty=np.array([-900.0]))
    assert CertaintyWeighting(0.4).decide(certain).tolist() == [1]


def test_a_missing_value_is_unknown_only_where_it_is_needed() -> None:
    evidence = Evidence(np.array([1.0, -1.0, np.nan]), entropy=np.array([np.nan, np.nan, 0.1]))
    assert EntropyGating(0.5).decide(evidence).tolist() == [-1, 0, -1]


@pytest.mark.parametrize("kind", ["entropy_gating", "attention_gating", "certainty_weighting"])
def test_a_column_that_is_not_there_is_named(kind: str) -> None:
    with pytest.raises(UnservedError, match=kind):
        CORRECTIONS[kind]().decide(Evidence(GAP))
    with pytest.raises(UnservedError, match=kind):
        CORRECTIONS[kind].candidates(Evidence(GAP))


@pytest.mark.parametrize("kind", list(CORRECTIONS))
def test_every_kind_can_leave_the_readout_as_it_is(kind: str) -> None:
    evidence, _, _ = everything()
    assert CORRECTIONS[kind].candidates(evidence)[0].decide(evidence).tolist() == (
        BASELINE.decide(evidence).tolist()
    )


@pytest.mark.parametrize("kind", ["entropy_gating", "magnitude_gating", "attention_gating"])
def test_gates_only_take_yes_answers_away(kind: str) -> None:
    evidence, _, _ = everything()
    before = BASELINE.decide(evidence)
    for candidate in CORRECTIONS[kind].candidates(evidence):
        assert (candidate.decide(evidence) <= before).all()


@pytest.mark.parametrize("kind", list(CORRECTIONS))
def test_tuning_reads_calibration_pictures_only(kind: str) -> None:
    evidence, labels, images = everything()
    calibration = calibration_images(images, 0.3, seed=1)
    found = tune(kind, evidence, labels, images, calibration, draws=50)
    assert found.calibration_images == 30
    assert found.test_images == 70
    # Whatever the test pictures hold, the choice stays the same.
    test = np.array([image not in calibration for image in images])
    rng = np.random.default_rng(9)
    spoiled = Evidence(
        *(
            np.where(test, rng.normal(5, 9, len(labels)), column)
            for column in (evidence.gap, evidence.entropy, evidence.attention, evidence.certainty)
        )
    )
    flipped = np.where(test, 1 - labels, labels).astype(np.int8)
    again = tune(kind, spoiled, flipped, images, calibration, draws=50)
    assert again.correction == found.correction
    assert again.calibration_f1 == found.calibration_f1


@pytest.mark.parametrize(
    "kind", ["yes_bias_shift", "entropy_gating", "attention_gating", "certainty_weighting"]
)
def test_a_column_that_tells_right_from_wrong_helps(kind: str) -> None:
    evidence, labels, images = everything()
    found = tune(kind, evidence, labels, images, calibration_images(images), draws=100)
    assert found.gain.value > 0.01
    assert found.gain.low <= found.gain.value <= found.gain.high
    assert found.gain.value == pytest.approx(found.corrected.f1.value - found.baseline.f1.value)
    if kind == "attention_gating":
        assert found.correction.suppress == "high"


def test_a_column_of_noise_hardly_helps() -> None:
    evidence, labels, images = everything()
    noise = Evidence(evidence.gap, entropy=np.random.default_rng(3).random(len(labels)))
    found = tune("entropy_gating", noise, labels, images, calibration_images(images), draws=50)
    assert abs(found.gain.value) < 0.03


def test_when_nothing_helps_nothing_is_corrected() -> None:
    # Every answer is right and every gap the same: no candidate can beat the readout.
    labels = np.tile(np.array([1, 0], dtype=np.int8), 30)
    evidence = Evidence(np.where(labels == 1, 1.0, -1.0))
    images = [f"{i // 6}" for i in range(60)]
    found = tune("yes_bias_shift", evidence, labels, images, {"0", "1"}, draws=5)
    assert found.unchanged
    assert found.correction == BASELINE
    assert (found.gain.value, found.corrected) == (0.0, found.baseline)
    biased, biased_labels, biased_images = everything()
    shifted = tune("yes_bias_shift", biased, biased_labels, biased_images, {"0", "1", "2"}, draws=5)
    assert not shifted.unchanged


def test_the_measured_result_is_that_of_the_chosen_value() -> None:
    evidence, labels, images = everything()
    calibration = calibration_images(images)
    found = tune("yes_bias_shift", evidence, labels, images, calibration, draws=20)
    test = np.array([image not in calibration for image in images])
    decided = found.correction.decide(evidence.take(test))
    assert found.corrected.confusion == confusion(labels[test], decided)
    record = found.record()
    assert record["parameters"] == {"shift": found.correction.shift}
    assert record["corrected"]["f1"]["value"] == found.corrected.f1.value


def test_bad_splits_and_kinds_are_refused() -> None:
    evidence, labels, images = everything(12)
    with pytest.raises(InputError, match="unknown correction"):
        tune("magic", evidence, labels, images, {"0"})
    for calibration in ((), set(images)):
        with pytest.raises(InputError, match="Both calibration and test"):
            tune("yes_bias_shift", evidence, labels, images, calibration)
    with pytest.raises(InputError, match="1 pictures"):
        calibration_images(["a", "a"])
    assert calibration_images(["a", "b"], 0.01) < {"a", "b"}
