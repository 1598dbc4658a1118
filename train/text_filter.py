"""Can a filter that reads only the text stand in front of any detector?

Question: what does a text-only filter catch, which hallucinations does it remove, and what do detectors
flag behind it with recalibrated thresholds (NAME-Bench 5.2, Appendix E, Table 11)?
Input: a run folder with a store that holds the pass without the image, labels and heads.
Artefact: RUN/studies/text_filter.csv, .md and .svg.

    python -m train.text_filter runs/demo
"""

from collections.abc import Sequence

from probekit.detectors.select import select
from probekit.errors import run_telling
from probekit.evaluation.protocol import Protocol
from probekit.evaluation.records import Record
from probekit.evaluation.run import scored_by_heads
from probekit.evaluation.setting import Setting
from probekit.evaluation.study import study_job
from probekit.evaluation.text_filter import text_filter
from probekit.report.artefact import save_study
from probekit.report.figures import Frame, Series, bar_figure
from probekit.report.tables import Column, Estimate, Table


def main(arguments: Sequence[str] | None = None) -> None:
    given = study_job(__doc__, arguments)
    setting = Setting.of_run(given.run, given.seeds, given.labels)
    protocol = Protocol(setting.population, setting.splits)
    made = text_filter(setting, protocol)
    heads, mix = given.run / "heads", "natural" if given.mixes is None else given.mixes[0]
    found: list[tuple[str, dict[str, Record], dict[str, Record]]] = []
    for name, detector in select(setting.store, given.detectors)[0].items():
        if detector.head is not None and not (heads / name / mix).is_dir():
            continue
        notes: dict[str, dict[str, object]] = {"budgets": {}}
        table = setting.table(detector)
        for scored in scored_by_heads(setting, name, detector, table, heads, [mix], notes):
            kept = made.keep(scored)
            sides = protocol.judge(kept).records, protocol.judge(kept, made.marked).records
            found.append((name, *map(_rates, sides)))
    columns = (
        Column("detector", "Detector"),
        Column("fpr", "FPR", "Non-assertive mentions flagged, without the filter.", percent=True),
        Column("fpr_filtered", "FPR, filtered", "The same behind the filter.", percent=True),
        Column("tpr", "TPR", "Hallucinated mentions flagged, without the filter.", percent=True),
        Column("tpr_filtered", "TPR, filtered", "The same behind the filter.", percent=True),
    )
    rows = [
        (name, *(_cell(side[m]) for m in ("fpr_non_assertive", "tpr") for side in (before, after)))
        for name, before, after in found
    ]
    caught = ", ".join(f"{name} {pooled.value:.1%}" for name, pooled in made.caught.items())
    about = f"The filter catches {caught}; it removes {made.removed.value:.1%} of the hallucinations."
    table = Table("Text filter", columns, tuple(rows), about)
    names = [name for name, _, _ in found]
    bars = [
        Series(title, names, [side[at]["fpr_non_assertive"].value for side in found])
        for title, at in (("without filter", 1), ("with filter", 2))
    ]
    frame = Frame("text_filter", "Non-assertive mentions flagged", "share flagged", "detector", caption=about)
    figure = bar_figure(frame, bars, limits=(0.0, 1.0), reference=0.1)
    print(about)
    print(f"table: {save_study(given.folder, table, figure)}")


def _rates(records: Sequence[Record]) -> dict[str, Record]:
    return {r.measure: r for r in records if r.population == "all" and r.subtype == "all"}


def _cell(record: Record) -> Estimate:
    return Estimate(record.value, record.low, record.high, record.n)


if __name__ == "__main__":
    run_telling(main)
