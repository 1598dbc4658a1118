"""Tables as values: estimates with their intervals, and the results table of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from probekit.detectors import DETECTORS
from probekit.evaluation.records import Evaluation, Measure, Population, Record
from probekit.labels import NON_ASSERTIVE
from probekit.metrics.estimates import Estimate as Measured
from probekit.report.intervals import resampled

UNTRAINED_MIX = "none"
MIXES: tuple[str, ...] = ("none", "natural", "10", "30", "100", "max")
"""Mixing budgets in the order of the paper's figures; others follow in order of appearance."""


SOURCE = (
    "Test mentions, mean over seeds. A mix in numbers is in % of the hallucinated training examples. "
    f"{resampled()} Numbers: evaluation.json, made by `probekit evaluate`."
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: the estimate; NaN when there is none.
        low: lower end of its interval; NaN when there is none.
        high: upper end of it.
        n: items behind the estimate; ``None`` when not known.
        reason: why there is no value, in a few words.
        groups: pictures, or other units, that its interval resamples; ``None`` when not known.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int | None = None
    reason: str = ""
    groups: int | None = None

    @classmethod
    def of(cls, found: Measured, reason: str = "no value") -> Estimate:
        """A measured estimate as a cell; ``reason`` is told where it has no value."""
        missing = reason if math.isnan(found.value) else ""
        return cls(found.value, found.low, found.high, found.n, missing, found.groups)

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "n/a"
        around = "" if math.isnan(self.low + self.high) else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{around}"


Cell = Estimate | str | int | float


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        key: name in csv files.
        title: heading for readers.
        about: what the numbers mean, one sentence.
        percent: whether readers see the numbers times one hundred; csv files keep shares.
    """

    key: str
    title: str
    about: str = ""
    percent: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns, with a caption that says where the numbers come from.

    Attributes:
        units: what the intervals resample.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    units: str = "pictures"

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.title!r}: {len(row)} cells under {len(self.columns)} columns")
            for column, cell in zip(self.columns, row, strict=True):
                if not isinstance(cell, Cell):
                    # any other value would be shown as Python writes it
                    raise TypeError(f"table {self.title!r}, {column.key}: a cell of {type(cell).__name__}")

    def only(self, keys: Iterable[str]) -> Table:
        """The same table with the columns named by ``keys``, in the table's own order."""
        wanted = set(keys)
        kept = [i for i, column in enumerate(self.columns) if column.key in wanted]
        rows = tuple(tuple(row[i] for i in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[i] for i in kept), rows=rows)


@dataclass(frozen=True, slots=True)
class _Slot:
    """Which record fills a column."""

    column: Column
    measure: Measure
    population: Population
    subtype: str = "all"


def _auroc(population: Population) -> _Slot:
    if population == "all":
        about = "AUROC of concrete against hallucinated mentions, all test mentions."
        return _Slot(Column("auroc_all", "AUROC", about), "auroc", population)
    about = "AUROC on a subset in which both classes stand at the same token positions."
    return _Slot(Column("auroc_position_matched", "AUROC, matched", about), "auroc", population)


def _rates(population: Population) -> tuple[_Slot, ...]:
    def column(key: str, title: str, about: str) -> Column:
        return Column(key, title, about, percent=True)

    pooled = (
        _Slot(column("tpr", "TPR", "Hallucinated mentions that are flagged."), "tpr", population),
        _Slot(
            column("fpr_concrete", "FPR concrete", "True mentions that are flagged; set to 10 % beforehand."),
            "fpr_concrete",
            population,
        ),
        _Slot(
            column("fpr_non_assertive", "FPR non-assertive", "Mentions that claim nothing, yet are flagged."),
            "fpr_non_assertive",
            population,
        ),
    )
    subtypes = tuple(
        _Slot(
            column(
                f"fpr_{subtype}", f"FPR {subtype}", f"Non-assertive mentions of the kind {subtype}, flagged."
            ),
            "fpr_non_assertive",
            population,
            str(subtype),
        )
        for subtype in NON_ASSERTIVE
    )
    return pooled + subtypes


def mixes(evaluation: Evaluation) -> tuple[str, ...]:
    """Mixing budgets present, in the order of `MIXES`, unknown ones last."""
    found = dict.fromkeys(record.mix for record in evaluation.records)
    return tuple(sorted(found, key=lambda mix: MIXES.index(mix) if mix in MIXES else len(MIXES)))


def populations(evaluation: Evaluation) -> tuple[Population, ...]:
    """Populations present, all mentions first."""
    found = {record.population for record in evaluation.records}
    order: tuple[Population, ...] = ("all", "position_matched")
    return tuple(population for population in order if population in found)


def variants(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    """Detectors as (name, variant), in the order of `DETECTORS`; unknown names follow, in order of
    appearance. Two variants of one detector are two entries."""
    found = dict.fromkeys((record.detector, record.variant) for record in evaluation.records)
    order = {name: rank for rank, name in enumerate(DETECTORS)}
    return tuple(sorted(found, key=lambda pair: order.get(pair[0], len(order))))


def mix_shown(evaluation: Evaluation, detector: str, variant: str, mix: str) -> str | None:
    """The mix whose records stand for a detector in the table of ``mix``.

    A detector that was only ever evaluated without mixing is untrained, and the same under every mix.
    """
    own = {r.mix for r in evaluation.records if (r.detector, r.variant) == (detector, variant)}
    if mix in own:
        return mix
    return UNTRAINED_MIX if own == {UNTRAINED_MIX} else None


def results_table(evaluation: Evaluation, mix: str, population: Population | None = None) -> Table:
    """Detectors by measures under one mixing budget.

    Args:
        evaluation: the estimates; nothing is computed here.
        mix: mixing budget of the trained detectors; untrained ones stand beside them unchanged.
        population: one population for every measure; by default all mentions, with the
            position-matched AUROC beside the plain one.
    """
    places = [
        (detector, variant, mix_shown(evaluation, detector, variant, mix), mix)
        for detector, variant in variants(evaluation)
    ]
    title = f"Results, mix {mix}{' %' if mix.isdigit() else ''}" + (
        "" if population is None else f", mentions {population.replace('_', '-')}"
    )
    return _table(evaluation, title, places, _slots(population))


def full_table(evaluation: Evaluation) -> Table:
    """Every detector, variant and mix once: the table of the csv file."""
    own = {(r.detector, r.variant, r.mix) for r in evaluation.records}
    places = [
        (detector, variant, mix, mix)
        for mix in mixes(evaluation)
        for detector, variant in variants(evaluation)
        if (detector, variant, mix) in own
    ]
    return _table(evaluation, "Results", places, _slots(None))


def _slots(population: Population | None) -> tuple[_Slot, ...]:
    if population is None:
        return (_auroc("all"), _auroc("position_matched"), *_rates("all"))
    return (_auroc(population), *_rates(population))


def _table(
    evaluation: Evaluation,
    title: str,
    places: Sequence[tuple[str, str, str | None, str]],
    slots: tuple[_Slot, ...],
) -> Table:
    records = {
        (r.detector, r.variant, r.mix, r.measure, r.population, r.subtype): r for r in evaluation.records
    }
    why = _reasons(evaluation)
    rows: list[tuple[Cell, ...]] = []
    for detector, variant, shown, mix in places:
        own = (detector, variant, shown or mix)
        spots = [(*own, s.measure, s.population, s.subtype) for s in slots]
        if shown is None:
            cells = [Estimate(math.nan, reason=f"not trained with mix {mix}")] * len(slots)
        else:
            cells = [_estimate(records.get(at), why.get(at, why.get(own, ""))) for at in spots]
        rows.append((*own, *cells))
    columns = (
        Column("detector", "Detector"),
        Column("variant", "Variant", "Digest of every parameter of the detector."),
        Column(
            "mix",
            "Mix",
            "Non-assertive training examples, a number in % of the hallucinated ones; none for untrained "
            "detectors.",
        ),
        *(slot.column for slot in slots),
    )
    return Table(title, columns, tuple(rows), SOURCE)


def _reasons(evaluation: Evaluation) -> dict[tuple[str, ...], str]:
    """Why estimates are missing, by place; by (detector, variant, mix) when a fit was refused as a whole."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for entry in evaluation.counts.get("not_available", ()):
        names = ("detector", "variant", "mix", "measure", "population", "subtype")
        place = tuple(str(entry[name]) for name in names if name in entry)
        found.setdefault(place, {})[str(entry.get("reason", ""))] = None
    return {place: "; ".join(reasons) for place, reasons in found.items()}


def _estimate(record: Record | None, why: str) -> Estimate:
    if record is None:
        return Estimate(math.nan, reason=why or "not in the evaluation")
    if not math.isnan(record.value):
        return Estimate(record.value, record.low, record.high, record.n, groups=record.images)
    usual = "no mentions of this kind" if record.n == 0 else "cannot be computed from these mentions"
    return Estimate(record.value, record.low, record.high, record.n, why or usual, record.images)
