"""Does a probe flag what is not claimed because it is not there?

Question: among non-assertive mentions, are those of absent objects flagged more than those of present
ones, and how well do the scores tell the two apart (NAME-Bench 5.3, Table 7)?
Input: a run folder with store, labels and heads.
Artefact: RUN/studies/absent_present.csv, .md and .svg.

    python -m analysis.absent_present runs/demo --detector hidden_mid --detector text_only
"""

from collections.abc import Sequence

from probekit.detectors.select import select
from probekit.errors import run_telling
from probekit.evaluation.absent import absent_against_present
from probekit.evaluation.protocol import Protocol
from probekit.evaluation.run import scored_by_heads
from probekit.evaluation.setting import Setting
from probekit.evaluation.study import study_job
from probekit.report.artefact import cell, line, save_study
from probekit.report.figures import Frame, bar_figure
from probekit.report.tables import Column, Table


def main(arguments: Sequence[str] | None = None) -> None:
    given = study_job(__doc__, arguments)
    setting = Setting.of_run(given.run, given.seeds, given.labels)
    protocol = Protocol(setting.population, setting.splits)
    heads, mix = given.run / "heads", "none" if given.mixes is None else given.mixes[0]
    chosen, _ = select(setting.store, given.detectors)
    found = []
    for name, detector in chosen.items():
        if given.detectors is None and detector.head is not None and not (heads / name / mix).is_dir():
            continue
        notes: dict[str, dict[str, object]] = {"budgets": {}}
        table = setting.table(detector)
        for scored in scored_by_heads(setting, name, detector, table, heads, [mix], notes):
            found += absent_against_present(protocol, scored)
    columns = (
        Column("detector", "Detector"),
        Column("mix", "Mix"),
        Column("subtype", "Subtype"),
        Column("absent", "Flagged, absent", "The object is not in the image.", percent=True),
        Column("present", "Flagged, present", "The object is in the image.", percent=True),
        Column("auroc", "AUROC, absent over present", "0.5: the score does not see the absence."),
    )
    rows = tuple(
        (f.detector, f.mix, f.subtype, cell(f.absent), cell(f.present), cell(f.auroc)) for f in found
    )
    table = Table("Absent against present", columns, rows, f"Non-assertive test mentions of {given.run}.")
    pooled = [f for f in found if f.subtype == "all"]
    names = [f.detector for f in pooled]
    bars = [
        line("object absent", names, [f.absent for f in pooled]),
        line("object present", names, [f.present for f in pooled]),
    ]
    frame = Frame("absent_present", "Non-assertive mentions flagged", "share flagged", "detector")
    figure = bar_figure(frame, bars, limits=(0.0, 1.0), reference=0.1)
    print(f"table: {save_study(given.folder, table, figure)}")


if __name__ == "__main__":
    run_telling(main)
