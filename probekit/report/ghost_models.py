"""Several Ghost runs beside each other: the paper's Table 2 and Figure 4, one row and one line a model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.evaluation.ghost_evidence import ALL
from probekit.files import read_json, write_atomically
from probekit.report.figures import Figure, Frame, Series, line_figure
from probekit.report.formats import to_csv, to_markdown
from probekit.report.ghost_tables import INTERVALS
from probekit.report.markup import tag
from probekit.report.page import Section, write_page
from probekit.report.tables import Cell, Column, Estimate, Table

PAGE = "ghost_models.html"
KEYS = frozenset(
    {"model", "policy", "rates", "h_score", "prompts", "revision", "dtype", "pictures", "set", "store"}
)
"""What is read of a run's ``ghost.json``."""


def read_runs(folders: Sequence[Path]) -> dict[str, Mapping[str, Any]]:
    """What ``ghost.json`` of each run says, by a name of the model that is unique.

    Raises:
        InputError: a folder has no ``ghost.json`` or another's, a folder is given twice, or the runs were
            judged under different policies.
    """
    found: dict[str, Mapping[str, Any]] = {}
    seen: set[Path] = set()
    for folder in folders:
        if folder.resolve() in seen:
            raise InputError("a run is given twice", where=str(folder))
        seen.add(folder.resolve())
        file = folder / "ghost.json"
        if not file.exists():
            raise InputError("no ghost.json here", where=str(folder), hint="First: probekit ghost trace RUN.")
        record = read_json(file)
        if not isinstance(record, dict) or not set(record) >= KEYS:
            raise InputError(
                "not the results of a Ghost run",
                where=str(file),
                hint="Make it again: probekit ghost trace RUN.",
            )
        name = str(record["model"])
        names = (name, f"{name} ({folder.name})", f"{name} ({folder})", f"{name} ({folder.resolve()})")
        found[next(one for one in names if one not in found)] = record
    policies = {str(record["policy"]["digest"]) for record in found.values()}
    if len(policies) > 1:
        raise InputError(
            "the runs were judged under different policies, so their rates are not comparable",
            where=", ".join(str(folder) for folder in folders),
            hint="Run probekit ghost trace on each with the same choice of rules.",
        )
    return found


def models_table(runs: Mapping[str, Mapping[str, Any]]) -> Table:
    """Table 2 of the paper."""
    columns = (
        Column("model", "Model"),
        Column("pictures", "Pictures"),
        Column("h_rate", "H-Rate, average", percent=True),
        Column("h_rate_sd", "H-Rate, SD", percent=True),
        Column("h_score", "H-Score, average"),
        Column("h_score_sd", "H-Score, SD"),
        Column("by", "H-Score by"),
        Column("prompts", "Prompts"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, record in runs.items():
        group = record["rates"]["groups"][ALL]
        source, prompts = str(record["h_score"]), record["prompts"]
        cells = [*_summary(group["h_rate"]), *_summary(group["h_score"])]
        pictures = str(sum(record["pictures"].values()))
        rows.append((name, pictures, *cells, source, f"{prompts['name']}, {prompts['digest']}"))
    caption = f"Means of the five tones' means, and their population SD. {INTERVALS}"
    if len({str(record["prompts"]["digest"]) for record in runs.values()}) > 1:
        caption += " The models were asked in different words: compare shapes, not levels."
    if len({str(record["set"]) for record in runs.values()}) > 1:
        shown = "; ".join(f"{name}: {_pictures(record)}" for name, record in runs.items())
        caption += f" The models were shown different pictures, so rates are not comparable ({shown})."
    return Table("Models", columns, tuple(rows), caption)


def models_figures(runs: Mapping[str, Mapping[str, Any]]) -> tuple[Figure, ...]:
    """Figure 4 of the paper: both tracks over tone."""
    found = []
    for track, title, unit, limits in (
        ("h_rate", "H-Rate over tone", "H-Rate, share of valid responses", (0.0, 1.0)),
        ("h_score", "H-Score over tone", "H-Score, 1 to 5", (1.0, 5.0)),
    ):
        lines = [
            _line(name, curve["points"])
            for name, record in runs.items()
            if (curve := record["rates"]["groups"][ALL][track]) is not None
        ]
        if lines:
            frame = Frame(track.replace("_", "-"), title, "tone level", unit, f"{title}, one line a model")
            found.append(line_figure(frame, lines, limits=limits))
    return tuple(found)


def write_models(out: Path, folders: Sequence[Path]) -> tuple[Path, Table]:
    """Write ``ghost_models.html`` and the table as Markdown and CSV; returns the page and the table."""
    runs = read_runs(folders)
    table = models_table(runs)
    write_atomically(out / "table_2.md", to_markdown(table))
    write_atomically(out / "table_2.csv", to_csv(table))
    words = tag(
        "p",
        "A low and flat line is a model that keeps to what it sees. Two models may change places between the "
        "two figures: how often is not how firmly.",
    )
    source = {
        name: {key: record[key] for key in ("revision", "dtype", "pictures", "policy", "store")}
        for name, record in runs.items()
    }
    sections = (Section("Both tracks", words, (table,), models_figures(runs)),)
    lead = "Five levels of pressure, one line a model."
    return write_page(out / PAGE, "Ghost-100, models", sections, source, lead), table


def _pictures(record: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {category}" for category, count in sorted(record["pictures"].items()))


def _summary(curve: Mapping[str, Any] | None) -> tuple[Estimate, Estimate]:
    if curve is None:
        return Estimate(math.nan, reason="no scores"), Estimate(math.nan, reason="no scores")
    return _estimate(curve["average"]), Estimate(_number(curve["deviation"]), reason="a tone has no response")


def _line(name: str, points: Mapping[str, Mapping[str, Any]]) -> Series:
    tones = sorted(points, key=int)
    cells = [_estimate(points[tone]) for tone in tones]
    return Series(
        name,
        [f"T{tone}" for tone in tones],
        [cell.value for cell in cells],
        [cell.low for cell in cells],
        [cell.high for cell in cells],
    )


def _estimate(found: Mapping[str, Any]) -> Estimate:
    value, low, high = (_number(found[name]) for name in ("value", "low", "high"))
    reason = "no such answers" if math.isnan(value) else ""
    return Estimate(value, low, high, found["n"], reason, found.get("groups"))


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
