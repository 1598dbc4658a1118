"""Does a probe learn to let one kind of non-claim pass from examples of the others?

Question: FPR on each subtype when the fit set holds it and when the same number of examples comes from
the other three, at 30 % of the fit hallucinations (NAME-Bench Table 6).
Input: a run folder with store and labels.
Artefact: RUN/studies/leave_one_subtype_out.csv, .md and .svg.

    python -m train.leave_one_subtype_out runs/demo
"""

from collections.abc import Sequence

from probekit.detectors.select import select
from probekit.errors import run_telling
from probekit.evaluation.protocol import Protocol
from probekit.evaluation.setting import Setting
from probekit.evaluation.study import study_job
from probekit.evaluation.unseen import leave_one_out
from probekit.progress import progress
from probekit.report.artefact import cell, line, save_study
from probekit.report.figures import Frame, bar_figure
from probekit.report.tables import Column, Table


def main(arguments: Sequence[str] | None = None) -> None:
    given = study_job(__doc__, arguments)
    setting = Setting.of_run(given.run, given.seeds, given.labels)
    protocol = Protocol(setting.population, setting.splits)
    served, _ = select(setting.store, given.detectors)
    five = ("lookback", "hidden_mid", "hidden_last", "dhcp", "text_only")
    chosen = [d for name, d in served.items() if d.head is not None and (given.detectors or name in five)]
    found = []
    with progress("leave one subtype out", len(chosen), "detectors") as advance:
        for detector in chosen:
            found += leave_one_out(setting, detector, protocol)
            advance(1)
    columns = (
        Column("detector", "Detector"),
        Column("subtype", "Subtype"),
        Column("seen", "FPR, seen", "The fit set draws from all subtypes.", percent=True),
        Column("unseen", "FPR, unseen", "As many, from the other three.", percent=True),
    )
    rows = tuple((f.detector, f.subtype, cell(f.seen), cell(f.unseen)) for f in found)
    table = Table("Leave one subtype out", columns, rows, f"Test mentions of {given.run}, budget 30 %.")
    names = [f"{f.subtype}, {f.detector}" for f in found]
    bars = [line("seen", names, [f.seen for f in found]), line("unseen", names, [f.unseen for f in found])]
    frame = Frame("leave_one_subtype_out", "Subtype flagged, seen and unseen in training", "share flagged")
    figure = bar_figure(frame, bars, limits=(0.0, 1.0), reference=0.1)
    print(f"table: {save_study(given.folder, table, figure)}")


if __name__ == "__main__":
    run_telling(main)
