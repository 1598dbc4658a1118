"""Which families of models are read correctly, and how far do their numbers lie from Hugging Face's?

Question: which contracts hold on a small random member of each family, with what largest difference, and
which detectors cannot be served?
Input: nothing; the members are made on the spot. Models of your own are checked with `probekit check`.
Artefact: OUT, a Markdown table with the versions it was made with.

    python -m analysis.family_table --out docs/families.md
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from probekit.captures import AttentionGrid
from probekit.detectors import DETECTORS
from probekit.errors import FamilyError, run_telling
from probekit.families import Vlm, load
from probekit.families.tiny import TINY, make
from probekit.files import write_atomically
from probekit.forward.check import Bench, Outcome, Report, check
from probekit.forward.trace import Tracer

COLUMNS = {
    "spans": ("spans", "image tokens", "image span"),
    "states": ("hidden states", "final norm"),
    "logits": ("logits",),
    "rows": ("attention rows",),
    "text only": ("text only",),
    "batches, padding": ("batch of 4 against 1", "left padding"),
    "prefixes shared": ("prefix sharing",),
    "answers shared": ("shared answers",),
    "replay": ("replay",),
    "picture hidden": ("intervention",),
    "TransformerLens": ("TransformerLens",),
}

HEAD = """# Families

Made by `python -m analysis.family_table --out docs/families.md`; not written by hand. Each family is
checked on a small random member of its real class with its real processor, float32 on a CPU, through the
contracts of `probekit check`. A number is the largest difference from Hugging Face's eager outputs, one
text at a time: attention rows absolute, states and logits relative to the largest magnitude. Under
*picture hidden* it is the change of the logits when attention to the image span is zeroed. Under *answers
shared* it is the share of tokens in which answers over one cache differ from transformers' own. *no*: not
switched on, not read by that library, or does not exist.

What a random member cannot show is whether a given checkpoint and its processor belong together, in its
own dtype: that is `probekit check MODEL`. A model that breaks a contract there is refused, until it is
accepted by name. An architecture that is in no family is refused until it was checked.

"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("docs/families.md"))
    given = parser.parse_args(arguments)
    lines, notes, report = [], [], None
    for family in TINY:
        with tempfile.TemporaryDirectory() as folder:
            vlm = load(str(make(family, Path(folder) / family)), dtype="float32", device="cpu")
            report = check(vlm)
            unserved = _unserved(vlm, report)
        cells = [_cell(report, contracts) for contracts in COLUMNS.values()]
        lines.append(f"| {family} | {report.architecture} | {' | '.join(cells)} | {unserved} |")
        notes += [f"- {family}, {o.contract}: {o.note}" for o in report.outcomes if _worth_a_note(o)]
        print(f"{family}: {'passed' if report.passed else 'FAILED ' + ', '.join(report.failed)}")
    assert report is not None
    titles = ["member", "class", *COLUMNS, "detectors not served"]
    table = "\n".join([f"| {' | '.join(titles)} |", "|" + "---|" * len(titles), *lines])
    versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    write_atomically(
        given.out, f"{HEAD}{table}\n\nVersions: {versions}.\n\n## Why not\n\n" + "\n".join(notes) + "\n"
    )


def _cell(report: Report, contracts: Sequence[str]) -> str:
    found = [report[name] for name in contracts]
    if any(outcome.status == "failed" for outcome in found):
        return "**failed**"
    sizes = [outcome.difference for outcome in found if outcome.difference is not None]
    if not sizes:
        return "no"
    return "exact" if max(sizes) == 0 else f"{max(sizes):.1e}"


def _unserved(vlm: Vlm, report: Report) -> str:
    bench = Bench(vlm)
    flat = bench.eager[0].prompt.grids[0] is None
    pictured = report["text only"].status == "skipped"
    names = []
    for name, detector in DETECTORS.items():
        captures = detector.needs()
        try:
            Tracer(vlm, bench.prompter, captures)
        except FamilyError:
            names.append(name)
        else:
            gridless = flat and any(isinstance(capture, AttentionGrid) for capture in captures)
            if gridless or (pictured and any(capture.condition == "text_only" for capture in captures)):
                names.append(name)
    return ", ".join(names) or "none"


def _worth_a_note(outcome: Outcome) -> bool:
    quiet = outcome.contract in ("prefix sharing", "shared answers") or outcome.note.startswith(
        "does not read"
    )
    return outcome.status == "failed" or (outcome.status == "skipped" and not quiet)


if __name__ == "__main__":
    run_telling(main)
