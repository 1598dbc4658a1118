"""The page and the files of a DeflectionBench run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from probekit.benchmarks.deflection import Scenario
from probekit.evaluation.deflection_summary import ALL, DeflectionSummary
from probekit.files import write_atomically
from probekit.metrics.deflection_responses import DeflectionResponse
from probekit.report.deflection_tables import (
    FORCED_KINDS,
    FORCED_NOTE,
    attention_table,
    declined_table,
    detector_table,
    kind_table,
    rate_table,
)
from probekit.report.figures import Figure, Frame, Series, bar_figure
from probekit.report.formats import to_csv, to_markdown
from probekit.report.markup import Html, join, tag
from probekit.report.page import Section, write_page
from probekit.report.reading import DEFLECTION
from probekit.report.tables import Table

PAGE = "deflection.html"
LEAD = "Does the model answer when the evidence is there, and decline when it is not?"
SHOWN = 3
"""Samples of each kind on the page."""


def write_deflection(
    out: Path,
    found: DeflectionSummary,
    responses: Sequence[DeflectionResponse],
    images: Path,
    source: Mapping[str, Any],
    command: str,
) -> Path:
    """Write every table as Markdown and CSV into ``OUT/tables``, and one page; returns the page.

    Args:
        responses: the answers with declining on offer.
        images: folder of the samples' pictures; only their names are shown.
        source: where the numbers come from, for the end of the page.
        command: what made them.
    """
    named: dict[str, Table] = {"rates": rate_table(found.results, "All samples")}
    if found.forced_apart:
        named["forced"] = rate_table(found.forced, "Declining not offered", FORCED_NOTE)
    named["kinds"] = kind_table(found.results)
    named["kinds_declined"] = declined_table(found.results)
    if found.forced_apart:
        named["kinds_forced"] = kind_table(found.forced, FORCED_KINDS)
    for part in (ALL, *Scenario):
        named[f"detectors_{part}"] = detector_table(found, str(part))
    named["attention"] = attention_table(found)
    named = {name: table for name, table in named.items() if table.rows}
    for name, table in named.items():
        write_atomically(out / "tables" / f"{name}.md", to_markdown(table))
        write_atomically(out / "tables" / f"{name}.csv", to_csv(table))

    def held(*names: str) -> tuple[Table, ...]:
        return tuple(table for name, table in named.items() if name.startswith(names))

    sections = [
        DEFLECTION,
        Section("Scenarios", _reading(found), held("rates", "forced"), _bars(found)),
        Section("Kinds", tables=held("kinds")),
        Section("Deflection against detectors", _words(found), held("detectors")),
        Section("Attention", tables=held("attention")),
        Section("Answers", _answers(responses)),
    ]
    kept = [section for section in sections if section.tables or section.html]
    return write_page(out / PAGE, "DeflectionBench", kept, {"command": command, **source}, LEAD)


def _reading(found: DeflectionSummary) -> Html:
    return tag(
        "p",
        f"{_size(found)} Parametric: no evidence. Oracle: the evidence that holds the answer. "
        "Realistic: that among distractors. Adversarial: distractors alone, where declining is right. Every "
        f"wrong answer counts as a hallucination. {_whose(found)}",
    )


def _size(found: DeflectionSummary) -> str:
    if found.groups in (0, found.samples):
        return f"{found.samples} samples."
    return f"{found.samples} samples, {found.groups} groups without a picture in common."


def _whose(found: DeflectionSummary) -> str:
    """Whose the outcomes are."""
    told = [found.whose["free"].sentence()] if "free" in found.whose else []
    if found.forced_apart and "forced" in found.whose:
        told.append(f"Forced answers: {found.whose['forced'].sentence()}")
    return " ".join(told)


def _words(found: DeflectionSummary) -> Html:
    forced = (
        "The same prompts were asked again without the offer to decline."
        if found.forced_apart
        else "The wording offers no declining, so forced answers are the free ones; a declined one counts as "
        "wrong."
    )
    notes = "".join(f" Note: {note}." for note in found.notes)
    return tag(
        "p",
        f"{forced} A detector picks as many forced answers as the model attempts when free. Probes are "
        "cross-validated, all answers about a picture in one fold. AURC is over all forced answers, "
        f"whatever the model declines.{notes}",
    )


def _bars(found: DeflectionSummary) -> tuple[Figure, ...]:
    scenarios = found.results[ALL].scenarios
    names = [str(name) for name in scenarios]
    series = [
        Series(
            title,
            names,
            [getattr(rates, key).value for rates in scenarios.values()],
            [getattr(rates, key).low for rates in scenarios.values()],
            [getattr(rates, key).high for rates in scenarios.values()],
        )
        for title, key in (
            ("correct", "accuracy"),
            ("declined", "deflection"),
            ("hallucinated", "hallucination"),
        )
    ]
    frame = Frame(
        "scenarios",
        "Four scenarios",
        "share of the answers",
        "",
        "Bars of correct, declined and hallucinated answers in each scenario",
        "A reliable model is right under oracle and realistic evidence and declines under the other two.",
    )
    return (bar_figure(frame, series, limits=(0.0, 1.0)),)


def _answers(responses: Sequence[DeflectionResponse]) -> Html:
    """Some samples of every kind with what was answered."""
    kept: dict[str, list[str]] = {}
    for response in responses:
        names = kept.setdefault(response.sample.kind, [])
        if response.sample.sample_id not in names and len(names) < SHOWN:
            names.append(response.sample.sample_id)
    shown = {name for names in kept.values() for name in names}
    held: dict[str, list[DeflectionResponse]] = {}
    for response in responses:
        if response.sample.sample_id in shown:
            held.setdefault(response.sample.sample_id, []).append(response)
    return join(*(_card(found) for found in held.values()))


def _card(found: Sequence[DeflectionResponse]) -> Html:
    sample = found[0].sample
    lines = [
        tag(
            "li",
            f"{response.scenario}: {response.text or '(nothing)'} ({response.outcome.replace('_', ' ')})",
        )
        for response in found
    ]
    gold = "; ".join(" ".join(filter(None, (e.asked, e.text, e.image))) for e in sample.gold)
    return tag(
        "details",
        tag("summary", f"{sample.sample_id}: {sample.question} (right: {', '.join(sample.answers)})"),
        tag("p", f"Evidence: {gold}"),
        tag("ul", *lines),
    )
