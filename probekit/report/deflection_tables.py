"""Tables of a DeflectionBench run: rates, kinds, detectors, attention."""

from __future__ import annotations

from collections.abc import Mapping

from probekit.benchmarks.deflection import Scenario
from probekit.captures import GROUPS
from probekit.evaluation.deflection_summary import ALL, DeflectionSummary
from probekit.metrics.deflection import DeflectionResult
from probekit.metrics.estimates import Estimate as Measured
from probekit.report.intervals import resampled
from probekit.report.tables import Cell, Column, Estimate, Table

UNITS = "samples"
"""What intervals resample."""
INTERVALS = f"Samples with a picture in common count as one. {resampled(UNITS)}"


def rate_table(results: Mapping[str, DeflectionResult], title: str, note: str = "") -> Table:
    """Accuracy, deflection and hallucination of each scenario, of all samples."""
    columns = (
        Column("scenario", "Scenario"),
        Column("n", "n"),
        Column("accuracy", "Correct", "share of all answers", percent=True),
        Column("deflection", "Declined", "share of all answers", percent=True),
        Column("hallucination", "Hallucinated", "share of all answers", percent=True),
        Column("given_attempt", "Hallucinated, of attempts", "hallucinated / (correct + it)", percent=True),
    )
    rows: list[tuple[Cell, ...]] = [
        (str(name), r.n, *map(estimate, (r.accuracy, r.deflection, r.hallucination, r.given_attempt)))
        for name, r in results[ALL].scenarios.items()
    ]
    gap = results[ALL].reliability_gap
    told = (
        "" if gap is None else f" Reliability gap {points(gap)} points (declined, adversarial minus oracle)."
    )
    return Table(title, columns, tuple(rows), f"{note}{told} {INTERVALS}".strip(), UNITS)


def kind_table(results: Mapping[str, DeflectionResult], title: str = "By kind of sample") -> Table:
    """Accuracy of each kind under each scenario, and what the gold is worth; empty with one kind."""
    asked = _asked(results)
    columns = (
        Column("kind", "Samples"),
        *(Column(f"accuracy_{s}", f"Correct, {s}", percent=True) for s in asked),
        Column("evidence_gain", "Oracle minus parametric", percent=True),
        Column("gold_gain", "Realistic minus adversarial", percent=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for kind, result in results.items():
        if kind == ALL:
            continue
        found = result.scenarios
        right = [estimate(found[s].accuracy) if s in found else "n/a" for s in asked]
        gains = ["n/a" if g is None else estimate(g) for g in (result.evidence_gain, result.gold_gain)]
        rows.append((kind, *right, *gains))
    caption = f"The last two columns say what the gold evidence is worth. {INTERVALS}"
    return Table(title, columns, tuple(rows), caption, UNITS)


def declined_table(results: Mapping[str, DeflectionResult]) -> Table:
    """What is declined of each kind under each scenario, and the reliability gap; empty with one kind."""
    asked = _asked(results)
    columns = (
        Column("kind", "Samples"),
        *(Column(f"deflection_{s}", f"Declined, {s}", percent=True) for s in asked),
        Column("gap", "Reliability gap", percent=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for kind, result in results.items():
        if kind == ALL:
            continue
        found = result.scenarios
        declined = [estimate(found[s].deflection) if s in found else "n/a" for s in asked]
        gap = "n/a" if result.reliability_gap is None else estimate(result.reliability_gap)
        rows.append((kind, *declined, gap))
    caption = f"Gap: adversarial minus oracle; 100 declines when it should, and only then. {INTERVALS}"
    return Table("Declined, by kind of sample", columns, tuple(rows), caption, UNITS)


def detector_table(found: DeflectionSummary, scenario: str = ALL) -> Table:
    """The model's own deflection against every detector at equal coverage."""
    columns = (
        Column("detector", "Confidence"),
        Column("auroc", "AUROC", "surer of right forced answers than of wrong ones"),
        Column("coverage", "Attempted", "share of questions the model attempts", percent=True),
        Column("own", "Own, correct", "accuracy of those attempts", percent=True),
        Column("probe", "Selected, correct", "as many forced answers it is surest of", percent=True),
        Column("forced", "All forced, correct", percent=True),
        Column("difference", "Own minus selected", percent=True),
        Column("aurc", "AURC", "mean error of the k surest forced answers, over all k; less is better"),
        Column("e_aurc", "e-AURC", "AURC above the least that so many errors allow"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            s.name + (" (probe)" if s.trained else " (control)" if s.baseline else ""),
            estimate(s.auroc),
            *map(
                estimate,
                (s.against.coverage, s.against.own, s.against.probe, s.against.forced, s.against.difference),
            ),
            estimate(s.areas.aurc),
            estimate(s.areas.e_aurc),
        )
        for s in found.detectors.get(scenario, ())
    ]
    title = "Own deflection against selection" + ("" if scenario == ALL else f": {scenario}")
    caption = (
        "Above 0 the model's own silence is the better choice at its coverage. Equal confidences are picked "
        f"by lot. {INTERVALS}"
    )
    return Table(title, columns, tuple(rows), caption, UNITS)


def attention_table(found: DeflectionSummary) -> Table:
    """Where the query of the first answer token looks."""
    columns = (
        Column("scenario", "Scenario"),
        *(Column(g, g.replace("_", " "), percent=True) for g in GROUPS),
    )
    rows: list[tuple[Cell, ...]] = [
        (name, *(estimate(masses[group]) for group in GROUPS)) for name, masses in found.attention.items()
    ]
    caption = (
        "Attention mass of the last prompt token by key group, mean over layers and heads. Evidence in words "
        f"is in context after, pictures of evidence are in image. {INTERVALS}"
    )
    return Table("Attention at the first answer token", columns, tuple(rows), caption, UNITS)


def terminal_tables(found: DeflectionSummary) -> tuple[Table, ...]:
    """What a terminal shows."""
    tables = [
        rate_table(found.results, "DeflectionBench"),
        kind_table(found.results),
        declined_table(found.results),
        detector_table(found),
    ]
    if found.forced_apart:
        tables.insert(3, rate_table(found.forced, "Declining not offered", FORCED_NOTE))
        tables.insert(4, kind_table(found.forced, FORCED_KINDS))
    return tuple(table for table in tables if table.rows)


FORCED_KINDS = "By kind of sample, declining not offered"
FORCED_NOTE = "An answer that declines although that was not offered counts as wrong in the comparison below."


def _asked(results: Mapping[str, DeflectionResult]) -> tuple[Scenario, ...]:
    """Scenarios that occur."""
    return tuple(results[ALL].scenarios)


def points(value: Measured) -> str:
    """An estimate in points of a hundred."""
    text = f"{100 * value.value:.1f}"
    return text if value.low != value.low else f"{text} [{100 * value.low:.1f}, {100 * value.high:.1f}]"


def estimate(value: Measured) -> Estimate:
    """An estimate as a table's cell."""
    return Estimate.of(value)
