"""One row a sample and the paper's tables from them: Tri-Layer Tables 2 to 7 and its correlations."""

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from probekit.errors import InputError
from probekit.files import write_atomically
from probekit.metrics.estimates import DRAWS, Estimate
from probekit.scores.responses import rate
from probekit.scores.selective import Selective, confidence, selective
from probekit.scores.taxonomy import DEFAULT, PLACED, Category, Shares, Thresholds, classify, shares

FEWEST = 5
"""Categories with fewer samples show no accuracy (the paper's dash)."""


@dataclass(frozen=True)
class TriLayerRow:
    """Everything known of one sample of one model. Missing scores are NaN, missing labels ``None``.

    Attributes:
        lad, vns, cs: the scores under the black image; ``*_noise`` under noise.
        vns_conflict: VNS against the conflict image.
        cs_full: CS of the full-condition answer scored under the black image.
        correct: whether the answer to the full image is right.
        sc_blind, sc_noise, sc_conflict: whether the answer is a shortcut under that image.
        refused: whether the answer to the black image is a refusal.
    """

    model: str
    task: str
    sample_id: str
    image_id: str
    lad: float = math.nan
    vns: float = math.nan
    cs: float = math.nan
    lad_noise: float = math.nan
    vns_noise: float = math.nan
    cs_noise: float = math.nan
    vns_conflict: float = math.nan
    cs_full: float = math.nan
    correct: bool | None = None
    sc_blind: bool | None = None
    sc_noise: bool | None = None
    sc_conflict: bool | None = None
    refused: bool | None = None

    def category(self, thresholds: Thresholds = DEFAULT) -> Category:
        """The sample's place in the taxonomy."""
        return classify(self.lad, self.vns, self.cs, thresholds)


TEXTS = ("model", "task", "sample_id", "image_id")
LABELS = ("correct", "sc_blind", "sc_noise", "sc_conflict", "refused")


def save_rows(path: Path, rows: Sequence[TriLayerRow]) -> None:
    """Write rows as CSV: missing values are empty, labels 1 and 0."""
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [f.name for f in fields(TriLayerRow)]
    writer.writerow(names)
    for row in rows:
        writer.writerow([_cell(getattr(row, name)) for name in names])
    write_atomically(path, out.getvalue())


def load_rows(path: Path) -> tuple[TriLayerRow, ...]:
    """Read what `save_rows` wrote; columns other than the four names may be absent.

    Raises:
        InputError: an unknown column, a missing name, or a cell of the wrong kind; file and line named.
    """
    known = {f.name for f in fields(TriLayerRow)}
    try:
        handle = path.open(encoding="utf-8", newline="")
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None
    rows: list[TriLayerRow] = []
    with handle:
        reader = csv.DictReader(handle)
        header = reader.fieldnames or []
        wrong = sorted(set(header) - known) or sorted(set(TEXTS) - set(header))
        if wrong:
            raise InputError(f"unknown or missing columns: {', '.join(wrong)}", where=f"{path}, line 1")
        for number, cells in enumerate(reader, start=2):
            where = f"{path}, line {number}"
            values: dict[str, str | float | bool | None] = {}
            for name in header:
                text = cells.get(name)
                if text is None:
                    raise InputError(f"no cell for {name!r}", where=where)
                values[name] = _value(name, text, where)
            rows.append(TriLayerRow(**values))  # type: ignore[arg-type]
    return tuple(rows)


@dataclass(frozen=True)
class ResponseRates:
    """Table 2: accuracy and shortcut rates of one group of samples."""

    n: int
    accuracy: Estimate
    sc_blind: Estimate
    sc_conflict: Estimate
    sc_noise: Estimate


def response_rates(rows: Sequence[TriLayerRow], *, draws: int = DRAWS, seed: int = 0) -> ResponseRates:
    """Accuracy and shortcut rates, with intervals by image."""
    images = [row.image_id for row in rows]

    def of(name: str) -> Estimate:
        return rate([getattr(row, name) for row in rows], images, draws=draws, seed=seed)

    return ResponseRates(len(rows), of("correct"), of("sc_blind"), of("sc_conflict"), of("sc_noise"))


def moments(rows: Sequence[TriLayerRow], score: str) -> tuple[float, float, int]:
    """Table 3: mean, sample SD and number of the rows' scores that are there."""
    values = _there(rows, score)
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    return (float(np.mean(values)) if values else math.nan, spread, len(values))


@dataclass(frozen=True)
class Diagnosis:
    """Table 4: how a group falls into the taxonomy, and how often each category is right.

    Attributes:
        shares: share of each category.
        accuracy: accuracy within each category; NaN below five samples with a label.
    """

    shares: Shares
    accuracy: dict[Category, float]


def diagnose(
    rows: Sequence[TriLayerRow], thresholds: Thresholds = DEFAULT, *, fewest: int = FEWEST
) -> Diagnosis:
    """Taxonomy of a group with full-condition accuracy per category."""
    categories = [row.category(thresholds) for row in rows]
    accuracy = {}
    for category in PLACED:
        held = [
            row.correct
            for row, c in zip(rows, categories, strict=True)
            if c is category and row.correct is not None
        ]
        accuracy[category] = sum(held) / len(held) if len(held) >= max(1, fewest) else math.nan
    return Diagnosis(shares(categories), accuracy)


def selective_prediction(
    rows: Sequence[TriLayerRow],
    thresholds: Thresholds = DEFAULT,
    *,
    coverage: float = 0.5,
    draws: int = DRAWS,
    seed: int = 0,
) -> Selective:
    """Table 7: answer only the share of samples with the highest diagnostic confidence.

    Samples without a correctness label are left out; those without a category are excluded and counted.
    """
    held = [row for row in rows if row.correct is not None]
    return selective(
        np.array([confidence(row.category(thresholds), row.lad, row.vns) for row in held], dtype=np.float64),
        np.array([bool(row.correct) for row in held], dtype=np.bool_),
        [row.image_id for row in held],
        coverage=coverage,
        draws=draws,
        seed=seed,
    )


def correlation(rows: Sequence[TriLayerRow], first: str, second: str) -> tuple[float, int]:
    """Pearson's r of two columns over the rows that have both, and their number. Labels count as 1 and 0.

    NaN below three rows or when a column is constant.
    """
    pairs = [
        (float(a), float(b))
        for a, b in ((getattr(row, first), getattr(row, second)) for row in rows)
        if a is not None and b is not None and not math.isnan(a) and not math.isnan(b)
    ]
    if len(pairs) < 3:
        return math.nan, len(pairs)
    x, y = np.array(pairs).T
    if x.std() == 0 or y.std() == 0:
        return math.nan, len(pairs)
    return float(np.corrcoef(x, y)[0, 1]), len(pairs)


def group_by(rows: Sequence[TriLayerRow], key: Callable[[TriLayerRow], str]) -> dict[str, list[TriLayerRow]]:
    """Rows by model, task or any other key, groups in order of first appearance."""
    groups: dict[str, list[TriLayerRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _there(rows: Sequence[TriLayerRow], score: str) -> list[float]:
    return [value for value in (getattr(row, score) for row in rows) if not math.isnan(value)]


def _cell(value: str | float | bool | None) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _value(name: str, text: str, where: str) -> str | float | bool | None:
    if name in TEXTS:
        if not text:
            raise InputError(f"{name!r} is empty", where=where)
        return text
    if name in LABELS:
        if text not in ("", "0", "1"):
            raise InputError(f"{name!r} is {text!r}", where=where, hint="Labels are 1, 0 or empty.")
        return None if text == "" else text == "1"
    try:
        return float(text) if text else math.nan
    except ValueError:
        raise InputError(f"{name!r} is {text!r}, a number is needed", where=where) from None
