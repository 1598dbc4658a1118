"""The page and the files of a Tri-Layer study."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from probekit.evaluation.tri_layer_summary import ALL, TriLayerSummary
from probekit.files import write_atomically
from probekit.report.figures import (
    Figure,
    Frame,
    Point,
    Series,
    bar_figure,
    histogram_figure,
    risk_coverage_figure,
    scatter_figure,
)
from probekit.report.formats import to_csv, to_markdown
from probekit.report.markup import tag
from probekit.report.page import Section, write_page
from probekit.report.reading import TRI_LAYER
from probekit.report.tables import Table
from probekit.report.tri_layer_tables import (
    contrast_table,
    correlation_table,
    response_table,
    score_table,
    selective_table,
    sweep_table,
    task_table,
    taxonomy_table,
)
from probekit.scores.selective import confidence, risk_coverage
from probekit.scores.taxonomy import PLACED, SHORT
from probekit.scores.tri_layer import TriLayerRow

PAGE = "tri_layer.html"
LEAD = "Does the model notice that the picture is gone, does its answer need it, and does it then say so?"


def write_tri_layer(
    out: Path,
    found: TriLayerSummary,
    rows: Sequence[TriLayerRow],
    lines: Sequence[Mapping[str, Any]],
    source: Mapping[str, Any],
    command: str,
) -> Path:
    """Write every table as Markdown and CSV into ``OUT/tables``, and one page; returns the page.

    Args:
        rows, lines: the samples, see `probekit.evaluation.tri_layer_summary.summarise`.
        source: where the numbers come from, for the end of the page.
        command: what made them.
    """
    answers = (response_table(found),)
    scores = (score_table(found), contrast_table(found), correlation_table(found))
    taxonomy = (taxonomy_table(found), task_table(found))
    sections = (
        TRI_LAYER,
        Section("Answers", tables=answers),
        Section(
            "Scores",
            tag("p", "LAD: does a refusal become likelier when the picture is gone? VNS: how far do the "
                     "distributions of the answer move? CS: does the answer beat the likeliest refusal?"),
            _filled(scores),
            (*_lads(lines), *_necessity(rows, lines)),
        ),
        Section(
            "Taxonomy",
            tag("p", f"Of the samples called visual sycophancy, "
                     f"{_percent(found.refusals.sycophancy_in_truth_refusal)} answered the black picture "
                     "with a refusal in other words than an anchor."),
            _filled(taxonomy),
            (_shares(found), _plane(rows)),
        ),
        Section("Selective prediction", tables=(selective_table(found),), figures=_curves(rows)),
        Section("Thresholds", tables=(sweep_table(found),)),
    )  # fmt: skip
    named = {"answers": answers[0], "scores": scores[0], "contrasts": scores[1], "correlations": scores[2],
             "taxonomy": taxonomy[0], "taxonomy_by_task": taxonomy[1],
             "selective": selective_table(found), "thresholds": sweep_table(found)}  # fmt: skip
    for name, table in named.items():
        if table.rows:
            write_atomically(out / "tables" / f"{name}.md", to_markdown(table))
            write_atomically(out / "tables" / f"{name}.csv", to_csv(table))
    return write_page(out / PAGE, "Tri-Layer study", sections, {"command": command, **source}, LEAD)


def _filled(tables: Sequence[Table]) -> tuple[Table, ...]:
    return tuple(table for table in tables if table.rows)


def _lads(lines: Sequence[Mapping[str, Any]]) -> tuple[Figure, ...]:
    named = {"lad": "black", "lad_noise": "noise", "lad_conflict": "another real picture"}
    values = {title: held for key, title in named.items() if (held := _there(lines, key))}
    if not values:
        return ()
    frame = Frame(
        "lad",
        "Latent anomaly detection",
        "LAD, nats a token",
        "share of the samples",
        "Histograms of LAD under each replaced picture",
        "A model that notices the missing picture puts black and noise to the right of another real one.",
    )
    return (histogram_figure(frame, values),)


def _necessity(rows: Sequence[TriLayerRow], lines: Sequence[Mapping[str, Any]]) -> tuple[Figure, ...]:
    priors = [line["prior"] for line in lines]
    kinds = [line["task"] if prior is None else f"prior: {prior}"
             for line, prior in zip(lines, priors, strict=True)]  # fmt: skip
    values = {
        kind: [row.vns for row, k in zip(rows, kinds, strict=True) if k == kind and not math.isnan(row.vns)]
        for kind in dict.fromkeys(kinds)
    }
    frame = Frame(
        "vns",
        "Visual necessity",
        "VNS, nats",
        "share of the group",
        "Histograms of VNS by group of questions",
        "Questions that need the picture should lie to the right.",
    )
    return (histogram_figure(frame, {name: held for name, held in values.items() if held}),)


def _shares(found: TriLayerSummary) -> Figure:
    frame = Frame(
        "taxonomy",
        "Taxonomy",
        "share of the samples",
        "",
        "Bars of the four categories",
        "The same samples, placed by the scores under black, with CS of the full answer, and under noise.",
    )
    names = [SHORT[c] for c in PLACED]
    series = (
        Series("black", names, [found.diagnoses[ALL].shares.share[c] for c in PLACED]),
        Series("black, CS of the full answer", names, [found.cs_full.share[c] for c in PLACED]),
        Series("noise", names, [found.noise.share[c] for c in PLACED]),
    )
    return bar_figure(frame, series, limits=(0.0, 1.0))


def _plane(rows: Sequence[TriLayerRow]) -> Figure:
    groups = []
    for name, wanted in (("answered black", False), ("refused on black", True)):
        held = [row for row in rows if row.refused is wanted and not math.isnan(row.lad + row.vns)]
        if held:
            groups.append(Point(name, [row.lad for row in held], [row.vns for row in held]))
    frame = Frame(
        "plane",
        "Perception and dependency",
        "LAD, nats a token",
        "VNS, nats",
        "Every sample by LAD and VNS, refusals apart",
        "LAD and VNS alone do not tell refusals in the text from answers; CS is asked to.",
    )
    return scatter_figure(frame, groups)


def _curves(rows: Sequence[TriLayerRow]) -> tuple[Figure, ...]:
    held = [row for row in rows if row.correct is not None]
    surest = np.array([confidence(row.category(), row.lad, row.vns) for row in held], dtype=np.float64)
    there = ~np.isnan(surest)
    errors = np.array([not row.correct for row in held], dtype=np.float64)[there]
    if not errors.size:
        return ()
    coverage, risk = risk_coverage(surest[there], errors)
    _, best = risk_coverage(-errors, errors)
    frame = Frame(
        "risk_coverage",
        "Risk and coverage",
        "share of the samples answered",
        "error rate among them",
        "Error rate against coverage",
        "The oracle puts every error last.",
    )
    series = [Series("by diagnosis", coverage.tolist(), risk.tolist()),
              Series("oracle", coverage.tolist(), best.tolist())]  # fmt: skip
    return (risk_coverage_figure(frame, series),)


def _there(lines: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    values = [line[name] for line in lines]
    return [float(value) for value in values if value is not None and not math.isnan(value)]


def _percent(value: float) -> str:
    return "an unknown share" if math.isnan(value) else f"{100 * value:.1f} %"
