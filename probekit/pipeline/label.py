"""Rows to labels: usage from a grammar, the rules or a file; presence from the references."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from probekit.errors import InputError
from probekit.files import Json, distinct, read_jsonl
from probekit.labels import LabelSet, RowLabel, Usage
from probekit.mentions import Vocabulary
from probekit.mentions.references import References, presence
from probekit.pipeline.describe import read_generations
from probekit.rows import RowKey

UsageOf = Callable[[Json, str], tuple[Usage, str]]
"""``(row, text) -> usage and the phrase that decided it``."""


def label(
    generations: Path,
    rows: Path,
    references: Path,
    vocabulary: Vocabulary,
    usage: str,
    out: Path,
    only: Collection[str] | None = None,
) -> LabelSet:
    """Label every row and write the labels.

    Args:
        only: texts whose rows are labelled; all when absent.
        usage: ``rules``, ``grammar`` (texts of the embedded model), or a file of usage labels, JSON
            Lines with ``example_id``, ``index`` and ``usage``.

    Raises:
        InputError: the file of labels lacks a row, a row does not fit its text, or the references cannot
            be read.
    """
    distinct(out, generations, rows, references, Path(usage))
    texts = read_generations(generations)
    known: References = presence(references, vocabulary)
    judge = _judge(usage)
    labels = []
    for number, row in read_jsonl(rows):
        if only is not None and str(row["example_id"]) not in only:
            continue
        text = str(texts[str(row["example_id"])]["text"])
        _fits(row, text, f"{rows}, line {number}")
        said, trigger = judge(row, text)
        key = RowKey(str(row["example_id"]), row["index"])
        present = known.present(row["image_id"], str(row["category"]))
        source = usage if usage in ("rules", "grammar") else f"file:{Path(usage).name}"
        labels.append(RowLabel(key, said, present, source, trigger))
    found = LabelSet.of(labels)
    found.save(out)
    return found


def _fits(row: Json, text: str, where: str) -> None:
    """Refuse a row whose span holds another word than the row says."""
    held = text[row["start"] : row["end"]]
    if "surface" in row and row["surface"] != held:
        raise InputError(
            f"the row says {row['surface']!r}, its span holds {held!r}",
            where=where,
            hint="Rows and texts do not belong together; find the mentions again.",
        )


def _judge(usage: str) -> UsageOf:
    if usage == "grammar":
        from probekit.organism import usage_of

        return lambda row, text: (Usage(usage_of(text, row["start"], row["end"])), "")
    if usage == "rules":
        from probekit.judges.rules import usage as judged

        def rules(row: Json, text: str) -> tuple[Usage, str]:
            verdict = judged(text, row["start"], row["end"], str(row["category"]))
            return verdict.usage, verdict.trigger

        return rules
    return _from_file(Path(usage))


def _from_file(path: Path) -> UsageOf:
    given: dict[RowKey, tuple[Usage, str]] = {}
    surfaces: dict[RowKey, str] = {}
    for number, line in read_jsonl(path, ("example_id", "index", "usage")):
        if line["usage"] not in tuple(Usage):
            raise InputError(
                f"unknown usage {line['usage']!r}",
                where=f"{path}, line {number}",
                hint=f"Known: {', '.join(Usage)}.",
            )
        key = RowKey(str(line["example_id"]), line["index"])
        if key in given:
            raise InputError(f"row {key} is labelled twice", where=f"{path}, line {number}")
        surfaces[key] = str(line.get("surface", ""))
        given[key] = Usage(line["usage"]), str(line.get("trigger", ""))

    def look_up(row: Json, text: str) -> tuple[Usage, str]:
        key = RowKey(str(row["example_id"]), row["index"])
        if key not in given:
            raise InputError(
                f"no usage for row {key}",
                where=str(path),
                hint="Label the run's rows.jsonl with `probekit label`, then give its output.",
            )
        if surfaces[key] and surfaces[key] != str(row.get("surface", surfaces[key])):
            raise InputError(
                f"row {key} is {row['surface']!r}, its label was given to {surfaces[key]!r}",
                where=str(path),
                hint="The labels are those of other rows.",
            )
        return given[key]

    return look_up
