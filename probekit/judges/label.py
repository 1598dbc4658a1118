"""Label files: rows in, usage out, resumable, each line with who said so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.files import JsonlAppender, read_jsonl, write_jsonl
from probekit.judges.usage import UsageJudge
from probekit.judges.verdict import UsageItem, Verdict
from probekit.labels import Usage
from probekit.mentions.references import References

KEPT = (
    "caption_id",
    "example_id",
    "index",
    "image_id",
    "id",
    "start",
    "end",
    "category",
    "surface",
    "present",
)
"""Fields of an input row that its label keeps; ``example_id`` and ``index`` make the file a `LabelSet`."""

CHUNK = 240
"""Rows judged between two writes."""


@dataclass(frozen=True)
class Row:
    """One row to label.

    Attributes:
        item: what is judged.
        fields: the input line, without its text.
        where: file and line.
    """

    item: UsageItem
    fields: dict[str, Any]
    where: str

    @property
    def kept(self) -> dict[str, Any]:
        """What the label line says about the row; a row of a run has its ``present``, if unknown null."""
        kept = {name: self.fields[name] for name in KEPT if name in self.fields}
        return {**kept, "present": kept.get("present")} if {"example_id", "index"} <= set(kept) else kept


def read_rows(path: Path, generations: Path | None = None) -> list[Row]:
    """Read rows to label: JSON Lines with ``start``, ``end``, ``category`` and ``caption``.

    Args:
        path: the rows.
        generations: JSON Lines with ``example_id`` and ``text``, for rows that name an example instead.

    Raises:
        InputError: a field is missing or of the wrong type, a span is outside its text, or an example has no
            text; file and line are named.
    """
    texts = None if generations is None else _texts(generations)
    rows = []
    for number, line in read_jsonl(path, required=("start", "end", "category")):
        where = f"{path}, line {number}"
        caption = _caption(line, texts, where)
        start, end, category = line["start"], line["end"], line["category"]
        if not (type(start) is int and type(end) is int and isinstance(category, str)):
            raise InputError("'start' and 'end' must be whole numbers and 'category' text", where=where)
        if not 0 <= start < end <= len(caption):
            raise InputError(
                f"the span {start}:{end} is not inside its caption of {len(caption)} characters",
                where=where,
                hint="Spans count characters of exactly this text, from 0, the end excluded.",
            )
        fields = {name: value for name, value in line.items() if name != "caption"}
        rows.append(Row(UsageItem(caption, start, end, category), fields, where))
    return rows


def _texts(path: Path) -> dict[str, str]:
    return {
        str(line["example_id"]): str(line["text"])
        for _, line in read_jsonl(path, required=("example_id", "text"))
    }


def _caption(line: dict[str, Any], texts: dict[str, str] | None, where: str) -> str:
    if isinstance(caption := line.get("caption"), str):
        return caption
    if texts is None:
        raise InputError(
            "no 'caption'", where=where, hint="For rows of a run give --generations RUN/generations.jsonl."
        )
    if "example_id" not in line:
        raise InputError("neither 'caption' nor 'example_id'", where=where)
    if (text := texts.get(str(line["example_id"]))) is None:
        raise InputError(f"no generation of example {line['example_id']!r}", where=where)
    return text


def with_presence(rows: Sequence[Row], references: References) -> list[Row]:
    """The rows with what references say of their objects, ``None`` where they say nothing.

    Raises:
        InputError: a row names no picture, or the references know none of the rows' pictures.
    """
    found = []
    for row in rows:
        if row.fields.get("image_id") is None:
            raise InputError("no 'image_id', so that its references are unknown", where=row.where)
        present = references.present(row.fields["image_id"], row.item.category)
        found.append(replace(row, fields={**row.fields, "present": present}))
    if rows and all(row.fields["present"] is None for row in found):
        raise InputError(
            f"the references name none of the rows' pictures, such as {rows[0].fields['image_id']!r}",
            where=rows[0].where,
            hint=f"They name {', '.join(list(references.objects)[:3]) or 'nothing'}.",
        )
    return found


def label_rows(
    rows: Sequence[Row],
    judge: UsageJudge,
    out: Path | None,
    advance: Callable[[int], None] = lambda _: None,
    started: Callable[[int], None] = lambda _: None,
    chunk: int = CHUNK,
) -> list[Verdict]:
    """Judge ``rows`` in order, writing a line for each as its chunk is done.

    Presence that a row knows replaces what the file says of it.

    Args:
        rows: what to judge.
        judge: who judges.
        out: the label file; rows already in it are not judged again. ``None`` writes nothing.
        advance: told of rows done.
        started: told how many rows the file already held.
        chunk: rows judged between two writes.

    Raises:
        InputError: the file holds labels of other rows or by another judge.
    """
    if out is None:
        started(0)
        return judge.judge([row.item for row in rows], advance)
    with JsonlAppender(out) as file:
        found = list(_resume(file.done, rows, judge.source, out))
        started(len(found))
        for first in range(len(found), len(rows), chunk):
            part = rows[first : first + chunk]
            verdicts = judge.judge([row.item for row in part], advance)
            file.append(
                _line(row, verdict, judge.source) for row, verdict in zip(part, verdicts, strict=True)
            )
            found += verdicts
    _renew_presence(out, rows)
    return found


def _renew_presence(out: Path, rows: Sequence[Row]) -> None:
    """Rewrite the labels when a row knows of its presence what the file does not say."""
    lines = [line for _, line in read_jsonl(out)]
    known = [row.fields.get("present") for row in rows]
    new = [
        line if present is None else {**line, "present": present}
        for line, present in zip(lines, known, strict=True)
    ]
    if new != lines:
        write_jsonl(out, new)


def _resume(done: Sequence[dict[str, Any]], rows: Sequence[Row], source: str, out: Path) -> Iterator[Verdict]:
    if len(done) > len(rows):
        raise InputError(f"holds {len(done)} labels, the input has {len(rows)} rows", where=str(out))
    for number, (line, row) in enumerate(zip(done, rows, strict=False), start=1):
        if line.get("source") != source:
            raise InputError(
                f"was labelled by {line.get('source')!r}, not by {source!r}",
                where=f"{out}, line {number}",
                hint="Choose another --out, or delete the file.",
            )
        if any(line.get(name) != value for name, value in row.kept.items() if name != "present"):
            raise InputError(
                f"is the label of another row than {row.where}",
                where=f"{out}, line {number}",
                hint="Choose another --out, or delete the file.",
            )
        yield Verdict(Usage(line["usage"]), line.get("trigger", ""), line.get("note", ""))


def _line(row: Row, verdict: Verdict, source: str) -> dict[str, Any]:
    line = {**row.kept, "usage": str(verdict.usage), "trigger": verdict.trigger, "source": source}
    return {**line, "note": verdict.note} if verdict.note else line
