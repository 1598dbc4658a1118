"""The result of an evaluation: estimates with intervals, counts, provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from probekit.errors import InputError
from probekit.files import read_json, write_json

Measure = Literal["auroc", "tpr", "fpr_concrete", "fpr_non_assertive"]
Population = Literal["all", "position_matched"]


@dataclass(frozen=True, slots=True)
class Record:
    """One estimate.

    Attributes:
        detector: name in `probekit.detectors.DETECTORS`, or ``position``.
        variant: digest of every parameter of the detector; two variants are never averaged.
        mix: mixing budget of the fit set, ``none`` for training-free detectors as well.
        measure: what is estimated, a share in [0, 1].
        population: all test mentions, or the position-matched subset.
        subtype: non-assertive subtype, ``all`` when pooled.
        value: mean over seeds; NaN when it cannot be computed.
        low: lower end of the 95 % image-bootstrap interval.
        high: upper end of it.
        n: test mentions behind the estimate, mean over seeds.
        images: pictures behind it in any seed; ``None`` in evaluations written before they were counted.
    """

    detector: str
    variant: str
    mix: str
    measure: Measure
    population: Population
    subtype: str
    value: float
    low: float
    high: float
    n: int
    images: int | None = None


@dataclass(frozen=True)
class Evaluation:
    """All estimates of one evaluation, with what was counted and where it came from."""

    records: tuple[Record, ...]
    counts: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write ``{"records": [...], "counts": {...}, "provenance": {...}}``; NaN as null."""
        write_json(
            path,
            {
                "records": [asdict(record) for record in self.records],
                "counts": dict(self.counts),
                "provenance": dict(self.provenance),
            },
        )

    @classmethod
    def load(cls, path: Path) -> Evaluation:
        """Read what `save` wrote; null becomes NaN again.

        Raises:
            InputError: the file is missing or has another shape.
        """
        value = read_json(path)
        try:
            records = tuple(_record(record) for record in value["records"])
            return cls(records, value["counts"], value["provenance"])
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"not an evaluation: {error}", where=str(path)) from None


def _record(value: dict[str, Any]) -> Record:
    numbers = {k: float("nan") for k in ("value", "low", "high") if value[k] is None}
    return Record(**{**value, **numbers})
