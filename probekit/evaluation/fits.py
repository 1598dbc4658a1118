"""Which rows each head is fitted on, and how to know later that it was these rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int

from probekit.detectors.base import Detector
from probekit.detectors.heads.base import NotFittableError, Problem, require_two_classes
from probekit.detectors.table import CLASSES, HALLUCINATED, Population
from probekit.evaluation.budgets import Mix, fit_rows
from probekit.evaluation.splits import Split
from probekit.files import digest


@dataclass(frozen=True)
class Fit:
    """One head to be fitted.

    Attributes:
        mix: mixing budget.
        seed: of split, draw and initialisation.
        problem: the rows and their classes.
        digest: of the rows, their classes, the store and the detector's parameters.
        classes: fit rows per class.
        refusal: why it cannot be fitted, or empty.
    """

    mix: Mix
    seed: int
    problem: Problem
    digest: str
    classes: dict[str, int]
    refusal: str = ""

    def path(self, folder: Path) -> Path:
        """Where the head lies in ``folder``, without suffix."""
        return folder / self.mix / f"seed{self.seed}"


def plan(
    population: Population,
    scored: Bool[np.ndarray, " row"],
    splits: Sequence[Split],
    mixes: Sequence[Mix],
    natural_share: float,
    detector: Detector,
    store_digest: str,
) -> list[Fit]:
    """All fits of one detector: mixes x seeds.

    Args:
        population: labelled rows; budgets are drawn here, so they are the same for every detector.
        scored: rows whose features are finite; the others are left out of the fit.
        splits: one per seed.
        mixes: budgets.
        natural_share: s of the natural budget.
        detector: the method.
        store_digest: of the job whose store is read.
    """
    fits = []
    for split in splits:
        images = split.rows("fit", population.image)
        for mix in mixes:
            rows = fit_rows(images, population.label, mix, split.seed, natural_share)
            fits.append(one_fit(population, rows[scored[rows]], mix, split.seed, detector, store_digest))
    return fits


def one_fit(
    population: Population,
    rows: Int[np.ndarray, " fit"],
    mix: Mix,
    seed: int,
    detector: Detector,
    store_digest: str,
) -> Fit:
    """A fit on the given rows."""
    label = population.label[rows]
    problem = Problem(rows, (label == HALLUCINATED).astype(np.int64), seed)
    fitted_on = digest(
        {
            "rows": [str(population.keys[at]) for at in rows],
            "y": problem.y.tolist(),
            "seed": seed,
            "store": store_digest,
            "variant": detector.variant,
        }
    )
    classes = {str(name): int((label == code).sum()) for code, name in enumerate(CLASSES)}
    try:
        require_two_classes(problem)
    except NotFittableError as error:
        return Fit(mix, seed, problem, fitted_on, classes, error.what)
    return Fit(mix, seed, problem, fitted_on, classes)


def natural_share_of(population: Population) -> float:
    """Share of non-assertive mentions among all labelled ones."""
    counts = population.counts()
    total = sum(counts[str(name)] for name in CLASSES)
    return counts["non_assertive"] / total if total else 0.0
