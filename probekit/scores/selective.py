"""Answer only what one is sure of: accuracy at a coverage, risk-coverage curves and their areas."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from probekit.errors import InputError
from probekit.metrics.estimates import DRAWS, Estimate, statistics
from probekit.scores.taxonomy import Category

Ties = Literal["input", "average"]
"""Rows of equal confidence: ``input`` keeps their order (SPEC 4.5), ``average`` takes the mean over all
orders, so that the order of a file plays no part."""


@dataclass(frozen=True)
class Selective:
    """How well a confidence tells right answers from wrong ones. SPEC 4.5.

    Attributes:
        accuracy: share of right answers at full coverage.
        accuracy_at: the same among the most confident ``coverage`` of rows; ``n`` counts these, and those
            tied with the last where ties are averaged.
        gain: ``accuracy_at`` minus ``accuracy``.
        aurc: mean over k of the error rate among the k most confident rows; lower is better.
        oracle: the least AURC this many errors allow.
        e_aurc: AURC above the oracle's.
        augrc: mean over k of (errors among the k most confident) / n; lower is better.
        coverage: the share asked for.
        tied: rows that share their confidence with another row, see `Ties`.
    """

    accuracy: Estimate
    accuracy_at: Estimate
    gain: Estimate
    aurc: Estimate
    oracle: Estimate
    e_aurc: Estimate
    augrc: Estimate
    coverage: float
    tied: int


def confidence(category: Category, lad: float, vns: float) -> float:
    """Confidence by diagnosis: LAD for P.B., VNS for L.SC, LAD + VNS otherwise. Tri-Layer 5.6; SPEC 4.5.

    The paper gives no rule for Robust Refusal, which it never observed; it lies in the same region as
    Visual Sycophancy and is treated alike. An undefined category has no confidence (NaN).
    """
    if category is Category.UNDEFINED:
        return math.nan
    if category is Category.PERCEPTUAL_BLINDNESS:
        return lad
    if category is Category.LANGUAGE_SHORTCUT:
        return vns
    return lad + vns


def risk_coverage(
    confidences: Float[np.ndarray, "row"], errors: Float[np.ndarray, "row"]
) -> tuple[Float[np.ndarray, "row"], Float[np.ndarray, "row"]]:
    """Coverage k/n and the error rate among the k most confident rows, for k = 1..n.

    Ties keep the order of the input; `averaged` errors have no order. Raises `InputError` on NaN:
    drop and count such rows first.
    """
    ranked = errors[_order(confidences)]
    k = np.arange(1, len(ranked) + 1)
    return k / max(len(ranked), 1), np.cumsum(ranked) / k


def aurc(ranked: Float[np.ndarray, "row"]) -> float:
    """Area under the risk-coverage curve of errors ranked by falling confidence, as a plain mean over k."""
    if ranked.size == 0:
        return math.nan
    return float((np.cumsum(ranked) / np.arange(1, ranked.size + 1)).mean())


def augrc(ranked: Float[np.ndarray, "row"]) -> float:
    """Area under the generalised curve: risk counts abstentions as no error instead of leaving them out."""
    return float((np.cumsum(ranked) / ranked.size).mean()) if ranked.size else math.nan


def accuracy_at(ranked: Float[np.ndarray, "row"], coverage: float = 0.5) -> float:
    """Accuracy of the ceil(coverage * n) most confident rows."""
    if ranked.size == 0:
        return math.nan
    return float(1.0 - ranked[: max(1, math.ceil(round(coverage * ranked.size, 9)))].mean())


def selective(
    confidences: Float[np.ndarray, "row"],
    correct: Bool[np.ndarray, "row"],
    images: Sequence[str],
    *,
    coverage: float = 0.5,
    ties: Ties = "input",
    draws: int = DRAWS,
    seed: int = 0,
) -> Selective:
    """Selective prediction with intervals over resampled images.

    Args:
        confidences: higher is surer; a detector's score enters negated. NaN rows are excluded and counted.
        correct: whether the answer is right; for detectors, whether the mention is real.
        images: the unit of sampling of each row; pass the sample ids when every sample has its own image.
        coverage: share of rows answered, in (0, 1].
        ties: what becomes of equal confidences.

    Raises:
        InputError: lengths differ, or the coverage is out of range.
    """
    if not len(confidences) == len(correct) == len(images):
        raise InputError(f"{len(confidences)} confidences, {len(correct)} answers, {len(images)} images")
    if not 0 < coverage <= 1:
        raise InputError(f"coverage {coverage}", hint="Give a share above 0 and at most 1.")
    kept = ~np.isnan(confidences)
    excluded = int((~kept).sum())
    order = _order(confidences[kept])
    ranked = (~correct[kept][order]).astype(np.float64)
    groups = [image for image, keep in zip(images, kept, strict=True) if keep]
    groups = [groups[i] for i in order]

    levels = ranks(confidences[kept])[order]

    def compute(counts: Int[np.ndarray, "row"]) -> tuple[float, ...]:
        drawn = np.repeat(ranked, counts)
        expected = drawn if ties == "input" else _level_means(drawn, np.repeat(levels, counts))
        return _measures(expected, drawn, coverage)

    answered = min(ranked.size, max(1, math.ceil(round(coverage * ranked.size, 9))))
    if answered and ties == "average":
        # those tied with the last one answered count as well
        answered = int((levels <= levels[answered - 1]).sum())
    behind = ((len(groups), len(set(groups))), (answered, len(set(groups[:answered]))))
    found = statistics(compute, groups, shares=behind, draws=draws, seed=seed, excluded=excluded)
    accuracy, at, gain, area, oracle, excess, generalised = found
    _, counts = np.unique(confidences[kept], return_counts=True)
    tied = int(counts[counts > 1].sum())
    return Selective(accuracy, at, gain, area, oracle, excess, generalised, coverage, tied)


def ranks(confidences: Float[np.ndarray, "row"]) -> Int[np.ndarray, "row"]:
    """Place of each row's confidence among the distinct ones, 0 for the surest."""
    return np.asarray(np.unique(-confidences, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def averaged(
    confidences: Float[np.ndarray, "row"], errors: Float[np.ndarray, "row"]
) -> Float[np.ndarray, "row"]:
    """Errors by falling confidence, each the mean over the rows of its confidence.

    Sums of the first k are then the expected sums where ties are ordered by lot, and so are risks and areas.
    """
    order = _order(confidences)
    return _level_means(errors[order], ranks(confidences)[order])


def _level_means(
    ranked: Float[np.ndarray, "drawn"], levels: Int[np.ndarray, "drawn"]
) -> Float[np.ndarray, "drawn"]:
    if ranked.size == 0:
        return ranked
    held = np.maximum(np.bincount(levels), 1)
    return np.asarray((np.bincount(levels, weights=ranked) / held)[levels])


def _measures(
    ranked: Float[np.ndarray, "drawn"], errors: Float[np.ndarray, "drawn"], coverage: float
) -> tuple[float, ...]:
    """The seven estimates of `Selective`, in its order; ``errors`` are 0 or 1, ``ranked`` may be means."""
    if ranked.size == 0:
        return (math.nan,) * 7
    right = float(1.0 - ranked.mean())
    best, area = accuracy_at(ranked, coverage), aurc(ranked)
    oracle = aurc(np.sort(errors))
    return right, best, best - right, area, oracle, area - oracle, augrc(ranked)


def _order(confidences: Float[np.ndarray, "row"]) -> Int[np.ndarray, "row"]:
    if np.isnan(confidences).any():
        raise InputError("a confidence is NaN", hint="Leave such rows out and count them.")
    return np.argsort(-confidences, kind="stable")
