"""Detectors against deflection: is a probe of the forced answers a better judge of what to leave out?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from probekit.benchmarks.deflection import Outcome
from probekit.detectors.heads.base import NotFittableError, Problem
from probekit.detectors.heads.logistic import Logistic
from probekit.evaluation.measures import weighted_auroc
from probekit.metrics.estimates import DRAWS, Estimate, statistic
from probekit.scores.deflection_coverage import OwnAgainstProbe, own_against_probe
from probekit.scores.selective import Selective, selective

FOLDS = 5


@dataclass(frozen=True)
class Selected:
    """One detector on the forced answers.

    Attributes:
        name: what the confidence is read from.
        auroc: probability that it is surer of a right forced answer than of a wrong one.
        against: the model's own deflection against selection by it, at the model's coverage.
        trained: whether it is a probe, scored on groups of samples that its fold did not see.
        areas: AURC and its kin over the forced answers; equal confidences in the mean over all orders.
        left_out: answers without this confidence, left out on both sides.
        baseline: a control rather than a method.
    """

    name: str
    auroc: Estimate
    against: OwnAgainstProbe
    trained: bool
    areas: Selective
    left_out: int = 0
    baseline: bool = False


def compare_detectors(
    outcomes: Sequence[Outcome],
    forced: Bool[np.ndarray, " answer"],
    confidences: Mapping[str, Float[np.ndarray, " answer"]],
    groups: Sequence[str],
    *,
    trained: Sequence[str] = (),
    baselines: Sequence[str] = (),
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[Selected, ...]:
    """Every detector against the model's own deflection, intervals over resampled groups.

    Args:
        outcomes: what the model did when it was free to decline.
        forced: whether its forced answer is right.
        confidences: by detector, higher for surer; answers where one is NaN are left out of its row.
        groups: the group of samples of each answer.
        trained: names of those that are probes.
        baselines: names of those that are controls.

    Raises:
        InputError: lengths differ.
    """
    found = []
    for name, every in confidences.items():
        held = np.flatnonzero(~np.isnan(every)).tolist()
        values, right = every[held], forced[held]
        names = [groups[at] for at in held]
        found.append(
            Selected(
                name,
                _auroc(values, right, names, draws, seed),
                own_against_probe(
                    [outcomes[at] for at in held], right, values, names, draws=draws, seed=seed
                ),
                name in trained,
                selective(values, right, names, ties="average", draws=draws, seed=seed),
                len(every) - len(held),
                name in baselines,
            )
        )
    return tuple(found)


def folds_of(groups: Sequence[str], folds: int = FOLDS, seed: int = 0) -> Int[np.ndarray, " answer"]:
    """Fold of each answer; all answers of a group are in one, and folds hold equal numbers of groups."""
    names = sorted(set(groups))
    order = np.random.default_rng([seed, folds]).permutation(len(names))
    fold = {names[at]: number % folds for number, at in enumerate(order.tolist())}
    return np.array([fold[group] for group in groups], dtype=np.int64)


def cross_validated(
    states: Float[np.ndarray, "answer dim"],
    wrong: Bool[np.ndarray, " answer"],
    groups: Sequence[str],
    *,
    folds: int = FOLDS,
    seed: int = 0,
) -> Float[np.ndarray, " answer"]:
    """P(wrong) of a logistic probe, each answer scored by the fit that saw no answer of its group.

    Raises:
        NotFittableError: a fold's fit rows have a single class, a state is missing, or there are fewer groups
            than folds.
    """
    if len(set(groups)) < folds:
        raise NotFittableError(f"{len(set(groups))} groups of samples for {folds} folds")
    if missing := int(np.isnan(states).any(axis=1).sum()):
        raise NotFittableError(f"{missing} answers lack it")
    fold = folds_of(groups, folds, seed)
    head = Logistic()
    problems = [
        Problem(rows := np.flatnonzero(fold != number), wrong[rows].astype(np.int64))
        for number in range(folds)
    ]
    found = np.full(len(wrong), math.nan)
    for number, solution in enumerate(head.fit(states, problems)):
        held = np.flatnonzero(fold == number)
        found[held] = head.score(solution.weights, states[held])
    return found


def _auroc(
    values: Float[np.ndarray, " answer"],
    right: Bool[np.ndarray, " answer"],
    groups: Sequence[str],
    draws: int,
    seed: int,
) -> Estimate:
    def compute(counts: Int[np.ndarray, " answer"]) -> float:
        return float(weighted_auroc(values, right, counts[None].astype(np.float64))[0])

    return statistic(compute, list(groups), draws=draws, seed=seed)
