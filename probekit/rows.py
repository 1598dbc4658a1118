"""Row identity: fixed for life, the key that joins stores, labels and scores."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from probekit.errors import InputError


class RowKind(StrEnum):
    """What one row of a store stands for."""

    MENTION = "mention"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class RowKey:
    """Names one row.

    Attributes:
        example_id: the example the row belongs to.
        index: ordinal of the mention in its text; ``None`` for the answer as a whole.
    """

    example_id: str
    index: int | None = None

    @property
    def kind(self) -> RowKind:
        """``ANSWER`` when the row stands for a whole text, else ``MENTION``."""
        return RowKind.ANSWER if self.index is None else RowKind.MENTION

    def __str__(self) -> str:
        return self.example_id if self.index is None else f"{self.example_id}#{self.index}"

    @classmethod
    def parse(cls, text: str) -> RowKey:
        """Inverse of ``str``; the part after the last ``#`` is the mention's ordinal.

        Raises:
            InputError: the text after ``#`` is not a whole number.
        """
        example_id, mark, index = text.rpartition("#")
        if not mark:
            return cls(text)
        if not index.isdigit():
            raise InputError(f"not a row key: {text!r}", hint="Expected EXAMPLE or EXAMPLE#INDEX.")
        return cls(example_id, int(index))
