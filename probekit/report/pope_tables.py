"""Tables of POPE audits: readouts, confusion, transitions, first tokens, effect sizes, corrections."""

from collections.abc import Mapping

from probekit.evaluation.effects import EffectSizes
from probekit.evaluation.pope_audit import PopeAudit
from probekit.metrics import estimates
from probekit.metrics.pope import MEASURES
from probekit.metrics.pope_transitions import closed_form_f1
from probekit.report.formats import p_value
from probekit.report.intervals import resampled
from probekit.report.tables import Cell, Column, Estimate, Table
from probekit.scores.correction_tuning import TunedCorrection

INTERVALS = resampled()
_FILE = Column("file", "Questions", "File of questions.")
_READOUT = Column("readout", "Readout", "How a yes or a no was read from the model.")
_TITLES = {
    "f1": "F1",
    "precision": "Precision",
    "recall": "Recall",
    "accuracy": "Accuracy",
    "yes_ratio": "Yes-ratio",
    "unknown_share": "Unknown",
}
FIRST_TOKENS = 12
"""First tokens shown; the rest is one row."""


def readout_table(audits: Mapping[str, PopeAudit]) -> Table:
    """Every readout's coverage and metrics; a refused one has its coverage alone."""
    columns = (
        _FILE,
        _READOUT,
        Column("coverage", "Coverage", "Share of answers the readout looked at; below 0.99 it is refused."),
        *(Column(name, _TITLES[name]) for name in MEASURES),
    )
    rows = []
    for name, audit in audits.items():
        for result in audit.readouts.values():
            values: list[Cell] = (
                [Estimate(float("nan"), reason=result.refused)] * len(MEASURES)
                if result.scores is None
                else [_cell(estimate) for estimate in result.scores.estimates().values()]
            )
            mark = " (reference)" if result.name == audit.reference else ""
            rows.append((name, result.name + mark, result.coverage, *values))
    return Table("Readouts", columns, tuple(rows), INTERVALS)


def refusal_table(audits: Mapping[str, PopeAudit]) -> Table:
    """Why readouts are refused, and which forms of yes and no their tokenizer does not allow."""
    columns = (_FILE, _READOUT, Column("coverage", "Coverage"), Column("reason", "Reason"))
    rows: list[tuple[Cell, ...]] = []
    for name, audit in audits.items():
        for result in audit.readouts.values():
            if result.refused:
                rows.append((name, result.name, result.coverage, f"refused: {result.refused}"))
            elif result.scores is not None and result.readings is not None and result.readings.note:
                note = f"scored because it was asked for by name: {result.readings.note}"
                rows.append((name, result.name, result.coverage, note))
            if result.left_out:
                forms = "; ".join(result.left_out)
                rows.append((name, result.name, result.coverage, f"forms left out: {forms}"))
    return Table("Refused, or read with fewer forms", columns, tuple(rows))


def confusion_table(audits: Mapping[str, PopeAudit]) -> Table:
    """Counts behind the metrics."""
    columns = (
        _FILE,
        _READOUT,
        Column("tp", "TP"),
        Column("fp", "FP"),
        Column("fn", "FN"),
        Column("tn", "TN"),
        Column("unknown_yes", "Unknown, label yes"),
        Column("unknown_no", "Unknown, label no"),
        Column("n", "Questions"),
        Column("images", "Pictures"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, audit in audits.items():
        for result in audit.readouts.values():
            if result.scores is not None:
                c = result.scores.confusion
                counts = (c.tp, c.fp, c.fn, c.tn, c.unknown_yes, c.unknown_no, c.n)
                rows.append((name, result.name, *(int(v) for v in counts), result.scores.images))
    return Table("Confusion", columns, tuple(rows), "Yes is the positive class.")


def transition_table(audits: Mapping[str, PopeAudit]) -> Table:
    """How decisions move between readouts of the same answers, and the F1 that follows in closed form."""
    columns = (
        _FILE,
        Column("first", "From"),
        Column("second", "To"),
        Column("phi", "phi", "Share of wrong no (label yes) that the second readout reads as yes."),
        Column("rho_n", "rho_N", "Share of right no (label no) that the second readout reads as yes."),
        Column("no_yes", "No to yes", "Questions."),
        Column("yes_no", "Yes to no", "Questions; the closed form holds when there are none."),
        Column("dropped", "Unknown in one"),
        Column("f1_first", "F1 before"),
        Column("f1_closed", "F1, closed form"),
        Column("f1_second", "F1 after"),
    )
    rows = []
    for name, audit in audits.items():
        for moved in audit.transitions:
            before, after = moved.before(), moved.after()
            back = moved.positive.yes_no + moved.negative.yes_no
            closed: Cell = Estimate(float("nan"), reason="a yes became a no")
            if not back:
                closed = closed_form_f1(
                    before.tp + before.fn,
                    before.tn + before.fp,
                    before.tp,
                    before.tn,
                    moved.phi if before.fn else 0.0,
                    moved.rho_n if before.tn else 0.0,
                )
            rows.append(
                (
                    name,
                    moved.first,
                    moved.second,
                    moved.phi,
                    moved.rho_n,
                    moved.no_read_as_yes,
                    back,
                    moved.dropped,
                    before.f1,
                    closed,
                    after.f1,
                )
            )
    return Table("Moves between readouts", columns, tuple(rows), "The model and its answers are the same.")


def first_token_table(audits: Mapping[str, PopeAudit]) -> Table:
    """What opened the answers."""
    columns = (
        _FILE,
        Column("token", "Token id"),
        Column("text", "Text"),
        Column("count", "Answers"),
        Column("label_yes", "Label yes"),
        Column("label_no", "Label no"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, audit in audits.items():
        for first in audit.first_tokens[:FIRST_TOKENS]:
            text = repr(audit.token_texts[first.token]) if first.token in audit.token_texts else ""
            rows.append((name, str(first.token), text, first.count, first.label_yes, first.label_no))
        rest = audit.first_tokens[FIRST_TOKENS:]
        if rest:
            yes, no = sum(f.label_yes for f in rest), sum(f.label_no for f in rest)
            rows.append((name, f"{len(rest)} others", "", yes + no, yes, no))
    return Table("First tokens", columns, tuple(rows))


def effect_table(audits: Mapping[str, PopeAudit]) -> Table:
    """Effect sizes of image attention and of the logit gap, all conventions side by side."""
    columns = (
        _FILE,
        Column("quantity", "Quantity"),
        Column("groups", "Groups", "First minus second."),
        Column("n", "n"),
        Column("means", "Means"),
        Column("d_pooled", "d, pooled"),
        Column("d_rms", "d, RMS"),
        Column("welch_p", "Welch p, two-sided"),
        Column("rank_p", "Mann-Whitney p, two-sided"),
        Column("auc", "AUC", "Share of pairs in which the first group has more, ties half."),
    )
    rows = []
    for name, audit in audits.items():
        for quantity, effects in (
            ("image attention", audit.attention_effects),
            ("size of the logit gap", audit.gap_effects),
        ):
            rows += [(name, quantity, groups, *_effect(effect)) for groups, effect in effects.items()]
    caption = (
        "Both p take questions for independent, although several share a picture; Mann-Whitney's is by the "
        f"normal approximation. {INTERVALS}"
    )
    return Table("Effect sizes", columns, tuple(rows), caption)


def correction_table(audits: Mapping[str, PopeAudit]) -> Table:
    """Corrections on the pictures they were not tuned on."""
    columns = (
        _FILE,
        Column("correction", "Correction"),
        Column("parameters", "Chosen"),
        Column("calibration", "Tuned on", "Pictures."),
        Column("test", "Measured on", "Pictures."),
        Column("f1", "F1"),
        Column("gain", "Gain in F1", "Against the uncorrected readout on the same pictures, paired."),
        Column("precision", "Precision"),
        Column("recall", "Recall"),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, audit in audits.items():
        rows += [
            (
                name,
                tuned.correction.name,
                _chosen(tuned),
                tuned.calibration_images,
                tuned.test_images,
                _cell(tuned.corrected.f1),
                _cell(tuned.gain),
                _cell(tuned.corrected.precision),
                _cell(tuned.corrected.recall),
            )
            for tuned in audit.corrections
        ]
        for kind, reason in audit.skipped.items():
            empty = [Estimate(float("nan"), reason=reason)] * 4
            rows.append((name, kind, reason, "", "", *empty))
    return Table("Corrections", columns, tuple(rows))


def _chosen(tuned: TunedCorrection) -> str:
    if tuned.unchanged:
        return "nothing: the readout as it is was best"
    values = tuned.record()["parameters"].items()
    return ", ".join(
        f"{name.replace('_', ' ')} " + (f"{value:.3g}" if isinstance(value, float) else str(value))
        for name, value in values
    )


def _effect(effect: EffectSizes) -> tuple[Cell, ...]:
    return (
        f"{effect.first.n} and {effect.second.n}",
        f"{effect.first.mean:.4g} and {effect.second.mean:.4g}",
        _cell(effect.d_pooled),
        _cell(effect.d_rms),
        p_value(effect.welch.p),
        p_value(effect.rank.p),
        _cell(effect.auc),
    )


def _cell(estimate: estimates.Estimate) -> Estimate:
    return Estimate.of(estimate, "undefined")
