"""The files of POPE audits, and the tables that a terminal shows of them."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probekit.evaluation.pope_audit import PopeAudit
from probekit.evaluation.pope_record import audit_record
from probekit.files import write_atomically, write_json
from probekit.report.formats import p_value, to_csv, to_markdown
from probekit.report.intervals import resampled
from probekit.report.pope import pope_page
from probekit.report.pope_tables import readout_table
from probekit.report.tables import Cell, Column, Estimate, Table

NUMBERS, PAGE, TABLE = "pope_audit.json", "pope_audit.html", "readouts"


def write_audits(out: Path, audits: Mapping[str, PopeAudit], command: str) -> Path:
    """Write pope_audit.html and .json, readouts.md and .csv to a folder; returns the page.

    Args:
        audits: by a short name of each file of questions, such as random, popular, adversarial.
        command: what made them, for the end of the page.
    """
    write_json(out / NUMBERS, {name: audit_record(found) for name, found in audits.items()})
    table = readout_table(audits)
    write_atomically(out / f"{TABLE}.md", to_markdown(table))
    write_atomically(out / f"{TABLE}.csv", to_csv(table))
    return pope_page(out / PAGE, audits, "POPE audit", command)


def recorded_readouts(records: Mapping[str, Any]) -> Table:
    """What pope_audit.json says about every readout: its lowest coverage, and F1 in every split."""
    names = list(dict.fromkeys(name for record in records.values() for name in record["readouts"]))
    references = {record["reference"] for record in records.values()}
    columns = (
        Column("readout", "Readout"),
        Column("coverage", "Coverage"),
        *(Column(f"f1_{split}", f"F1 {split}") for split in records),
    )
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        found = [record["readouts"].get(name) for record in records.values()]
        known = [one["coverage"] for one in found if one and one["coverage"] is not None]
        cells = [
            _estimate(one["scores"]["f1"]) if one and one["scores"] else Estimate(math.nan, reason="refused")
            for one in found
        ]
        rows.append((name + " *" * (name in references), min(known, default=math.nan), *cells))
    caption = f"* reference. n/a: refused, its coverage is below 0.99. {resampled()}"
    return Table("Readouts", columns, tuple(rows), caption)


def recorded_attention(records: Mapping[str, Any]) -> Table:
    """What pope_audit.json says about image attention; without rows when nothing was traced."""
    columns = (
        Column("file", "Questions"),
        Column("groups", "Groups"),
        Column("n", "n"),
        Column("d", "d, pooled"),
        Column("auc", "AUROC"),
        Column("p", "p, rank, two-sided"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, record in records.items():
        if record["attention"] is None:
            continue
        for pair, effect in record["attention"]["effects"].items():
            rows.append(
                (
                    name,
                    pair,
                    f"{effect['first']['n']} - {effect['second']['n']}",
                    _estimate(effect["d_pooled"]),
                    _estimate(effect["auc"]),
                    p_value(effect["rank"]["p"]),
                )
            )
    return Table(
        "Image attention of the last prompt token",
        columns,
        tuple(rows),
        f"First minus second group; p takes questions for independent. {resampled()}",
    )


def _estimate(found: Mapping[str, Any]) -> Estimate:
    def number(key: str) -> float:
        value = found.get(key)
        return math.nan if value is None else float(value)

    return Estimate(
        number("value"), number("low"), number("high"), found.get("n"), groups=found.get("groups")
    )
