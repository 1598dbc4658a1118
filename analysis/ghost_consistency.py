"""Can Ghost-100's printed H-Rates and its text both be true?

Question: do the averages and spreads of the paper's Table 2 follow from the tone values, ranges and
rankings its text quotes, and do the validation figures add up?
Input: the numbers shipped with `probekit.metrics.rates_consistency`, or a YAML file of the same shape.
Artefact: OUT/ghost_consistency.csv and .md, one row a check.

    python -m analysis.ghost_consistency --out runs/ghost_consistency
"""

import argparse
import csv
import io
from pathlib import Path

from probekit.errors import run_telling
from probekit.files import write_atomically
from probekit.metrics.rates_consistency import check, load_printed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs/ghost_consistency"))
    parser.add_argument("--printed", type=Path, default=None, help="printed numbers, YAML")
    arguments = parser.parse_args()
    findings = check(load_printed(arguments.printed))
    rows = [("subject", "claim", "implied", "verdict")]
    rows += [(f.subject, f.claim, f.found, "holds" if f.consistent else "inconsistent") for f in findings]
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows(rows)
    write_atomically(arguments.out / "ghost_consistency.csv", table.getvalue())
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|---|---|---|---|")
    write_atomically(arguments.out / "ghost_consistency.md", "\n".join(lines) + "\n")
    failed = [f for f in findings if not f.consistent]
    for finding in failed:
        print(f"{finding.subject}: {finding.claim}; {finding.found}")
    print(f"{len(findings)} checks, {len(failed)} inconsistent: {arguments.out}")


if __name__ == "__main__":
    run_telling(main)
