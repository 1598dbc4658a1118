"""Whose silence is better: the model's own deflection or a probe's, at the same coverage."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from probekit.benchmarks.deflection import Outcome
from probekit.errors import InputError
from probekit.metrics.estimates import DRAWS, Estimate, statistics
from probekit.scores.selective import ranks


@dataclass(frozen=True)
class OwnAgainstProbe:
    """Accuracy among answered questions when either decides which to answer.

    Attributes:
        coverage: share of questions the model attempts when it may decline.
        own: accuracy of those attempts; ``n`` counts them.
        probe: accuracy of the forced answers that the probe is surest of, as many of them; among equal
            confidences the mean over all ways to pick; ``n`` counts all that may be picked.
        forced: accuracy of all forced answers.
        difference: ``own`` minus ``probe``, resampled together.
    """

    coverage: Estimate
    own: Estimate
    probe: Estimate
    forced: Estimate
    difference: Estimate


def own_against_probe(
    outcomes: Sequence[Outcome],
    forced: Bool[np.ndarray, "question"],
    confidences: Float[np.ndarray, "question"],
    groups: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> OwnAgainstProbe:
    """Compare deflection with selection at equal coverage.

    Args:
        outcomes: what the model did when it was free to decline.
        forced: whether its answer to the same question is right when it has to answer.
        confidences: the probe's confidence in the forced answer (a detector's score negated).
        groups: the unit of sampling of each question.

    Raises:
        InputError: lengths differ or a confidence is NaN.
    """
    if not len(outcomes) == len(forced) == len(confidences) == len(groups):
        raise InputError(f"{len(outcomes)} outcomes, {len(forced)} answers, {len(confidences)} confidences")
    if np.isnan(confidences).any():
        raise InputError("a confidence is NaN", hint="Leave such questions out on both sides.")
    levels = ranks(confidences)
    attempted = np.array([o is not Outcome.NOT_ATTEMPTED for o in outcomes], dtype=np.bool_)
    correct = np.array([o is Outcome.CORRECT for o in outcomes])
    right = forced.astype(np.float64)

    def compute(counts: Int[np.ndarray, "question"]) -> tuple[float, ...]:
        n, answered = int(counts.sum()), int((counts * attempted).sum())
        every = float((counts * right).sum() / n) if n else math.nan
        if answered == 0:
            return (0.0 if n else math.nan, math.nan, math.nan, every, math.nan)
        own = float((counts * correct).sum() / answered)
        probe = surest_share(levels, right, counts, answered)
        return answered / n, own, probe, every, own - probe

    names = np.array(groups, dtype=object)
    # ties with the last one picked may each be picked
    reached = np.sort(levels)[max(0, int(attempted.sum()) - 1)] if len(levels) else 0
    everyone, trying, surest = (
        (int(rows.sum()), len(set(names[rows])))
        for rows in (np.ones_like(attempted), attempted, (levels <= reached) & bool(attempted.any()))
    )
    coverage, own, probe, every, difference = statistics(
        compute, list(groups), shares=(everyone, trying, surest, everyone, None), draws=draws, seed=seed
    )
    return OwnAgainstProbe(coverage, own, probe, every, difference)


def surest_share(
    levels: Int[np.ndarray, "question"],
    right: Float[np.ndarray, "question"],
    counts: Int[np.ndarray, "question"],
    picked: int,
) -> float:
    """Expected share of right answers among the ``picked`` surest, where ties are picked from by lot."""
    held = np.bincount(levels, weights=counts)
    good = np.bincount(levels, weights=counts * right)
    before = np.cumsum(held) - held
    taken = np.clip(picked - before, 0, held)
    share = np.divide(taken, held, out=np.zeros_like(held), where=held > 0)
    return float((share * good).sum() / picked)
