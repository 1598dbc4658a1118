"""How much of a model's POPE score is the way its answers were read?

Question: what do the random, popular and adversarial splits score under every readout, which readouts saw
the answers, and do attention and confidence tell right answers from wrong ones?
Input: a folder that `probekit pope` made, read again here with other choices; or one folder for each split,
holding questions.jsonl, answers.jsonl and, as far as they exist, logits.npy, forms.npy and attention.npy (a
row for each line of answers.jsonl); tokenizer.json in the folder itself.
Artefact: OUT/pope_audit.html, OUT/pope_audit.json, and OUT/readouts.md and .csv.

    python -m analysis.pope_audit runs/pope --out runs/pope_audit
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from probekit.errors import InputError, run_telling
from probekit.evaluation.pope_audit import PopeAudit, audit
from probekit.evaluation.pope_store import load_split
from probekit.report.pope_files import write_audits

ORDER = ("random", "popular", "adversarial")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("runs/pope_audit"))
    parser.add_argument("--tokenizer", type=Path, help="tokenizer.json or its folder; FOLDER by default")
    parser.add_argument("--context", help="end of the prompt; ASSISTANT: unless the pass noted it")
    parser.add_argument("--certainty", help="column of answers.jsonl with an image-text score")
    parser.add_argument("--exclude", type=Path, help="ids of questions with known wrong labels")
    parser.add_argument("--allow-uncovered", action="append", default=[], metavar="READOUT")
    parser.add_argument("--draws", type=int, default=1000)
    given = parser.parse_args(arguments)
    audits: dict[str, PopeAudit] = {}
    for split in _splits(given.folder):
        inputs = load_split(
            split,
            tokenizer=given.tokenizer,
            context=None if given.context is None else given.context.replace("\\n", "\n"),
            certainty=given.certainty,
            exclude=given.exclude,
        )
        audits[split.name] = audit(inputs, allow_uncovered=given.allow_uncovered, draws=given.draws)
        _say(split.name, audits[split.name])
    print(f"page: {write_audits(given.out, audits, 'python -m analysis.pope_audit')}")


def _splits(folder: Path) -> list[Path]:
    found = [path.parent for path in folder.glob("*/questions.jsonl")]
    if not found:
        raise InputError("holds no split", where=str(folder), hint="Expected FOLDER/random/questions.jsonl.")
    return sorted(found, key=lambda path: (ORDER.index(path.name) if path.name in ORDER else 9, path.name))


def _say(split: str, found: PopeAudit) -> None:
    for result in found.readouts.values():
        told = f"refused: {result.refused}" if result.scores is None else f"F1 {result.scores.f1}"
        print(f"{split:12} {result.name:26} coverage {result.coverage:.4f}  {told}")


if __name__ == "__main__":
    run_telling(main)
