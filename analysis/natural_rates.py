"""How often does the model name what it does not claim, and claim what is not there?

Question: the share of non-assertive mentions and the hallucination rate in captions as they come, with
intervals that resample images (NAME-Bench 3.4, Table 1), and what part of CHAIR's hallucinations the
first explains.
Input: one run folder or several; captions must be of images drawn at random.
Artefact: OUT/natural_rates.csv, .md and .svg.

    python -m analysis.natural_rates runs/demo --other runs/llava
"""

from collections.abc import Sequence

from probekit.detectors import population
from probekit.errors import run_telling
from probekit.evaluation.natural import chair_non_assertive_share, natural_rates
from probekit.evaluation.study import study_job
from probekit.labels import LabelSet
from probekit.report.artefact import cell, line, save_study
from probekit.report.figures import Frame, bar_figure
from probekit.report.tables import Column, Table
from probekit.store import Store

COUNTED = 0.5
"""About half of all non-assertive mentions count as hallucinations for CHAIR (NAME-Bench 4.1)."""


def main(arguments: Sequence[str] | None = None) -> None:
    given = study_job(__doc__, arguments)
    found = {}
    for run in (given.run, *given.others):
        labels = LabelSet.load(run / "labels" / "labels.jsonl")
        everyone = population(Store.open(run / "store").rows(), labels)
        found[run.name] = (len(everyone), len(set(everyone.image)), natural_rates(everyone))
    keys = list(next(iter(found.values()))[2])
    columns = (
        Column("run", "Run"),
        Column("mentions", "Mentions"),
        Column("images", "Images"),
        *(Column(key, key.replace("_", " "), "Share with 95 % interval.", percent=True) for key in keys),
        Column(
            "of_chair", "Non-assertive part of CHAIR's", "At half of them counted, recall 1.", percent=True
        ),
    )
    rows = []
    for name, (mentions, images, rates) in found.items():
        share, rate = (rates[key].value for key in ("non_assertive_share", "hallucination_rate"))
        part = chair_non_assertive_share(share, rate, COUNTED, 1.0)
        rows.append((name, mentions, images, *(cell(rates[key]) for key in keys), part))
    table = Table("Natural rates", columns, tuple(rows), "Labelled mentions of the runs' stores.")
    bars = [line(name, keys, [rates[key] for key in keys]) for name, (_, _, rates) in found.items()]
    frame = Frame("natural_rates", "What captions claim and do not claim", "share", "rate")
    print(f"table: {save_study(given.folder, table, bar_figure(frame, bars))}")


if __name__ == "__main__":
    run_telling(main)
