"""Captions and their labelled mentions, as the run folder has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.labels import Label, LabelSet
from probekit.rows import RowKey


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention in a caption.

    Attributes:
        key: its row.
        start: first character in the caption.
        end: one past its last character.
        category: what it names.
        token: caption position of its first token; ``None`` when only the text is known.
        label: its class; `Label.EXCLUDED` when nobody labelled it.
        kind: the class for readers, with the non-assertive subtype.
    """

    key: RowKey
    start: int
    end: int
    category: str
    token: int | None
    label: Label
    kind: str


@dataclass(frozen=True, slots=True)
class Caption:
    """One generated text with its mentions in order of appearance."""

    example_id: str
    image: str
    text: str
    mentions: tuple[Mention, ...]


def read_mentions(path: Path, labels: LabelSet) -> Mapping[str, tuple[Mention, ...]]:
    """Mentions of rows.jsonl by example, each with its label.

    Raises:
        InputError: a line is not valid; file and line are named.
    """
    found: dict[str, list[Mention]] = {}
    for number, value in read_jsonl(path, required=("example_id", "index", "start", "end", "category")):
        start, end, token = value["start"], value["end"], value.get("token")
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end):
            raise InputError(f"not a span of characters: {start!r}, {end!r}", where=f"{path}, line {number}")
        key = RowKey(str(value["example_id"]), value["index"])
        label = labels.get(key)
        kind = "no label"
        if label is not None:
            kind = str(label.label).replace("_", "-") + (
                "" if label.subtype is None else f", {label.subtype}"
            )
        mention = Mention(
            key=key,
            start=start,
            end=end,
            category=str(value["category"]),
            token=token if isinstance(token, int) else None,
            label=Label.EXCLUDED if label is None else label.label,
            kind=kind,
        )
        found.setdefault(key.example_id, []).append(mention)
    return {example: tuple(sorted(m, key=lambda item: item.start)) for example, m in found.items()}


def read_captions(path: Path, mentions: Mapping[str, tuple[Mention, ...]]) -> dict[str, Caption]:
    """Captions of generations.jsonl that have mentions, by example.

    Raises:
        InputError: a line is not valid, or a mention ends after its caption; file and line are named.
    """
    found: dict[str, Caption] = {}
    for number, value in read_jsonl(path, required=("example_id", "image", "text")):
        example, text = str(value["example_id"]), str(value["text"])
        own = mentions.get(example, ())
        if own and max(mention.end for mention in own) > len(text):
            raise InputError(
                f"a mention of {example!r} ends after its caption",
                where=f"{path}, line {number}",
                hint="rows.jsonl and generations.jsonl are of different runs; find the mentions again.",
            )
        if own:
            found[example] = Caption(example, str(value["image"]), text, own)
    return found
