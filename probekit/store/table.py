"""The rows of a shard: who each row is, and where its object stands in the text."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Int, Shaped

from probekit.errors import InputError
from probekit.rows import RowKey

TEXT_COLUMNS: tuple[str, ...] = ("example_id", "image_id", "category")


@dataclass(frozen=True, eq=False)
class RowTable:
    """Columns of equal length, one entry a row. Unknown whole numbers are -1.

    Attributes:
        example_id: the example, as text.
        index: ordinal of the mention in its text; -1 for the answer as a whole.
        image_id: the image, as text; splits and intervals group by it.
        category: the object's category, as text.
        token: t*, caption index of the object's first sub-token.
        token_end: caption index of the object's last sub-token.
        tokens: T, caption length in tokens.
        prompt_tokens: m, prompt length after image expansion.
        image_tokens: N, image positions.
        occurrences: mentions of this category in the caption.
        token_id: the generated id at t*.
    """

    example_id: Shaped[np.ndarray, " row"]
    index: Int[np.ndarray, " row"]
    image_id: Shaped[np.ndarray, " row"]
    category: Shaped[np.ndarray, " row"]
    token: Int[np.ndarray, " row"]
    token_end: Int[np.ndarray, " row"]
    tokens: Int[np.ndarray, " row"]
    prompt_tokens: Int[np.ndarray, " row"]
    image_tokens: Int[np.ndarray, " row"]
    occurrences: Int[np.ndarray, " row"]
    token_id: Int[np.ndarray, " row"]

    def __post_init__(self) -> None:
        for name in COLUMNS:
            kind = object if name in TEXT_COLUMNS else np.int64
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=kind))
        lengths = {name: getattr(self, name).shape for name in COLUMNS}
        if len(set(lengths.values())) != 1 or len(self.index.shape) != 1:
            raise InputError(f"columns of a row table differ in length: {lengths}")

    def __len__(self) -> int:
        return len(self.index)

    @property
    def keys(self) -> list[RowKey]:
        """The key of each row, in order."""
        pairs = zip(self.example_id.tolist(), self.index.tolist(), strict=True)
        return [RowKey(example, None if index < 0 else index) for example, index in pairs]

    def take(self, indices: Shaped[np.ndarray, " taken"] | Sequence[int]) -> "RowTable":
        """The rows at ``indices`` (positions or a mask), in that order."""
        chosen = np.asarray(indices)
        if chosen.dtype != bool:
            chosen = chosen.astype(np.int64)
        return type(self)(**{name: getattr(self, name)[chosen] for name in COLUMNS})

    @classmethod
    def concatenate(cls, tables: Sequence["RowTable"]) -> "RowTable":
        """All rows of ``tables``, in order; no tables give an empty one."""
        if not tables:
            return cls(
                **{name: np.empty(0, object if name in TEXT_COLUMNS else np.int64) for name in COLUMNS}
            )
        return cls(**{name: np.concatenate([getattr(t, name) for t in tables]) for name in COLUMNS})


COLUMNS: tuple[str, ...] = tuple(f.name for f in fields(RowTable))
