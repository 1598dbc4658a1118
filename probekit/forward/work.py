"""What a forward pass is asked: texts to be forced through the model, and the rows to read in each."""

from __future__ import annotations

from dataclasses import dataclass

from probekit.errors import InputError
from probekit.families.conversation import Asked, Shown
from probekit.rows import RowKey


@dataclass(frozen=True)
class Target:
    """One row to read.

    Attributes:
        key: the row.
        token: t*, index of the object's first sub-token in the continuation; 0 for an answer.
        token_end: its last sub-token, inclusive.
    """

    key: RowKey
    token: int
    token_end: int


@dataclass(frozen=True)
class Forced:
    """One text to be teacher-forced.

    Attributes:
        example_id: the example.
        image: opens the picture; several in the order of their places; ``None`` for a pass without an image.
        image_key: identity of the pictures and their order; texts with equal keys share them.
        question: the user's turn, or a conversation.
        continuation: generated token ids, never made again from text; T of them.
        targets: rows to read in it.
    """

    example_id: str
    image: Shown
    image_key: str
    question: Asked
    continuation: tuple[int, ...]
    targets: tuple[Target, ...]

    def __post_init__(self) -> None:
        if not self.continuation:
            raise InputError(
                "the text has no tokens",
                where=f"sample {self.example_id}",
                hint="Empty captions cannot be traced; remove the line or generate it again.",
            )
        for target in self.targets:
            if not 0 <= target.token <= target.token_end < len(self.continuation):
                raise InputError(
                    f"tokens {target.token}..{target.token_end} lie outside the text's "
                    f"{len(self.continuation)} tokens",
                    where=f"row {target.key}",
                    hint="Rows and generations do not belong together; make the rows again.",
                )
