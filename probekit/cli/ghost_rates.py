"""What ``probekit ghost score`` prints of a result: rates, scores, changed verdicts, what was left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from probekit.cli.options import cell, interval, show, table_of
from probekit.report.formats import p_value
from probekit.report.intervals import resampled

if TYPE_CHECKING:
    from probekit.metrics.rates import GhostResult, GroupResult
    from probekit.metrics.rates_tones import ToneCurve


def show_rates(result: GhostResult, scored_by_rules: int) -> None:
    """Print H-Rate and H-Score by group, and a line each of what else the texts alone say.

    Args:
        scored_by_rules: how many H-Scores are by wording.
    """
    every = result.groups["all"]
    tones = sorted(every.h_rate.points)
    levels = [f"T{t}" for t in tones]
    table = table_of(
        "H-Rate: % of valid responses, by tone level",
        "group",
        *levels,
        "mean [95 %]",
        "SD",
        "trend p, one-sided",
    )
    for name, group in result.groups.items():
        trend = p_value(None if group.trend is None else group.trend.p)
        average, spread = interval(group.h_rate.average, 100, 1), cell(group.h_rate.deviation, 100, 1)
        table.add_row(name, *_points(group.h_rate, tones, 100, 1), average, spread, trend)
    show(table)
    source = _source(result, scored_by_rules)
    if every.h_score is not None:
        table = table_of(
            f"H-Score: 1 to 5 by tone level, {source}", "group", *levels, "mean [95 %]", "SD", "% >= 3"
        )
        for name, group in result.groups.items():
            if group.h_score is None or group.h_score_high is None:
                continue
            table.add_row(
                name,
                *_points(group.h_score, tones, 1, 2),
                interval(group.h_score.average, 1, 2),
                cell(group.h_score.deviation, 1, 2),
                cell(group.h_score_high.average.value, 100, 1),
            )
        show(table)
    typer.echo(resampled())
    for line in (*_changes(every), *_dissociation(every, source)):
        typer.echo(line)
    left = every.h_rate.average.excluded
    typer.echo(
        f"{result.responses} responses, {left} without a verdict{_reasons(every.invalid)}; "
        f"policy {result.policy.digest}"
    )
    if every.unlabelled:
        typer.echo(
            f"{sum(every.unlabelled.values())} valid answers have neither an affirmative nor a negative label"
            f"{_reasons(every.unlabelled)} and count as not hallucinated."
        )


def _source(result: GhostResult, scored_by_rules: int) -> str:
    if not scored_by_rules:
        return "recorded scores"
    if scored_by_rules + result.groups["all"].h_rate.average.excluded >= result.responses:
        return "by wording, no judge"
    return f"{scored_by_rules} of {result.responses} by wording, the others recorded"


def _points(curve: ToneCurve, tones: list[int], factor: int, digits: int) -> list[str]:
    return [cell(curve.points[t].value if t in curve.points else math.nan, factor, digits) for t in tones]


def _changes(group: GroupResult) -> list[str]:
    """McNemar's tests of everything, in a line."""
    if not group.changes:
        return []
    found = [
        f"T{c.levels.before} to T{c.levels.after} {c.up} up, {c.down} down, p {c.p:.2g}"
        for c in group.changes
    ]
    return [f"Pictures that change their verdict, McNemar: {'; '.join(found)}."]


def _dissociation(group: GroupResult, source: str) -> list[str]:
    """The two tracks against each other, in a line."""
    d = group.dissociation
    if d is None:
        return []
    kappa = "n/a, one is constant" if math.isnan(d.kappa) else f"{d.kappa:.2f}"
    return [
        f"H-Rate against an H-Score of 3 or more ({source}): both {d.both}, H-Rate only {d.rate_only}, "
        f"H-Score only {d.score_only}, neither {d.neither}; kappa {kappa}."
    ]


def _reasons(counts: Mapping[str, int]) -> str:
    names = {
        "empty": "empty",
        "undecodable": "not decodable",
        "abstains": "abstain",
        "no_label": "say neither",
    }
    return f" ({', '.join(f'{n} {names[rule]}' for rule, n in counts.items())})" if counts else ""
