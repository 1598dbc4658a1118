"""Labels beside the store: row -> class, with who said so. Activations are dear, labels are revised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from probekit.errors import InputError
from probekit.files import read_jsonl, write_jsonl
from probekit.rows import RowKey


class Usage(StrEnum):
    """How the text uses a mention, judged from the text alone (NAME-Bench 3.1, 3.3)."""

    EXISTENTIAL = "existential"
    HEDGED = "hedged"
    NEGATION = "negation"
    PURPOSE = "purpose"
    DEPICTIVE = "depictive"
    GENERIC = "generic"
    NOT_OBJECT = "not_object"
    AMBIGUOUS = "ambiguous"


NON_ASSERTIVE: tuple[Usage, ...] = (Usage.HEDGED, Usage.DEPICTIVE, Usage.PURPOSE, Usage.NEGATION)
"""The four subtypes of a mention that is not a claim, in the order of the paper's tables."""


class Label(StrEnum):
    """NAME-Bench's three classes, and what is excluded and counted (SPEC 3.4)."""

    CONCRETE = "concrete"
    HALLUCINATED = "hallucinated"
    NON_ASSERTIVE = "non_assertive"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class RowLabel:
    """The label of one row.

    Attributes:
        key: the row.
        usage: how the text uses the mention.
        present: whether the object is in the image; ``None`` when the references do not say.
        source: who said so, such as ``grammar``, ``rules``, ``file:NAME``.
        trigger: the phrase that decided the usage, if any.
    """

    key: RowKey
    usage: Usage
    present: bool | None
    source: str = ""
    trigger: str = ""

    @property
    def label(self) -> Label:
        """The class: existential and present or absent, non-assertive, or excluded."""
        if self.usage in NON_ASSERTIVE:
            return Label.NON_ASSERTIVE
        if self.usage is not Usage.EXISTENTIAL or self.present is None:
            return Label.EXCLUDED
        return Label.CONCRETE if self.present else Label.HALLUCINATED

    @property
    def subtype(self) -> Usage | None:
        """The non-assertive subtype, else ``None``."""
        return self.usage if self.usage in NON_ASSERTIVE else None


@dataclass(frozen=True)
class LabelSet:
    """Labels of many rows, looked up by key. Never inside a shard."""

    rows: Mapping[RowKey, RowLabel] = field(default_factory=dict)

    @classmethod
    def of(cls, labels: Iterable[RowLabel]) -> LabelSet:
        """Collect labels; a row labelled twice is an error."""
        rows: dict[RowKey, RowLabel] = {}
        for label in labels:
            if label.key in rows:
                raise InputError("labelled twice", where=f"row {label.key}")
            rows[label.key] = label
        return cls(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[RowLabel]:
        return iter(self.rows.values())

    def get(self, key: RowKey) -> RowLabel | None:
        """The label of ``key``, or ``None`` when it has none."""
        return self.rows.get(key)

    def counts(self) -> dict[str, int]:
        """Rows per class, then per non-assertive subtype."""
        by_class = Counter(str(row.label) for row in self)
        by_subtype = Counter(str(row.subtype) for row in self if row.subtype is not None)
        return {**{str(c): by_class[c] for c in Label}, **{str(u): by_subtype[u] for u in NON_ASSERTIVE}}

    def save(self, path: Path) -> None:
        """Write as JSON Lines, one row a line; ``label`` is written for readers and not read back."""
        write_jsonl(
            path,
            (
                {
                    "example_id": row.key.example_id,
                    "index": row.key.index,
                    "label": str(row.label),
                    "usage": str(row.usage),
                    "present": row.present,
                    "source": row.source,
                    "trigger": row.trigger,
                }
                for row in self
            ),
        )

    @classmethod
    def load(cls, path: Path) -> LabelSet:
        """Read what `save` wrote.

        Raises:
            InputError: a line is not valid; file and line are named.
        """
        found: dict[RowKey, RowLabel] = {}
        for number, value in read_jsonl(path, required=("example_id", "index", "usage", "present")):
            where = f"{path}, line {number}"
            if value["usage"] not in tuple(Usage):
                raise InputError(
                    f"unknown usage {value['usage']!r}", where=where, hint=f"Known: {', '.join(Usage)}."
                )
            key = RowKey(str(value["example_id"]), value["index"])
            if key in found:
                raise InputError(f"row {key} is labelled twice", where=where)
            found[key] = RowLabel(
                key,
                Usage(value["usage"]),
                value["present"],
                str(value.get("source", "")),
                str(value.get("trigger", "")),
            )
        return cls(found)
