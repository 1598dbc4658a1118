"""THRONE: language models read a caption and vote on what it says is there (Kaul et al. 2024; SPEC 3.2).

Votes collapse to present, absent or disqualified; disqualified classes leave both sides. The headline is the
class-wise F0.5. What the release calls micro averaging is a mean over images and is named so here.

The released scorer updates its counter with a category's letters instead of its name and takes the number of
yes answers for the number of votes; the rule below is the one its documentation and paper state.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from jaxtyping import Bool, Float, Int

from probekit.errors import InputError
from probekit.metrics.estimates import DRAWS, Estimate, statistic


class Verdict(StrEnum):
    """What the votes on one class in one caption come to."""

    PRESENT = "present"
    DISQUALIFIED = "disqualified"
    ABSENT = "absent"


def collapse(yes: int, threshold: int, votes: int) -> Verdict:
    """Present from ``threshold`` yes votes on; disqualified when neither answer reaches it; else absent.

    Raises:
        InputError: the threshold is not between one and the number of votes, or the count is none.
    """
    if not 1 <= threshold <= votes or not 0 <= yes <= votes:
        raise InputError(f"{yes} yes of {votes} votes at threshold {threshold} is not possible")
    if yes >= threshold:
        return Verdict.PRESENT
    return Verdict.DISQUALIFIED if votes - threshold < yes else Verdict.ABSENT


def majority(votes: int) -> int:
    """Smallest threshold that is more than half of the votes: 5 of 9, 2 of 3 (NAME-Bench App. F)."""
    return votes // 2 + 1


@dataclass(frozen=True, slots=True)
class Scores:
    """One averaging of precision, recall and F, with intervals over resampled images.

    Attributes:
        precision: of classes judged present, those annotated.
        recall: of classes annotated, those judged present.
        f1: their harmonic mean.
        f_half: F with beta 0.5, which weighs precision twice as much.
    """

    precision: Estimate
    recall: Estimate
    f1: Estimate
    f_half: Estimate


@dataclass(frozen=True)
class Ballot:
    """Verdicts beside the truth; the axes are captions and classes.

    Attributes:
        images: image of each caption, the unit of resampling.
        present: judged present.
        disqualified: neither judged present nor absent; left out of both sides.
        truth: annotated in the image.
    """

    images: Sequence[str]
    present: Bool[np.ndarray, "caption class"]
    disqualified: Bool[np.ndarray, "caption class"]
    truth: Bool[np.ndarray, "caption class"]

    @classmethod
    def of(
        cls,
        verdicts: Mapping[str, Mapping[str, Verdict]],
        truth: Mapping[str, frozenset[str]],
        classes: Sequence[str],
        images: Mapping[str, str],
    ) -> "Ballot":
        """Arrange verdicts by caption and class.

        Args:
            verdicts: caption id to class to verdict.
            truth: caption id to the classes annotated in its image.
            classes: all classes, the second axis.
            images: caption id to image.

        Raises:
            InputError: a class was not voted on for a caption.
        """
        captions = list(verdicts)
        for caption in captions:
            missing = [name for name in classes if name not in verdicts[caption]]
            if missing:
                raise InputError(
                    f"no votes on {missing[0]!r}",
                    where=f"caption {caption}",
                    hint="These scores need votes on every class; ask only about mentions otherwise.",
                )
        shape = (len(captions), len(classes))

        def grid(wanted: Verdict) -> Bool[np.ndarray, "caption class"]:
            rows = [[verdicts[caption][name] is wanted for name in classes] for caption in captions]
            return np.asarray(rows, dtype=bool).reshape(shape)

        annotated = [[name in truth[caption] for name in classes] for caption in captions]
        return cls(
            [images[caption] for caption in captions],
            grid(Verdict.PRESENT),
            grid(Verdict.DISQUALIFIED),
            np.asarray(annotated, dtype=bool).reshape(shape),
        )

    def class_wise(self, *, draws: int = DRAWS, seed: int = 0) -> Scores:
        """Precision, recall and F of each class over images, then their mean over classes that have it."""
        judged = ~self.disqualified
        predicted = (self.present & judged).astype(float)
        annotated = (self.truth & judged).astype(float)
        correct = predicted * annotated

        def measures(weight: Int[np.ndarray, " caption"]) -> Float[np.ndarray, "4"]:
            right = weight @ correct
            return _means(_divide(right, weight @ predicted), _divide(right, weight @ annotated))

        return self._scores(measures, draws, seed)

    def per_image(self, *, draws: int = DRAWS, seed: int = 0) -> Scores:
        """Precision, recall and F of each caption over classes, then their mean over captions.

        A caption without a class on either side scores 0 in both; its F is undefined and left out.
        """
        judged = ~self.disqualified
        predicted = (self.present & judged).sum(axis=1)
        annotated = (self.truth & judged).sum(axis=1)
        correct = (self.present & self.truth & judged).sum(axis=1)
        empty = (predicted == 0) | (annotated == 0)
        precision = np.where(empty, 0.0, _divide(correct, predicted))
        recall = np.where(empty, 0.0, _divide(correct, annotated))

        def measures(weight: Int[np.ndarray, " caption"]) -> Float[np.ndarray, "4"]:
            return _means(np.repeat(precision, weight), np.repeat(recall, weight))

        return self._scores(measures, draws, seed)

    def _scores(
        self, measures: Callable[[Int[np.ndarray, " caption"]], Float[np.ndarray, "4"]], draws: int, seed: int
    ) -> Scores:
        def one(place: int) -> Estimate:
            return statistic(
                lambda weight: float(measures(weight)[place]), self.images, draws=draws, seed=seed
            )

        return Scores(one(0), one(1), one(2), one(3))


def f_beta(
    precision: Float[np.ndarray, " any"], recall: Float[np.ndarray, " any"], beta: float
) -> Float[np.ndarray, " any"]:
    """F with weight ``beta`` on recall; NaN where precision and recall are both 0."""
    square = beta * beta
    return _divide((1 + square) * precision * recall, square * precision + recall)


def _means(precision: Float[np.ndarray, " any"], recall: Float[np.ndarray, " any"]) -> Float[np.ndarray, "4"]:
    columns = (precision, recall, f_beta(precision, recall, 1.0), f_beta(precision, recall, 0.5))
    return np.asarray([_nan_mean(column) for column in columns])


def _nan_mean(values: Float[np.ndarray, " any"]) -> float:
    kept = values[~np.isnan(values)]
    return float(kept.mean()) if kept.size else float("nan")


def _divide(top: np.ndarray, bottom: np.ndarray) -> Float[np.ndarray, " any"]:
    numerator, denominator = np.asarray(top, float), np.asarray(bottom, float)
    out = np.full(numerator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out
