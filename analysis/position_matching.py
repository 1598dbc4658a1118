"""Which detectors see more than how late a mention comes?

Question: what is left of each AUROC when concrete and hallucinated mentions stand at the same positions,
beside the position baseline, absolute and relative (NAME-Bench 4.1, Table 13)?
Input: a run folder with evaluation.json, store and labels.
Artefact: RUN/studies/position_matching.csv, .md and .svg.

    python -m analysis.position_matching runs/demo
"""

from collections.abc import Sequence

import numpy as np

from probekit.detectors import VARIANTS
from probekit.errors import run_telling
from probekit.evaluation.protocol import Protocol, Scored
from probekit.evaluation.records import Evaluation, Record
from probekit.evaluation.setting import Setting
from probekit.evaluation.study import study_job
from probekit.report.artefact import save_study
from probekit.report.figures import Frame, Series, bar_figure
from probekit.report.tables import Column, Estimate, Table

POPULATIONS = {"all": "all mentions", "position_matched": "position-matched"}


def main(arguments: Sequence[str] | None = None) -> None:
    given = study_job(__doc__, arguments)
    path = given.run / "evaluation.json"
    evaluation = Evaluation.load(path)
    seeds = len(evaluation.provenance["seeds"])
    mix = "none" if given.mixes is None else given.mixes[0]
    records = [*evaluation.records, *_relative_position(Setting.of_run(given.run, seeds))]
    kept: dict[tuple[str, str], dict[str, Record]] = {}
    for r in records:
        if r.measure == "auroc" and r.mix in ("none", mix):
            place = kept.setdefault((r.detector, r.variant), {})
            if r.mix == mix or r.population not in place:
                place[r.population] = r
    columns = (
        Column("detector", "Detector"),
        Column("variant", "Variant"),
        Column("mix", "Mix"),
        *(
            Column(f"auroc_{key}", f"AUROC, {title}", "Concrete against hallucinated test mentions.")
            for key, title in POPULATIONS.items()
        ),
    )
    rows = tuple(
        (name, variant, found["all"].mix, *(_cell(found[where]) for where in POPULATIONS))
        for (name, variant), found in kept.items()
    )
    table = Table("Position", columns, rows, f"Numbers: {path}; position is t*, and t*/T in its second row.")
    names = [name if variant != VARIANTS["position_relative"].variant else f"{name}, t*/T"
             for name, variant in kept]  # fmt: skip
    bars = []
    for where, title in POPULATIONS.items():
        found = [place[where] for place in kept.values()]
        bars.append(
            Series(title, names, [r.value for r in found], [r.low for r in found], [r.high for r in found])
        )
    frame = Frame("position_matching", "AUROC, and what is left at equal positions", "AUROC", "detector")
    figure = bar_figure(frame, bars, limits=(0.0, 1.0), reference=0.5)
    print(f"table: {save_study(given.folder, table, figure)}")


def _relative_position(setting: Setting) -> tuple[Record, ...]:
    detector = VARIANTS["position_relative"]
    table = setting.table(detector)
    score = np.where(table.scored, table.x[:, 0], np.nan)
    by_seed = {split.seed: score for split in setting.splits}
    scored = Scored(detector.name, detector.variant, "none", by_seed, baseline=True)
    return Protocol(setting.population, setting.splits).judge(scored).records


def _cell(record: Record) -> Estimate:
    return Estimate(record.value, record.low, record.high, record.n)


if __name__ == "__main__":
    run_telling(main)
