"""Is it the model, or is it the captions it writes?

Question: when another model's captions are forced through this model, does the cost of correcting the
probes follow the captions or the model (NAME-Bench 5.1, Appendix D)?
Input: two run folders with evaluation.json: OWN traced the model on its own captions, FORCED the same
model on captions of another (`python -m extract.other_texts configs/extract/teacher_forced.yaml`, or
`probekit run MODEL --texts CAPTIONS`).
Artefact: FORCED/studies/teacher_forced_control.csv, .md and .svg.

    python -m analysis.teacher_forced_control runs/forced/organism --other runs/demo
"""

from collections.abc import Sequence

from probekit.errors import InputError, run_telling
from probekit.evaluation.budgets import MIXES
from probekit.evaluation.records import Evaluation, Record
from probekit.evaluation.study import study_job
from probekit.report.artefact import save_study
from probekit.report.figures import Frame, Series, line_figure
from probekit.report.tables import Column, Estimate, Table

Key = tuple[str, str, str, str]


def main(arguments: Sequence[str] | None = None) -> None:
    given = study_job(__doc__, arguments)
    if len(given.others) != 1:
        raise InputError("a control compares two runs", hint="Name the other with --other OWN.")
    own, forced = (Evaluation.load(run / "evaluation.json") for run in (given.others[0], given.run))
    if own.provenance["revision"] != forced.provenance["revision"]:
        raise InputError(
            f"{given.others[0]} and {given.run} traced different models",
            hint="The control holds the model fixed and changes the captions: the other must be a run of "
            "this model on its own.",
        )
    shown = "hidden_mid" if given.detectors is None else given.detectors[0]
    sides = [_records(own), _records(forced)]
    shared = [key for key in sides[0] if key in sides[1]]
    columns = (
        Column("detector", "Detector"),
        Column("mix", "Mix"),
        Column("measure", "Measure"),
        Column("own", "Own captions", "The model describes the image itself.", percent=True),
        Column("forced", "Forced captions", "Captions of another model.", percent=True),
    )
    rows = tuple((key[0], key[2], key[3], *(_cell(side[key]) for side in sides)) for key in shared)
    table = Table("Teacher-forced control", columns, rows, f"{given.others[0]} and {given.run}.")
    lines = []
    for title, side in zip(("own captions", "forced captions"), sides, strict=True):
        found = [
            side[key] for mix in MIXES for key in shared
            if key[0] == shown and key[2] == mix and key[3] == "fpr_non_assertive"
        ]  # fmt: skip
        ends = [r.low for r in found], [r.high for r in found]
        lines.append(Series(title, [r.mix for r in found], [r.value for r in found], *ends))
    frame = Frame(
        "teacher_forced_control", f"Non-assertive mentions flagged by {shown}", "mix", "share flagged"
    )
    figure = line_figure(frame, lines, limits=(0.0, 1.0), reference=0.1)
    print(f"table: {save_study(given.folder, table, figure)}")


def _records(evaluation: Evaluation) -> dict[Key, Record]:
    return {
        (r.detector, r.variant, r.mix, r.measure): r
        for r in evaluation.records
        if r.population == "all" and r.subtype == "all"
    }


def _cell(record: Record) -> Estimate:
    return Estimate(record.value, record.low, record.high, record.n)


if __name__ == "__main__":
    run_telling(main)
