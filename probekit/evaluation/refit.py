"""Fits that live only as long as a study: other rows, other targets, the same splits and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Int

from probekit.detectors.base import Detector
from probekit.detectors.heads.base import Head, NotFittableError, Problem, require_two_classes
from probekit.detectors.table import FeatureTable
from probekit.evaluation.budgets import Mix, fit_rows
from probekit.evaluation.protocol import Scored
from probekit.evaluation.setting import Setting
from probekit.evaluation.splits import Split

RowsOf = Callable[[Split], Int[np.ndarray, " fit"]]


def refit(
    detector: Detector,
    table: FeatureTable,
    splits: Sequence[Split],
    recipes: Sequence[tuple[str, RowsOf]],
    head: Head | None = None,
    y: Int[np.ndarray, " row"] | None = None,
) -> list[Scored]:
    """Fit one head per recipe and split, all together, and score every row.

    Args:
        detector: gives name, variant and head.
        table: its features.
        splits: one per seed.
        recipes: a name, reported as the mix, and the fit rows of a split.
        head: in place of the detector's own.
        y: targets in place of hallucinated against the rest.

    Returns:
        One `Scored` per recipe; a seed whose rows have a single class is in ``missing``.
    """
    chosen = detector.head if head is None else head
    if chosen is None:
        raise ValueError(f"{detector.name} has nothing to fit")
    target = table.y if y is None else y
    scored = table.scored
    missing: list[dict[int, str]] = [{} for _ in recipes]
    found: list[dict[int, np.ndarray]] = [{} for _ in recipes]
    problems: list[tuple[int, Problem]] = []
    for at, (_, rows_of) in enumerate(recipes):
        for split in splits:
            rows = rows_of(split)
            rows = rows[scored[rows]]
            problem = Problem(rows, target[rows], split.seed)
            try:
                require_two_classes(problem)
            except NotFittableError as error:
                missing[at][split.seed] = error.what
            else:
                problems.append((at, problem))
    solutions = chosen.fit(table.x, [problem for _, problem in problems])
    for (at, problem), solution in zip(problems, solutions, strict=True):
        scores = np.full(len(table.x), np.nan)
        scores[scored] = chosen.score(solution.weights, table.x[scored])
        found[at][problem.seed] = scores
    return [
        Scored(detector.name, detector.variant, name, found[at], missing[at])
        for at, (name, _) in enumerate(recipes)
    ]


def mix_recipe(setting: Setting, mix: Mix) -> tuple[str, RowsOf]:
    """The protocol's own fit rows at a budget."""

    def rows_of(split: Split) -> Int[np.ndarray, " fit"]:
        images = split.rows("fit", setting.population.image)
        return fit_rows(images, setting.population.label, mix, split.seed, setting.natural_share)

    return mix, rows_of
