"""Do the findings hinge on calling hedges non-claims?

Question: with hedged mentions counted as existential and probes trained anew, what share of the remaining
non-assertive mentions is flagged (NAME-Bench 5.3, Appendix I)?
Input: a run folder with store and labels.
Artefact: RUN/studies/hedges_as_claims.csv, .md and .svg.

    python -m train.hedges_as_claims runs/demo
"""

from collections.abc import Sequence

from probekit.detectors.select import select
from probekit.errors import run_telling
from probekit.evaluation.budgets import Mix
from probekit.evaluation.natural import hedges_as_claims
from probekit.evaluation.protocol import Protocol
from probekit.evaluation.refit import mix_recipe, refit
from probekit.evaluation.setting import Setting
from probekit.evaluation.study import study_job
from probekit.labels import Usage
from probekit.progress import progress
from probekit.report.artefact import cell, line, save_study
from probekit.report.figures import Frame, bar_figure
from probekit.report.tables import Column, Table

MIXES: tuple[Mix, ...] = ("none", "natural")


def main(arguments: Sequence[str] | None = None) -> None:
    given = study_job(__doc__, arguments)
    usual = Setting.of_run(given.run, given.seeds, given.labels)
    claims = Setting.of(usual.store, hedges_as_claims(usual.labels), given.seeds)
    served, _ = select(usual.store, given.detectors)
    five = ("lookback", "hidden_mid", "hidden_last", "dhcp", "text_only")
    chosen = [d for name, d in served.items() if d.head is not None and (given.detectors or name in five)]
    found = []
    with progress("hedges as claims", len(chosen), "detectors") as advance:
        for detector in chosen:
            sides = []
            for setting in (usual, claims):
                everyone = setting.population
                protocol = Protocol(everyone, setting.splits)
                recipes = [mix_recipe(setting, mix) for mix in MIXES]
                rest = (everyone.subtype != "") & (everyone.subtype != str(Usage.HEDGED))
                scored = refit(detector, setting.table(detector), setting.splits, recipes)
                sides.append([protocol.share(one, rest.astype(bool)) for one in scored])
            found += [(detector.name, mix, *rates) for mix, *rates in zip(MIXES, *sides, strict=True)]
            advance(1)
    columns = (
        Column("detector", "Detector"),
        Column("mix", "Mix"),
        Column("usual", "FPR, hedges are no claims", "Depictive, purpose and negation.", percent=True),
        Column("claims", "FPR, hedges are claims", "The same mentions, probes trained anew.", percent=True),
    )
    rows = tuple((name, mix, cell(before), cell(after)) for name, mix, before, after in found)
    table = Table("Hedges as claims", columns, rows, f"Test mentions of {given.run} that are not hedged.")
    names = [f"{name}, {mix}" for name, mix, *_ in found]
    bars = [
        line("hedges are no claims", names, [before for *_, before, _ in found]),
        line("hedges are claims", names, [after for *_, after in found]),
    ]
    frame = Frame("hedges_as_claims", "Other non-claims flagged", "share flagged", "detector, mix")
    figure = bar_figure(frame, bars, limits=(0.0, 1.0), reference=0.1)
    print(f"table: {save_study(given.folder, table, figure)}")


if __name__ == "__main__":
    run_telling(main)
