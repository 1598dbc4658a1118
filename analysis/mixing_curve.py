"""How many non-assertive examples does a probe need before it stops taking them for hallucinations?

Question: how do the non-assertive false positive rate and the recall of each trained detector move as
non-assertive mentions join the fit set (NAME-Bench 5.1, Table 5)?
Input: a run folder with evaluation.json over several mixes.
Artefact: RUN/studies/mixing_curve.csv, .md and .svg.

    python -m analysis.mixing_curve runs/demo
"""

from collections.abc import Sequence

from probekit.errors import InputError, run_telling
from probekit.evaluation.records import Evaluation, Record
from probekit.evaluation.study import study_job
from probekit.report.artefact import save_study
from probekit.report.figures import Frame, Series, line_figure
from probekit.report.intervals import resampled
from probekit.report.mixes import MEANING, UNIT, budgets, shown
from probekit.report.tables import Column, Estimate, Table


def main(arguments: Sequence[str] | None = None) -> None:
    given = study_job(__doc__, arguments)
    path = given.run / "evaluation.json"
    evaluation = Evaluation.load(path)
    rates = {
        (r.detector, r.variant, r.mix, r.measure): r
        for r in evaluation.records
        if r.population == "all" and r.subtype == "all"
    }
    places = {mix: label for mix, label in budgets(evaluation).items() if any(key[2] == mix for key in rates)}
    trained = list(dict.fromkeys(key[:2] for key in rates if key[2] != "none"))
    if not trained:
        raise InputError("holds one mix only", where=str(path), hint="probekit train-probes STORE --mix all")
    columns = [Column("detector", "Detector"), Column("measure", "Measure")]
    columns += [Column(mix, f"flagged, mix {shown(mix)}", MEANING, percent=True) for mix in places]
    rows = [
        (name, measure, *(_cell(rates.get((name, variant, mix, measure))) for mix in places))
        for measure in ("fpr_non_assertive", "tpr")
        for name, variant in trained
    ]
    table = Table(
        "Mixing",
        tuple(columns),
        tuple(rows),
        f"{MEANING} {resampled()} Numbers: {path}, made by `probekit evaluate`.",
    )
    lines = []
    for name, variant in trained:
        found = [rates[name, variant, mix, "fpr_non_assertive"] for mix in places]
        ends = [r.low for r in found], [r.high for r in found]
        lines.append(Series(name, list(places.values()), [r.value for r in found], *ends))
    frame = Frame(
        "mixing_curve",
        "Non-assertive mentions flagged as non-assertive examples are mixed in",
        UNIT + (";\nbelow it, how many" if any("\n" in label for label in places.values()) else ""),
        "share flagged",
        "One falling line for each trained detector.",
    )
    figure = line_figure(frame, lines, limits=(0.0, 1.0), reference=0.1)
    print(f"table: {save_study(given.folder, table, figure)}")


def _cell(record: Record | None) -> Estimate:
    if record is None:
        return Estimate(float("nan"), reason="not in the evaluation")
    return Estimate(record.value, record.low, record.high, record.n, groups=record.images)


if __name__ == "__main__":
    run_telling(main)
