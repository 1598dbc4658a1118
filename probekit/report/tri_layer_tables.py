"""Tables of a Tri-Layer study: responses, scores, taxonomy, thresholds, contrasts, selection."""

from probekit.evaluation.tri_layer_summary import ALL, TriLayerSummary
from probekit.metrics.estimates import Estimate as Measured
from probekit.report.intervals import resampled
from probekit.report.tables import Cell, Column, Estimate, Table
from probekit.scores.taxonomy import PLACED, SHORT, Shares

INTERVALS = resampled()
MEANING = {
    "lad": "refusals on black against the picture (Eq. 1)",
    "lad_best": "the same, of the anchor likeliest on black",
    "lad_noise": "refusals on noise against the picture",
    "lad_noise_best": "the same, of the anchor likeliest on noise",
    "lad_conflict": "control: refusals on another real picture against the own one",
    "vns": "picture against black",
    "vns_noise": "picture against noise",
    "vns_conflict": "picture against another real picture",
    "cs": "answer to black against refusals on black",
    "cs_full": "answer to the picture, scored on black, against refusals on black",
    "cs_noise": "answer to noise against refusals on noise",
    "cs_noise_full": "answer to the picture, scored on noise, against refusals on noise",
}


def response_table(found: TriLayerSummary) -> Table:
    """Accuracy and shortcut rates, of all samples and by task (the paper's Tables 2 and 5)."""
    columns = (
        Column("group", "Samples"),
        Column("n", "n"),
        Column("accuracy", "Accuracy", percent=True),
        Column("sc_blind", "Shortcut, black", percent=True),
        Column("sc_noise", "Shortcut, noise", percent=True),
        Column("sc_conflict", "Shortcut, other picture", percent=True),
    )
    rows: list[tuple[Cell, ...]] = [
        (name, r.n, *map(estimate, (r.accuracy, r.sc_blind, r.sc_noise, r.sc_conflict)))
        for name, r in found.rates.items()
    ]
    caption = f"A shortcut is an answer with content where there is nothing to answer from. {INTERVALS}"
    return Table("Answers", columns, tuple(rows), caption)


def score_table(found: TriLayerSummary) -> Table:
    """Mean of every score and variant, in nats (the paper's Table 3)."""
    columns = (
        Column("score", "Score"),
        Column("mean", "Mean, nats"),
        Column("n", "n"),
        Column("about", "What is compared"),
    )
    rows: list[tuple[Cell, ...]] = [
        (name, estimate(value), value.n, MEANING[name]) for name, value in found.means.items()
    ]
    return Table("Scores", columns, tuple(rows), INTERVALS)


def taxonomy_table(found: TriLayerSummary) -> Table:
    """Share and accuracy of each category, and how often its answer to black is a refusal (Table 4)."""
    every = found.diagnoses[ALL]
    columns = (
        Column("category", "Category"),
        Column("share", "Share", percent=True),
        Column("accuracy", "Accuracy", percent=True),
        Column("refused", "Refused on black", percent=True),
        Column("cs_full", "Share, CS of the full answer", percent=True),
        Column("noise", "Share, noise", percent=True),
        Column("low", "Least over thresholds", percent=True),
        Column("high", "Most over thresholds", percent=True),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            category.replace("_", " "),
            every.shares.share[category],
            every.accuracy[category],
            found.refusals.refused_by_category[category],
            found.cs_full.share[category],
            found.noise.share[category],
            *found.sweep_range[str(category)],
        )
        for category in PLACED
    ]
    caption = (
        f"{every.shares.n} samples placed, {every.shares.undefined} not. Refusals are read from the text. CS "
        "sees one only where its words are an anchor's; any other greedy answer is near the likeliest text."
    )
    return Table("Taxonomy", columns, tuple(rows), caption)


def task_table(found: TriLayerSummary) -> Table:
    """The taxonomy by task (the paper's Table 5); without rows when there is one task."""
    columns = (Column("task", "Task"), Column("n", "n"), *_category_columns())
    rows: list[tuple[Cell, ...]] = [
        (name, d.shares.n, *_categories(d.shares)) for name, d in found.diagnoses.items() if name != ALL
    ]
    return Table("Taxonomy by task", columns, tuple(rows), "Default thresholds: LAD 1.5, VNS 1.0, CS 0.")


def sweep_table(found: TriLayerSummary) -> Table:
    """The taxonomy under every combination of thresholds, the default first."""
    columns = (
        Column("lad", "LAD"),
        Column("vns", "VNS"),
        Column("cs", "CS"),
        *_category_columns(),
        Column("change", "Largest change", percent=True),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            f"{s.thresholds.lad:g}",
            f"{s.thresholds.vns:g}",
            f"{s.thresholds.cs:g}",
            *_categories(s.shares),
            s.largest_change,
        )
        for s in found.sweep
    ]
    return Table(
        "Thresholds", columns, tuple(rows), "A score equal to a threshold falls on the failing side."
    )


def contrast_table(found: TriLayerSummary) -> Table:
    """Whether a score is higher in one group of samples than in another."""
    columns = (
        Column("score", "Score"),
        Column("first", "Higher in"),
        Column("second", "than in"),
        Column("auroc", "AUROC"),
        Column("first_mean", "Mean, first"),
        Column("second_mean", "Mean, second"),
        Column("n", "n"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            c.score,
            c.first,
            c.second,
            *map(estimate, (c.auroc, c.first_mean, c.second_mean)),
            f"{c.n[0]} - {c.n[1]}",
        )
        for c in found.contrasts
    ]
    caption = f"AUROC 0.5: no difference; below 0.5: lower, not higher. {INTERVALS}"
    return Table("Contrasts", columns, tuple(rows), caption)


def selective_table(found: TriLayerSummary) -> Table:
    """Selective prediction by diagnosis (the paper's Table 7) and areas under risk-coverage curves."""
    s = found.selective
    columns = (
        Column("accuracy", "Accuracy", percent=True),
        Column("accuracy_at", f"Accuracy at {s.coverage:.0%}", percent=True),
        Column("gain", "Gain", percent=True),
        Column("aurc", "AURC"),
        Column("oracle", "Oracle AURC"),
        Column("e_aurc", "e-AURC"),
        Column("augrc", "AUGRC"),
    )
    cells = (s.accuracy, s.accuracy_at, s.gain, s.aurc, s.oracle, s.e_aurc, s.augrc)
    caption = f"{s.accuracy.n} samples, {s.tied} with a tied confidence. Lower areas are better. {INTERVALS}"
    return Table("Selective prediction", columns, (tuple(map(estimate, cells)),), caption)


def correlation_table(found: TriLayerSummary) -> Table:
    """Pearson's r of pairs of scores: do blind and noise agree?"""
    columns = (Column("pair", "Pair"), Column("r", "r"), Column("n", "n"))
    rows: list[tuple[Cell, ...]] = [(pair, r, n) for pair, (r, n) in found.correlations.items()]
    return Table("Correlations", columns, tuple(rows), "n/a where a column is constant.")


def terminal_tables(found: TriLayerSummary) -> tuple[Table, ...]:
    """What a terminal shows."""
    taxonomy = taxonomy_table(found).only(("category", "share", "accuracy", "refused", "cs_full", "noise"))
    tables = (response_table(found), taxonomy, contrast_table(found), selective_table(found))
    return tuple(table for table in tables if table.rows)


def estimate(value: Measured) -> Estimate:
    """A measured estimate as a cell."""
    return Estimate.of(value)


def _category_columns() -> tuple[Column, ...]:
    return tuple(Column(str(c), SHORT[c], percent=True) for c in PLACED)


def _categories(found: Shares) -> tuple[float, ...]:
    return tuple(found.share[c] for c in PLACED)
