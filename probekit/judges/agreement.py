"""How far a judge's usage labels agree with others: accuracy, Cohen's kappa, per class (SPEC 0.9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from probekit.errors import InputError

NAN = float("nan")
LEVEL = 0.95


@dataclass(frozen=True)
class ClassAgreement:
    """One class against the rest.

    Attributes:
        reference: rows of the class by the reference.
        judged: rows of the class by the judge.
        both: rows of the class by both.
        precision: ``both / judged``; NaN when the judge never says the class.
        recall: ``both / reference``; NaN when the reference lacks the class.
        kappa: Cohen's kappa of the class against the rest; NaN when undefined.
    """

    reference: int
    judged: int
    both: int
    precision: float
    recall: float
    kappa: float


@dataclass(frozen=True)
class Agreement:
    """Two labellings of the same rows.

    Attributes:
        n: rows.
        accuracy, kappa: over all classes; kappa is NaN when both sides use a single class.
        accuracy_interval, kappa_interval: 95 % percentile bootstrap that resamples captions, not rows.
        classes: class -> agreement against the rest, in order of the reference's frequency.
        confusion: reference -> judged -> rows.
    """

    n: int
    accuracy: float
    kappa: float
    accuracy_interval: tuple[float, float]
    kappa_interval: tuple[float, float]
    classes: Mapping[str, ClassAgreement]
    confusion: Mapping[str, Mapping[str, int]]


def cohens_kappa(table: Int[np.ndarray, "class class"]) -> float:
    """(observed - expected) / (1 - expected) of a joint table; NaN when expected agreement is 1."""
    total = table.sum()
    if total == 0:
        return NAN
    observed = np.trace(table) / total
    expected = float(table.sum(axis=0) @ table.sum(axis=1)) / float(total) ** 2
    return NAN if expected == 1 else float((observed - expected) / (1 - expected))


def agreement(
    reference: Sequence[str],
    judged: Sequence[str],
    captions: Sequence[str],
    draws: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Compare two labellings.

    Args:
        reference, judged: one class name for each row.
        captions: what each row's text is; rows of one text are resampled together.
        draws: bootstrap draws; with 0 the intervals are NaN.
        seed: of the bootstrap.

    Raises:
        InputError: no rows, or lengths that differ.
    """
    if not reference or not len(reference) == len(judged) == len(captions):
        raise InputError(
            f"agreement needs as many labels on both sides as captions, and some: "
            f"{len(reference)} reference, {len(judged)} judged, {len(captions)} captions"
        )
    names = [name for name, _ in Counter(reference).most_common()]
    names += sorted(set(judged) - set(names))
    place = {name: position for position, name in enumerate(names)}
    rows = np.array([place[name] for name in reference])
    columns = np.array([place[name] for name in judged])
    table = _table(rows, columns, np.ones(len(rows), dtype=np.int64), len(names))
    estimates = _bootstrap(rows, columns, captions, len(names), draws, seed)
    return Agreement(
        n=len(rows),
        accuracy=float(np.trace(table) / table.sum()),
        kappa=cohens_kappa(table),
        accuracy_interval=_interval(estimates[:, 0]),
        kappa_interval=_interval(estimates[:, 1]),
        classes={name: _against_rest(table, place[name]) for name in names},
        confusion={
            name: {
                other: int(table[place[name], place[other]])
                for other in names
                if table[place[name], place[other]]
            }
            for name in names
        },
    )


def _table(
    rows: Int[np.ndarray, " row"],
    columns: Int[np.ndarray, " row"],
    weights: Int[np.ndarray, " row"],
    size: int,
) -> Int[np.ndarray, "class class"]:
    table = np.zeros((size, size), dtype=np.int64)
    np.add.at(table, (rows, columns), weights)
    return table


def _against_rest(table: Int[np.ndarray, "class class"], place: int) -> ClassAgreement:
    reference, judged, both = int(table[place].sum()), int(table[:, place].sum()), int(table[place, place])
    total = int(table.sum())
    pair = np.array([[both, reference - both], [judged - both, total - reference - judged + both]])
    return ClassAgreement(
        reference,
        judged,
        both,
        both / judged if judged else NAN,
        both / reference if reference else NAN,
        cohens_kappa(pair),
    )


def _bootstrap(
    rows: Int[np.ndarray, " row"],
    columns: Int[np.ndarray, " row"],
    captions: Sequence[str],
    size: int,
    draws: int,
    seed: int,
) -> Float[np.ndarray, "draw 2"]:
    """Accuracy and kappa of each draw of whole captions."""
    number = {text: position for position, text in enumerate(dict.fromkeys(captions))}
    group = np.array([number[text] for text in captions])
    generator = np.random.default_rng(seed)
    found = np.full((max(draws, 1), 2), NAN)
    for draw in range(draws):
        times = np.bincount(generator.integers(len(number), size=len(number)), minlength=len(number))
        table = _table(rows, columns, times[group], size)
        found[draw] = np.trace(table) / max(table.sum(), 1), cohens_kappa(table)
    return found


def _interval(values: Float[np.ndarray, " draw"]) -> tuple[float, float]:
    kept = values[~np.isnan(values)]
    if not len(kept):
        return (NAN, NAN)
    low, high = np.quantile(kept, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
