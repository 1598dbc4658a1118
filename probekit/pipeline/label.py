"""Rows to labels: usage from a grammar, the rules or a file; presence from the references."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from probekit.errors import InputError
from probekit.files import Json, read_jsonl
from probekit.labels import LabelSet, RowLabel, Usage
from probekit.mentions import Vocabulary
from probekit.mentions.references import References, presence
from probekit.pipeline.describe import read_generations
from probekit.rows import RowKey

UsageOf = Callable[[Json, str], tuple[Usage, str]]
"""``(row, text) -> usage and the phrase that decided it``."""


def label(
    generations: Path, rows: Path, references: Path, vocabulary: Vocabulary, usage: str, out: Path
) -> LabelSet:
    """Label every row and write the labels.

    Args:
        usage: ``rules``, ``grammar`` (texts of the embedded model), or a file of usage labels, JSON
            Lines with ``example_id``, ``index`` and ``usage``.

    Raises:
        InputError: the file of labels lacks a row, or the references cannot be read.
    """
    texts = read_generations(generations)
    known: References = presence(references, vocabulary)
    judge = _judge(usage)
    labels = []
    for _, row in read_jsonl(rows):
        said, trigger = judge(row, str(texts[str(row["example_id"])]["text"]))
        key = RowKey(str(row["example_id"]), row["index"])
        present = known.present(row["image_id"], str(row["category"]))
        source = usage if usage in ("rules", "grammar") else f"file:{Path(usage).name}"
        labels.append(RowLabel(key, said, present, source, trigger))
    found = LabelSet.of(labels)
    found.save(out)
    return found


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
    for number, line in read_jsonl(path, ("example_id", "index", "usage")):
        if line["usage"] not in tuple(Usage):
            raise InputError(
                f"unknown usage {line['usage']!r}",
                where=f"{path}, line {number}",
                hint=f"Known: {', '.join(Usage)}.",
            )
        key = RowKey(str(line["example_id"]), line["index"])
        given[key] = Usage(line["usage"]), str(line.get("trigger", ""))

    def look_up(row: Json, text: str) -> tuple[Usage, str]:
        key = RowKey(str(row["example_id"]), row["index"])
        if key not in given:
            raise InputError(
                f"no usage for row {key}",
                where=str(path),
                hint="Label the run's rows.jsonl with `probekit label`, then give its output.",
            )
        return given[key]

    return look_up
