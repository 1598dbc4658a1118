"""Tables of a Ghost run: prompts, rates (Table 2's form), quantities over tone, detectors."""

from __future__ import annotations

import math
from dataclasses import replace

from probekit.benchmarks.ghost_prompts import Prompts
from probekit.evaluation.ghost_evidence import ALL
from probekit.evaluation.ghost_store import QUANTITIES
from probekit.evaluation.ghost_summary import GhostSummary
from probekit.metrics.estimates import FEWEST
from probekit.metrics.estimates import Estimate as Measured
from probekit.metrics.rates_tones import ToneCurve
from probekit.metrics.rates_trend import EXACT_IMAGES, Trend
from probekit.report.formats import p_value
from probekit.report.intervals import resampled
from probekit.report.tables import Cell, Column, Estimate, Table

INTERVALS = resampled()


def prompt_table(prompts: Prompts, *, reading: bool, presence: bool) -> Table:
    """What is asked at each level.

    Args:
        reading: whether names or times are asked for.
        presence: whether objects are.
    """
    columns = [Column("tone", "Tone"), Column("force", "What the level does")]
    columns += [Column("reading", "Names and times")] * reading
    columns += [Column("presence", "Objects")] * presence
    rows: list[tuple[Cell, ...]] = []
    for tone in sorted(prompts.presence):
        cells: list[Cell] = [str(tone), prompts.force.get(tone, "")]
        cells += [prompts.ask(tone, "{target}", presence=False)] * reading
        cells += [prompts.ask(tone, "{target}", presence=True)] * presence
        rows.append(tuple(cells))
    caption = f"Prompts {prompts.name}, digest `{prompts.digest}`."
    return Table("Tone levels", tuple(columns), tuple(rows), caption)


def rate_table(found: GhostSummary) -> Table:
    """H-Rate at every tone, its average, its spread and its trend, by group."""
    columns = (
        *_over_tones(found, percent=True),
        *_summary_columns(percent=True),
        *_trend_columns(),
        Column("unlabelled", "No label", "Answers with neither an affirmative nor a negative label."),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            *_points(found, g.h_rate),
            *_summary(g.h_rate),
            *_trend(g.trend),
            sum(g.unlabelled.values()),
        )
        for name, g in found.rates.groups.items()
    ]
    n = found.counts
    caption = (
        f"Share of valid responses that the rules call hallucinated; {n['without_verdict']} of "
        f"{n['responses']} responses are empty or not decodable and have no verdict. Answers about an object "
        "with neither an affirmative nor a negative label are valid and not hallucinated. SD is the "
        "population SD over tones, as in the paper. z and p: Page's test for a rise with tone, p exact up "
        f"to {EXACT_IMAGES} pictures that vary. {INTERVALS}"
    )
    return Table("H-Rate by tone", columns, tuple(rows), caption)


def score_table(found: GhostSummary) -> Table:
    """H-Score at every tone, its average and spread, and the share of levels from 3 on."""
    columns = (
        *_over_tones(found),
        *_summary_columns(),
        Column("high", "3 or more", "Share of all responses.", percent=True),
    )
    rows: list[tuple[Cell, ...]] = [
        (name, *_points(found, g.h_score), *_summary(g.h_score), estimate(g.h_score_high.average))
        for name, g in found.rates.groups.items()
        if g.h_score is not None and g.h_score_high is not None
    ]
    caption = (
        f"Levels 1 (refusal) to 5 (embroidered claim) by {found.score_source}, over all valid responses, "
        f"hallucinated or not. {INTERVALS}"
    )
    return Table("H-Score by tone", columns, tuple(rows), caption)


def paper_table(found: GhostSummary, model: str) -> Table:
    """One row in the form of the paper's Table 2."""
    group = found.rates.groups[ALL]
    columns = (
        Column("model", "Model"),
        Column("h_rate", "H-Rate, average", percent=True),
        Column("h_rate_sd", "H-Rate, SD", percent=True),
        Column("h_score", "H-Score, average"),
        Column("h_score_sd", "H-Score, SD"),
    )
    cells: tuple[Cell, ...] = (model, *_summary(group.h_rate), *_summary(group.h_score))
    caption = f"Means of the five tones' means, and their population SD. H-Score by {found.score_source}."
    return Table("Table 2 of the paper, this model", columns, (cells,), caption)


def change_table(found: GhostSummary) -> Table:
    """Between which levels pictures change their verdict."""
    columns = (
        Column("group", "Group"),
        Column("levels", "Tones"),
        Column("up", "Only at the second"),
        Column("down", "Only at the first"),
        Column("p", "p, McNemar, two-sided"),
        Column("n", "Pictures"),
    )
    rows: list[tuple[Cell, ...]] = [
        (name, f"{c.levels.before} to {c.levels.after}", c.up, c.down, _p(c.p), c.n)
        for name, group in found.rates.groups.items()
        for c in group.changes
    ]
    return Table("Changed verdicts", columns, tuple(rows), "Pictures that hallucinate at one tone only.")


def dissociation_table(found: GhostSummary) -> Table:
    """H-Rate's verdict against H-Score of 3 or more."""
    columns = (
        Column("group", "Group"),
        Column("both", "Both"),
        Column("rate_only", "H-Rate only"),
        Column("score_only", "H-Score only"),
        Column("neither", "Neither"),
        Column("kappa", "Kappa"),
        Column("given", "H-Score of hallucinated"),
    )
    rows: list[tuple[Cell, ...]] = [
        (name, d.both, d.rate_only, d.score_only, d.neither, Estimate(d.kappa, reason="one is constant"),
         Estimate(d.score_given_rate, reason="none is hallucinated"))
        for name, group in found.rates.groups.items()
        if (d := group.dissociation) is not None
    ]  # fmt: skip
    caption = f"Rules against an H-Score of 3 or more, by {found.score_source}."
    if "wording" in found.score_source:
        caption += " Scores by wording start from the same rules, so that the two agree says nothing."
    return Table("Do the two tracks agree?", columns, tuple(rows), caption)


def quantity_table(found: GhostSummary, group: str = ALL) -> Table:
    """Every quantity at every tone."""
    columns = (
        Column("quantity", "Quantity"),
        *_over_tones(found)[1:],
        Column("change", "Last minus first"),
        Column("z", "z"),
        Column("p", "p, two-sided"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            QUANTITIES[name],
            *_points(found, q.curve),
            estimate(q.change),
            _trend(q.trend)[0],
            _p(q.p_two_sided),
        )
        for name, q in found.quantities[group].items()
    ]  # fmt: skip
    title = "Quantities by tone" if group == ALL else f"Quantities by tone, {group}"
    caption = (
        "Means over answers; mean: over the tokens of an answer; NLL on black: of the same answer. The "
        "change is taken image by image. z is Page's, negative for a fall; p is two-sided. " + INTERVALS
    )
    return Table(title, columns, tuple(rows), caption)


def association_table(found: GhostSummary, group: str = ALL) -> Table:
    """How every quantity goes with the verdict, between and within images."""
    columns = (
        Column("quantity", "Quantity"),
        Column("flagged", "Mean, hallucinated"),
        Column("cleared", "Mean, others"),
        Column("concordance", "Higher when hallucinated, same picture", "0.5 is no link."),
        Column("adjusted", "r without picture and tone"),
        Column("flipped", "Change, pictures that flip"),
        Column("held", "Change, pictures that hold"),
        Column("difference", "Difference"),
        Column("auroc", "AUROC of the change"),
        Column("n", "Flip - hold"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, q in found.quantities[group].items():
        a, f = q.association, q.association.flip
        shown = (a.flagged, a.cleared, a.concordance, a.adjusted, f.flipped, f.held)
        few = f"fewer than {FEWEST} pictures of a kind"
        apart = (replace(estimate(e), reason=few) for e in (f.difference, f.auroc))
        rows.append((QUANTITIES[name], *map(estimate, shown), *apart, f"{f.n[0]} - {f.n[1]}"))
    caption = (
        "A picture flips when its answer is not hallucinated at the first tone and is at a later one; it "
        "holds when it is at none. The change runs from the first tone to the mean of the later ones; with "
        f"fewer than {FEWEST} pictures of a kind the two are not compared. r is "
        "the correlation left when the mean of each picture and of each tone is taken from quantity and "
        f"verdict. {INTERVALS}"
    )
    return Table("Quantities and the verdict", columns, tuple(rows), caption)


def detector_table(found: GhostSummary, group: str = ALL) -> Table:
    """AUROC of every detector against the verdict."""
    columns = (
        Column("detector", "Detector"),
        Column("heads", "Heads"),
        Column("overall", "AUROC"),
        Column("within", "AUROC, same tone"),
        *(Column(f"t{t}", f"T{t}") for t in found.tones),
        Column("n", "Hallucinated - others"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            found.trained.get(name, "none needed"),
            estimate(d.overall),
            estimate(d.within_tone),
            *(estimate(d.by_tone[t]) for t in found.tones),
            f"{d.positives} - {d.negatives}",
        )
        for name, d in found.detectors.get(group, {}).items()
    ]
    title = "Detectors against the verdict" + ("" if group == ALL else f", {group}")
    caption = (
        "Is a hallucinated answer scored above another one? 0.5 is chance. The second column only compares "
        f"answers at one tone, so that the wording of the question gives nothing away. {INTERVALS}"
    )
    return Table(title, columns, tuple(rows), caption)


def terminal_tables(found: GhostSummary, *, rates: bool = True) -> tuple[Table, ...]:
    """What a terminal shows.

    Args:
        rates: H-Rate and H-Score as well.
    """
    by_tone = rate_table(found).only(("group", *(f"t{t}" for t in found.tones), "average", "deviation", "p"))
    detectors = detector_table(found).only(("detector", "overall", "within", "n"))
    association = association_table(found).only(
        ("quantity", "flagged", "cleared", "concordance", "adjusted", "difference", "n")
    )
    texts = (by_tone, score_table(found)) if rates else ()
    tables = (*texts, quantity_table(found), association, detectors)
    return tuple(table for table in tables if table.rows)


def estimate(value: Measured) -> Estimate:
    """A measured estimate as a cell."""
    return Estimate.of(value, "no such answers")


def group_names(found: GhostSummary) -> tuple[str, ...]:
    """Groups between everything and single categories, for tables of their own."""
    return tuple(name for name in found.detectors if name != ALL)


def _over_tones(found: GhostSummary, *, percent: bool = False) -> tuple[Column, ...]:
    return (Column("group", "Group"), *(Column(f"t{t}", f"T{t}", percent=percent) for t in found.tones))


def _summary_columns(*, percent: bool = False) -> tuple[Column, ...]:
    return (Column("average", "Average", percent=percent), Column("deviation", "SD", percent=percent))


def _trend_columns() -> tuple[Column, ...]:
    return (Column("z", "z"), Column("p", "p, one-sided"))


def _points(found: GhostSummary, curve: ToneCurve) -> list[Estimate]:
    missing = Estimate(math.nan, reason="not asked")
    return [estimate(curve.points[t]) if t in curve.points else missing for t in found.tones]


def _summary(curve: ToneCurve | None) -> tuple[Estimate, Estimate]:
    if curve is None:
        return Estimate(math.nan, reason="no scores"), Estimate(math.nan, reason="no scores")
    return estimate(curve.average), Estimate(curve.deviation, reason="a tone has no valid response")


def _trend(trend: Trend | None) -> tuple[Cell, Cell]:
    if trend is None:
        return Estimate(math.nan, reason="one tone"), "n/a"
    return Estimate(trend.z, reason="nothing varies"), _p(trend.p)


def _p(value: float) -> str:
    return p_value(value)
