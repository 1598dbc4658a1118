"""POPE audits as sections of a page: readouts, flows, running yes-rates, attention, corrections."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from probekit.evaluation.effect_maps import benjamini_hochberg, holm
from probekit.evaluation.pope_audit import PopeAudit
from probekit.metrics.pope_flow import OUTCOMES
from probekit.metrics.pope_transitions import Transitions
from probekit.report.figures import (
    Figure,
    Frame,
    Point,
    Series,
    bar_figure,
    flow_figure,
    heat_figure,
    histogram_figure,
    iso_f1_figure,
    line_figure,
)
from probekit.report.markup import Html, tag
from probekit.report.page import Section, write_page
from probekit.report.pope_tables import (
    confusion_table,
    correction_table,
    effect_table,
    first_token_table,
    readout_table,
    refusal_table,
    transition_table,
)
from probekit.report.reading import POPE

RUNNING_POINTS = 200
"""Points drawn of a running rate."""


def pope_page(
    path: Path, audits: Mapping[str, PopeAudit], title: str = "Yes/no audit", command: str = ""
) -> Path:
    """Write one self-contained page about several files of questions.

    Args:
        path: the page.
        audits: by a short name of each file of questions, such as random, popular, adversarial.
        command: what made it, for the end of the page.
    """
    provenance = {name: dict(audit.source) for name, audit in audits.items()}
    lead = "What the same answers score under every way of reading them, and what that choice decides."
    return write_page(path, title, pope_sections(audits), {"command": command, **provenance}, lead)


def pope_sections(audits: Mapping[str, PopeAudit]) -> tuple[Section, ...]:
    """The sections of a page about one or several files of questions."""
    sections = [
        POPE,
        Section(
            "Readouts",
            _words(
                "A readout that did not look at what the model said measures itself. Its coverage is the "
                "share of answers it saw; below 0.99 its numbers are withheld unless they were asked for "
                "by name."
            ),
            tuple(
                table
                for table in (readout_table(audits), refusal_table(audits), confusion_table(audits))
                if table.rows
            ),
            tuple(_running(name, audit) for name, audit in audits.items()),
        ),
        Section(
            "What the readout changes",
            _words("The same answers, read twice: each band is a group of questions."),
            (transition_table(audits), first_token_table(audits)),
            tuple(
                _flow(name, moved, i)
                for name, audit in audits.items()
                for i, moved in enumerate(audit.transitions)
                if moved.no_read_as_yes + moved.positive.yes_no + moved.negative.yes_no
            ),
        ),
    ]
    if any(audit.attention is not None or audit.gaps for audit in audits.values()):
        sections.append(
            Section(
                "Attention and confidence",
                _attention_words(audits),
                (effect_table(audits),),
                tuple(figure for name, audit in audits.items() for figure in _groups(name, audit)),
            )
        )
    if any(audit.corrections for audit in audits.values()):
        sections.append(
            Section(
                "Corrections",
                _words(
                    "Each is tuned on some pictures and measured on the others, where the uncorrected "
                    "readout is measured as well."
                ),
                (correction_table(audits),),
                tuple(_plane(name, audit) for name, audit in audits.items() if audit.corrections),
            )
        )
    return tuple(sections)


def _words(text: str) -> Html:
    return tag("p", text)


def _attention_words(audits: Mapping[str, PopeAudit]) -> Html:
    parts = [
        _words(
            "Image attention is the mass that the last prompt token puts on image tokens, averaged over "
            "heads and the blocks named in each figure. Corrections that suppress a yes given with little "
            "attention assume that wrong answers attend less."
        )
    ]
    for name, audit in audits.items():
        found = audit.attention_map
        if found is not None:
            strict = int((holm(found.p_rank) < 0.05).sum())
            lenient = int((benjamini_hochberg(found.p_rank) < 0.05).sum())
            parts.append(
                _words(
                    f"{name}: of {found.tests} heads tested, {strict} tell right from wrong answers at 0.05 "
                    f"after Holm's correction, {lenient} after Benjamini and Hochberg's."
                )
            )
    return Html("".join(parts))


def _running(name: str, audit: PopeAudit) -> Figure:
    alike: dict[bytes, list[str]] = {}
    for readout, rate in audit.running.items():
        alike.setdefault(np.asarray(rate).tobytes(), []).append(readout)
    lines = []
    for names in alike.values():
        rate = audit.running[names[0]]
        steps = np.unique(np.linspace(1, len(rate), min(RUNNING_POINTS, len(rate))).astype(int))
        drawn = [int(step) for step in steps], [float(v) for v in rate[steps - 1]]
        lines.append(Series(" = ".join(names), *drawn))
    once = (
        " Readouts that say the same at every question are one line."
        if len(alike) < len(audit.running)
        else ""
    )
    scores = next(result.scores for result in audit.readouts.values() if result.scores is not None)
    frame = Frame(
        f"running-{_slug(name)}",
        f"Running yes-rate, {name}",
        "questions asked",
        "share answered yes",
        caption=f"The thin line is the share of questions whose right answer is yes.{once}",
    )
    reference = scores.confusion.label_yes_ratio
    return line_figure(frame, lines, limits=(0.0, 1.0), reference=reference, markers=False)


def _flow(name: str, moved: Transitions, number: int) -> Figure:
    counts = {}
    for label, moves in (("label yes", moved.positive), ("label no", moved.negative)):
        for before, after, count in (
            ("yes", "yes", moves.yes_yes),
            ("no", "yes", moves.no_yes),
            ("no", "no", moves.no_no),
            ("yes", "no", moves.yes_no),
        ):
            counts[(f"{before}, {label}", f"{after}, {label}")] = count
    frame = Frame(
        f"flow-{_slug(name)}-{number}",
        f"From {moved.first} to {moved.second}, {name}",
        f"{moved.first} on the left, {moved.second} on the right",
        caption="Bands that change their side are answers that only the readout changed.",
    )
    return flow_figure(frame, counts)


def _groups(name: str, audit: PopeAudit) -> list[Figure]:
    figures = []
    outcome = np.array(audit.outcomes)
    if audit.attention is not None and audit.blocks is not None:
        right, wrong = np.isin(outcome, ("tp", "tn")), np.isin(outcome, ("fp", "fn"))
        frame = Frame(
            f"attention-{_slug(name)}",
            f"Image attention of right and wrong answers, {name}",
            f"attention mass on the image, blocks {audit.blocks[0]} to {audit.blocks[1]}",
            "share of the group",
        )
        groups = {"right": audit.attention[right].tolist(), "wrong": audit.attention[wrong].tolist()}
        figures.append(histogram_figure(frame, groups))
    if audit.attention_map is not None:
        frame = Frame(
            f"attention-map-{_slug(name)}",
            f"Image attention, right minus wrong, by layer and head, {name}",
            "head",
            "layer",
            caption="Cohen's d, pooled; negative where wrong answers attend more.",
        )
        figures.append(heat_figure(frame, audit.attention_map.d_pooled, "d", centre=0.0))
    if audit.gaps:
        found = [audit.gaps[outcome_name] for outcome_name in OUTCOMES]
        frame = Frame(
            f"gap-{_slug(name)}",
            f"Size of the logit gap by outcome, {name}",
            "mean of the absolute gap, bars of one standard deviation",
            "outcome",
        )
        series = Series(
            audit.reference,
            [outcome_name.upper() for outcome_name in OUTCOMES],
            [group.mean for group in found],
            [group.mean - group.sd for group in found],
            [group.mean + group.sd for group in found],
        )
        figures.append(bar_figure(frame, [series]))
    return figures


def _plane(name: str, audit: PopeAudit) -> Figure:
    first = audit.corrections[0].baseline
    points = [Point("uncorrected", [first.recall.value], [first.precision.value])]
    points += [
        Point(tuned.correction.name, [tuned.corrected.recall.value], [tuned.corrected.precision.value])
        for tuned in audit.corrections
    ]
    frame = Frame(
        f"plane-{_slug(name)}",
        f"Corrections on the plane of precision and recall, {name}",
        "recall",
        "precision",
        caption="A correction helps when it crosses to a higher curve, not when it moves along one.",
    )
    lowest = min(value for point in points for value in (*point.x, *point.y) if value == value)
    return iso_f1_figure(frame, points, start=0.5 if lowest > 0.55 else 0.0)


def _slug(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
