"""The tables of the Tri-Layer paper from any models' rows.

Question: how do accuracy, shortcut rates, LAD, VNS, CS and the taxonomy compare over models and tasks,
and what does diagnostic confidence buy at half coverage?
Input: one or more CSV files of `probekit.scores.tri_layer.TriLayerRow`.
Artefact: OUT/table2.md to table7.md (6 with --pair), correlations.md, sensitivity.md.

    python -m analysis.tri_layer_tables runs/*/tri_layer.csv --out runs/tri_layer_tables
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from probekit.errors import run_telling
from probekit.files import write_atomically
from probekit.metrics.estimates import Estimate
from probekit.scores import tri_layer as t
from probekit.scores.taxonomy import PLACED, SHORT, check_refusals, sensitivity

SCORES = ("vns", "vns_noise", "vns_conflict", "lad", "lad_noise", "cs", "cs_noise", "cs_full")


def percent(value: float | Estimate) -> str:
    number = value.value if isinstance(value, Estimate) else value
    interval = f" [{100 * value.low:.1f}, {100 * value.high:.1f}]" if isinstance(value, Estimate) else ""
    return "—" if math.isnan(number) else f"{100 * number:.1f}{interval}"


def write(out: Path, name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    write_atomically(out / f"{name}.md", "\n".join(lines) + "\n")


def diagnosis(name: str, rows: Sequence[t.TriLayerRow]) -> list[str]:
    found = t.diagnose(rows)
    refusals = check_refusals([row.category() for row in rows], [row.refused for row in rows])
    return [
        name,
        *(percent(found.shares.share[c]) for c in PLACED),
        *(percent(found.accuracy[c]) for c in PLACED),
        percent(t.response_rates(rows, draws=0).accuracy.value),
        percent(refusals.refused),
        percent(refusals.sycophancy_in_truth_refusal),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("runs/tri_layer_tables"))
    parser.add_argument("--pair", nargs=2, metavar=("SMALL", "LARGE"), help="two models of one family")
    arguments = parser.parse_args()
    out = arguments.out
    every = [row for path in arguments.rows for row in t.load_rows(path)]
    models = t.group_by(every, lambda row: row.model)
    tasks = t.group_by(every, lambda row: row.task)
    table2 = []
    for name, rows in (*models.items(), *tasks.items()):
        r = t.response_rates(rows)
        rates = (r.accuracy, r.sc_blind, r.sc_conflict, r.sc_noise)
        table2.append([name, str(r.n), *map(percent, rates)])
    header2 = ["", "N", "Acc.", "SC blind", "SC conf", "SC noise"]
    write(out, "table2", header2, table2[: len(models)])
    moments = [
        [name, *("{:.2f}±{:.2f}".format(*t.moments(rows, s)[:2]) for s in SCORES)]
        for name, rows in models.items()
    ]
    write(out, "table3", ["", *SCORES], moments)
    header4 = ["", *SHORT.values()][:5] + [f"A {SHORT[c]}" for c in PLACED]
    header4 += ["A all", "refused on black", "V.S. that refuse"]
    groups = (*models.items(), ("Overall", every))
    write(out, "table4", header4, [diagnosis(name, rows) for name, rows in groups])
    write(out, "table5_rates", header2, table2[len(models) :])
    write(out, "table5", header4, [diagnosis(name, rows) for name, rows in tasks.items()])
    if arguments.pair:
        cells = [diagnosis(name, models[name]) for name in arguments.pair]
        write(out, "table6", header4, cells)
    table7 = []
    for name, rows in models.items():
        s = t.selective_prediction(rows)
        areas = [f"{e.value:.4f}" for e in (s.aurc, s.e_aurc, s.augrc)]
        table7.append([name, percent(s.accuracy), percent(s.accuracy_at), percent(s.gain), *areas])
    write(out, "table7", ["", "Baseline", "Acc@50%", "gain", "AURC", "e-AURC", "AUGRC"], table7)
    pairs = (("sc_blind", "sc_noise"), ("vns", "vns_noise"), ("lad", "lad_noise"), ("vns", "vns_conflict"))
    r = [[n, *("{:.3f} (n={})".format(*t.correlation(rows, a, b)) for a, b in pairs)] for n, rows in groups]
    write(out, "correlations", ["", *(f"{a}, {b}" for a, b in pairs)], r)
    sweep = sensitivity([x.lad for x in every], [x.vns for x in every], [x.cs for x in every])
    cells = [
        [f"{s.thresholds.lad}, {s.thresholds.vns}, {s.thresholds.cs}"]
        + [percent(s.shares.share[c]) for c in PLACED]
        + [percent(s.largest_change)]
        for s in sweep
    ]
    write(out, "sensitivity", ["LAD, VNS, CS", *(SHORT[c] for c in PLACED), "largest change"], cells)
    print(f"{len(every)} rows of {len(models)} models: {out}")


if __name__ == "__main__":
    run_telling(main)
