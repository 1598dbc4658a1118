"""The sections of an evaluation: how to read it, results, mixing, positions, counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from probekit.evaluation.records import Evaluation, Measure
from probekit.labels import Label
from probekit.report.captions import Mention
from probekit.report.facts import facts
from probekit.report.figures import Figure, Frame, Series, bar_figure, histogram_figure, line_figure
from probekit.report.formats import to_html
from probekit.report.markup import Html, join, tag
from probekit.report.mixes import MEANING, UNIT, budgets, shown
from probekit.report.page import Section
from probekit.report.switch import switch
from probekit.report.tables import mix_shown, mixes, populations, results_table, variants

CLASSES: tuple[Label, ...] = (Label.CONCRETE, Label.HALLUCINATED, Label.NON_ASSERTIVE)
TARGET = 0.10
"""Share of concrete calibration mentions above every threshold."""

_EVALUATE = "Numbers: evaluation.json, made by `probekit evaluate`."


def reading_section(missing: Sequence[str]) -> Section:
    """What is measured and how to read it; ``missing`` says what this run lacks."""
    terms = tag(
        "dl",
        *(
            tag("div", tag("dt", term), tag("dd", meaning))
            for term, meaning in (
                ("concrete", "The caption claims the object, and it is in the picture."),
                ("hallucinated", "The caption claims the object, and it is not in the picture."),
                (
                    "non-assertive",
                    "The caption names the object without claiming it: hedged (possibly a dog), depictive "
                    "(a poster of a dog), purpose (a bowl for a dog), negation (no dog is visible).",
                ),
            )
        ),
        class_="facts",
    )
    body = join(
        tag(
            "p",
            "A vision-language model described pictures. Every object it mentions is a row, and every "
            "detector gives each row one score, read off the model while it wrote that word: the higher, "
            "the more likely hallucinated. The labels come from the pictures' references and from how the "
            "text uses the word; no detector sees them on the test pictures.",
        ),
        terms,
        tag(
            "p",
            "A mention is flagged when its score is above a threshold that 10 % of the concrete mentions of "
            "separate calibration pictures exceed. TPR is the share of hallucinated mentions flagged, FPR "
            "the share of the others. AUROC needs no threshold: 0.5 is chance, 1 is perfect. Later words "
            "are hallucinated more often, so a detector may merely tell the position: compare the row ",
            tag("strong", "position"),
            " and the position-matched AUROC, where both classes stand at the same places. "
            f"{MEANING} "
            "Pictures are split, not mentions: no picture is on two sides.",
        ),
        tag(
            "div",
            tag("strong", "Missing here"),
            tag("ul", *(tag("li", item) for item in missing)),
            class_="warn",
        )
        if missing
        else "",
    )
    return Section("How to read this page", body)


def results_section(evaluation: Evaluation, mix: str) -> Section:
    """The table, switched by mix and population, and AUROC with and without position matching."""
    present = populations(evaluation)
    known = mixes(evaluation)
    if not known:
        return Section("Results", tag("p", "The evaluation holds no estimates."))
    # a number on a button needs its unit, as a heading does
    names = {shown(m): m for m in known}
    panels: dict[tuple[str, ...], Html] = {
        (name, p): to_html(results_table(evaluation, m, p)) for name, m in names.items() for p in present
    }
    axes = {"Mix": tuple(names), "Mentions": present}
    body, style = switch("results", axes, panels, (shown(mix), present[0]))
    return Section("Results", body, figures=(_area_figure(evaluation, mix),), style=style)


def mixing_section(evaluation: Evaluation) -> Section:
    """False alarms on non-assertive mentions, and hits, against the mixing budget."""
    known = budgets(evaluation)
    trained = [pair for pair in variants(evaluation) if len(_own_mixes(evaluation, pair)) > 1]
    if not trained:
        return Section("The mixing curve", tag("p", "Only one mix was evaluated; a curve needs two."))
    figures = []
    curves: tuple[tuple[Measure, str, str, str, float | None], ...] = (
        (
            "fpr_non_assertive",
            "mix-fpr",
            "Non-assertive mentions flagged, by training mix",
            "non-assertive FPR, share of mentions",
            TARGET,
        ),
        ("tpr", "mix-tpr", "Hallucinations flagged, by training mix", "TPR, share of mentions", None),
        (
            "fpr_concrete",
            "mix-concrete",
            "Concrete mentions flagged, by training mix",
            "concrete FPR, share of mentions",
            TARGET,
        ),
    )
    for measure, name, title, y, target in curves:
        series = [_curve(evaluation, pair, measure, known) for pair in trained]
        frame = Frame(
            name,
            title,
            UNIT + (";\nbelow it, how many" if any("\n" in label for label in known.values()) else ""),
            y,
            _alt(title, series),
            f"{MEANING} Test mentions, mean over seeds; bars are 95 % intervals that resample pictures"
            + ("; the dotted line is the rate aimed at. " if target is not None else ". ")
            + _EVALUATE,
        )
        figures.append(line_figure(frame, series, reference=target, limits=(0.0, _top(series))))
    lead = tag(
        "p",
        "A probe trained on claims alone learns to flag whatever is not in the picture, also where the text "
        "never claims it. Mixing such mentions into its training set, labelled not hallucinated, should "
        "lower the first curve and leave the second where it is.",
    )
    return Section("The mixing curve", lead, figures=tuple(figures))


def position_section(mentions: Iterable[Mention]) -> Section:
    """Where in the caption the three classes stand."""
    by_class: dict[str, list[float]] = {str(label).replace("_", "-"): [] for label in CLASSES}
    for mention in mentions:
        if mention.token is not None and mention.label in CLASSES:
            by_class[str(mention.label).replace("_", "-")].append(float(mention.token))
    total = sum(map(len, by_class.values()))
    if total == 0:
        return Section("Where the classes stand", tag("p", "No labelled mention has a token position."))
    medians = ", ".join(
        f"{name} {sorted(values)[len(values) // 2]:.0f}" for name, values in by_class.items() if values
    )
    title = "Token position of the three classes"
    frame = Frame(
        "positions",
        title,
        "position of the mention's first token in the caption, tokens",
        "share of the class",
        f"{title}. Median position: {medians}.",
        f"All {total:,} labelled mentions of the run; each outline sums to one. Median position: {medians}. "
        "The further the outlines lie apart, the more a score can gain by merely telling the position. "
        "Numbers: rows.jsonl and labels/labels.jsonl of this run.",
    )
    return Section("Where the classes stand", figures=(histogram_figure(frame, by_class),))


def counts_section(counts: Mapping[str, Any]) -> Section:
    """What was counted, what was left out, and why."""
    return Section("What was counted", facts(counts) if counts else tag("p", "No counts were recorded."))


def _own_mixes(evaluation: Evaluation, pair: tuple[str, str]) -> set[str]:
    return {r.mix for r in evaluation.records if (r.detector, r.variant) == pair}


def _named(evaluation: Evaluation, pair: tuple[str, str]) -> str:
    several = [p for p in variants(evaluation) if p[0] == pair[0]]
    return pair[0] if len(several) == 1 else f"{pair[0]} {pair[1][:8]}"


def _curve(
    evaluation: Evaluation, pair: tuple[str, str], measure: Measure, budgets: Mapping[str, str]
) -> Series:
    found = {
        r.mix: r
        for r in evaluation.records
        if (r.detector, r.variant, r.measure, r.population, r.subtype) == (*pair, measure, "all", "all")
    }
    kept = [found[mix] for mix in budgets if mix in found]
    return Series(
        _named(evaluation, pair),
        [budgets[r.mix] for r in kept],
        [r.value for r in kept],
        [r.low for r in kept],
        [r.high for r in kept],
    )


def _area_figure(evaluation: Evaluation, mix: str) -> Figure:
    series = []
    for population, name in (("all", "all mentions"), ("position_matched", "position-matched")):
        kept = [
            (pair, r)
            for pair in variants(evaluation)
            for r in evaluation.records
            if (r.detector, r.variant) == pair
            and r.mix == mix_shown(evaluation, *pair, mix)
            and (r.measure, r.population, r.subtype) == ("auroc", population, "all")
        ]
        series.append(
            Series(
                name,
                [_named(evaluation, pair) for pair, _ in kept],
                [r.value for _, r in kept],
                [r.low for _, r in kept],
                [r.high for _, r in kept],
            )
        )
    title = f"AUROC with and without matched positions, mix {shown(mix)}"
    frame = Frame(
        "auroc",
        title,
        "AUROC, concrete against hallucinated (0.5 is chance)",
        "",
        _alt(title, series),
        "What a detector loses when both classes stand at the same places is what it owed to position. "
        "Lines are 95 % intervals. " + _EVALUATE,
    )
    return bar_figure(frame, [s for s in series if s.x], limits=(0.0, 1.0), reference=0.5)


def _top(series: Sequence[Series]) -> float:
    values = [v for line in series for v in (*line.y, *line.high) if v == v]
    return min(1.02, 1.12 * max([*values, TARGET]))


def _alt(title: str, series: Sequence[Series]) -> str:
    lines = []
    for line in series:
        values = ", ".join(
            f"{str(x).split()[0]} {'n/a' if y != y else f'{y:.2f}'}"
            for x, y in zip(line.x, line.y, strict=True)
        )
        lines.append(f"{line.name}: {values}")
    return f"{title}. {'; '.join(lines)}."
