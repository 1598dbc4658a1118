"""Choosing a correction's parameters on calibration pictures and measuring it on the others."""

import random
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Int8

from probekit.errors import InputError
from probekit.files import Json
from probekit.metrics.estimates import DRAWS, Estimate
from probekit.metrics.pope import PopeScores, confusion, difference, score
from probekit.scores.corrections import BASELINE, CORRECTIONS, Correction, Evidence, image_mask


@dataclass(frozen=True)
class TunedCorrection:
    """One correction, tuned on some pictures and measured on all others.

    Attributes:
        correction: the value chosen, with its parameters.
        unchanged: whether the uncorrected readout was best there, so that nothing is corrected.
        tried: how many candidates were compared on the calibration pictures.
        calibration_images: pictures it was chosen on.
        calibration_f1: its F1 there; optimistic by construction.
        test_images: pictures it was measured on; none of the calibration ones.
        baseline: the uncorrected readout on the test pictures.
        corrected: the correction on the test pictures.
        gain: F1 corrected minus baseline, paired by picture, with its interval.
    """

    correction: Correction
    unchanged: bool
    tried: int
    calibration_images: int
    calibration_f1: float
    test_images: int
    baseline: PopeScores
    corrected: PopeScores
    gain: Estimate

    def record(self) -> Json:
        """The result as plain values, for a report."""
        return {
            "correction": self.correction.name,
            "parameters": asdict(self.correction),  # type: ignore[call-overload]
            "unchanged": self.unchanged,
            "tried": self.tried,
            "calibration_images": self.calibration_images,
            "calibration_f1": self.calibration_f1,
            "test_images": self.test_images,
            "baseline": {k: asdict(v) for k, v in self.baseline.estimates().items()},
            "corrected": {k: asdict(v) for k, v in self.corrected.estimates().items()},
            "gain_f1": asdict(self.gain),
        }


def calibration_images(images: Sequence[str], share: float = 0.3, seed: int = 0) -> frozenset[str]:
    """A seeded share of the distinct pictures, at least one on either side.

    Raises:
        InputError: fewer than two pictures, or a share outside (0, 1).
    """
    distinct = sorted(set(images))
    if len(distinct) < 2 or not 0 < share < 1:
        raise InputError(f"{len(distinct)} pictures cannot be split with a calibration share of {share}")
    count = min(max(round(share * len(distinct)), 1), len(distinct) - 1)
    return frozenset(random.Random(seed).sample(distinct, count))


def tune(
    kind: str,
    evidence: Evidence,
    labels: Int8[np.ndarray, "question"],
    images: Sequence[str],
    calibration: Collection[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> TunedCorrection:
    """Choose the candidate with the best F1 on the calibration pictures, the mildest among equals.

    Candidates are made from the calibration evidence alone, so nothing of a test picture, not even its
    scale, reaches the choice.

    Args:
        kind: name in `CORRECTIONS`.
        calibration: pictures to tune on; all others are the test.

    Raises:
        InputError: unknown kind, or no picture on one of the two sides.
        UnservedError: the evidence lacks a column the kind needs.
    """
    if kind not in CORRECTIONS:
        raise InputError(f"unknown correction {kind!r}", hint=f"Known: {', '.join(CORRECTIONS)}.")
    tuned_on = image_mask(images, calibration)
    if not tuned_on.any() or tuned_on.all():
        raise InputError(
            f"{int(tuned_on.sum())} of {len(images)} questions are for calibration",
            hint="Both calibration and test need pictures.",
        )
    seen, held_out = evidence.take(tuned_on), evidence.take(~tuned_on)
    candidates: tuple[Correction, ...] = CORRECTIONS[kind].candidates(seen)
    values = [confusion(labels[tuned_on], candidate.decide(seen)).f1 for candidate in candidates]
    best = int(np.argmax(values))
    test_labels = labels[~tuned_on]
    test_images = [image for image, tuned in zip(images, tuned_on, strict=True) if not tuned]
    before, after = BASELINE.decide(held_out), candidates[best].decide(held_out)
    return TunedCorrection(
        correction=candidates[best],
        unchanged=best == 0,
        tried=len(candidates),
        calibration_images=len({i for i, tuned in zip(images, tuned_on, strict=True) if tuned}),
        calibration_f1=values[best],
        test_images=len(set(test_images)),
        baseline=score(test_labels, before, test_images, draws=draws, seed=seed),
        corrected=score(test_labels, after, test_images, draws=draws, seed=seed),
        gain=difference(test_labels, before, after, test_images, draws=draws, seed=seed),
    )
