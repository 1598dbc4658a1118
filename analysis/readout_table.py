"""Which forms of yes and no does a tokenizer let a readout use, and what does it then cover?

Question: for tokenizers of five kinds, which ids does each readout compare after the end of a prompt, and
what share of answers ("␣Yes", "␣No") does it see?
Input: the five small tokenizers of `probekit.readouts.toys`, or any tokenizer.json given.
Artefact: a Markdown page.

    python -m analysis.readout_table --out docs/readouts.md
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from probekit.errors import InputError, run_telling
from probekit.files import write_atomically
from probekit.readouts import (
    ANSWER_PREFIX,
    LEGACY_2TOK,
    LEGACY_8TOK,
    FastTokenizer,
    derive_forms,
    dynamic_mass,
    dynamic_single,
    sequence_log_probabilities,
)
from probekit.readouts.toys import TOYS, toy_continuation, toy_logits

ANSWERS = (" Yes", " No", " No", " Yes")
COMMAND = "python -m analysis.readout_table --out docs/readouts.md"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokenizer", type=Path, action="append", help="tokenizer.json or its folder")
    parser.add_argument("--context", default=ANSWER_PREFIX, help="end of the prompt")
    parser.add_argument("--out", type=Path, default=Path("docs/readouts.md"))
    given = parser.parse_args(arguments)
    tokenizers = [FastTokenizer.load(path) for path in given.tokenizer or ()] or [
        make() for make in TOYS.values()
    ]
    write_atomically(given.out, page(tokenizers, given.context))
    print(given.out)


def page(tokenizers: Sequence[FastTokenizer], context: str) -> str:
    """Both tables, for Markdown."""
    texts = [form.text for form in derive_forms(tokenizers[0], context=context)]
    forms = [["tokenizer", "ids", *(f"`{text.replace(' ', '␣')}`" for text in texts)]]
    covered = [["tokenizer", "legacy_2tok", "legacy_8tok", "dynamic_single", "dynamic_mass"]]
    for tokenizer in tokenizers:
        derived = derive_forms(tokenizer, context=context)
        cells = [
            form.problem or (f"**{form.ids[0]}**" if form.single else " ".join(map(str, form.ids)))
            for form in derived
        ]
        forms.append([tokenizer.name, str(tokenizer.size), *cells])
        covered.append([tokenizer.name, *_coverage(tokenizer, context)])
    return (
        f"# Readouts under tokenizers of different kinds\n\nMade by `{COMMAND}`.\n\n"
        f"Ids of each form as the continuation of `{context}`, a space written ␣. One id, in bold, enters "
        "`dynamic_single`; several are left out there and followed token by token in `dynamic_mass`.\n\n"
        f"{_table(forms)}\n"
        'Coverage on toy logits that give 0.9 to the first token of "␣Yes" or "␣No" and, in `dynamic_mass`, '
        "0.9 to each token after it. Below 0.99 a readout is refused unless it is asked for by name.\n\n"
        f"{_table(covered)}"
    )


def _coverage(tokenizer: FastTokenizer, context: str) -> list[str]:
    logits = toy_logits(tokenizer, ANSWERS, context)
    cells = []
    for legacy in (LEGACY_2TOK, LEGACY_8TOK):
        readings = legacy.read(logits, allow_uncovered=True)
        cells.append(f"{readings.coverage:.2f}" + (" (ids outside the vocabulary)" if readings.note else ""))
    try:
        cells.append(f"{dynamic_single(tokenizer, context).read(logits, allow_uncovered=True).coverage:.2f}")
    except InputError as error:
        cells.append(error.what)
    mass = dynamic_mass(tokenizer, context)
    columns = sequence_log_probabilities(
        logits, mass.sequences, toy_continuation(tokenizer, ANSWERS, context)
    )
    cells.append(f"{mass.read(columns, allow_uncovered=True).coverage:.2f}")
    return cells


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    run_telling(main)
