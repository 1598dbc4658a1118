"""What tracing the answers of a Ghost run will cost, said in one line before it begins."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probekit.captures import Capture
from probekit.errors import InputError
from probekit.files import size_text
from probekit.pipeline.ghost_answers import GhostAnswers
from probekit.pipeline.plan import HEADROOM
from probekit.store import Header, row_shape


@dataclass(frozen=True)
class GhostPlan:
    """Sizes of a pass.

    Attributes:
        pictures: pictures.
        answers: answers to be traced.
        empty: answers without tokens, which are left out.
        tokens: tokens of the answers.
        unshared: tokens of every answer with its prompt and its own picture, each text by itself.
        shards: pieces in which the results are saved.
        total_bytes: size of both stores.
        free_bytes: free space where they will lie.
    """

    pictures: int
    answers: int
    empty: int
    tokens: int
    unshared: int
    shards: int
    total_bytes: int
    free_bytes: int

    @classmethod
    def of(
        cls,
        found: GhostAnswers,
        shards: int,
        header: Header,
        captures: Sequence[Capture],
        positions: Sequence[Capture],
        out: Path,
    ) -> GhostPlan:
        """Count what is known before the pass.

        Args:
            shards: pieces.
            header: of the store of answers.
            captures: kept of every answer.
            positions: kept of every token of every answer.
            out: an existing folder on the disk of the stores.
        """
        tokens = sum(len(answer.token_ids) for answer in found.answers)
        rows = _row_bytes(captures, header) * len(found.answers) + _row_bytes(positions, header) * tokens
        return cls(
            pictures=len({answer.image.image_id for answer in found.answers}),
            answers=len(found.answers),
            empty=len(found.empty),
            tokens=tokens,
            unshared=tokens + sum(answer.prompt_tokens for answer in found.answers),
            shards=shards,
            total_bytes=math.ceil(HEADROOM * rows),
            free_bytes=shutil.disk_usage(out).free,
        )

    def line(self) -> str:
        """One line for readers."""
        empty = f", {self.empty} empty ones left out" if self.empty else ""
        return (
            f"plan: {self.answers:,} answers of {self.tokens:,} tokens to {self.pictures:,} pictures{empty}; "
            f"{self.unshared:,} tokens with prompts if each went alone, and each answer once more on black; "
            f"{self.shards} shards, {size_text(self.total_bytes)} of {size_text(self.free_bytes)} free"
        )

    def refuse_what_does_not_fit(self) -> None:
        """Raise `InputError` when the stores would not fit the free space."""
        if self.total_bytes > self.free_bytes:
            raise InputError(
                f"the stores need {size_text(self.total_bytes)}, {size_text(self.free_bytes)} are free",
                hint="Free some space, or name fewer detectors with --detectors.",
            )


def _row_bytes(captures: Sequence[Capture], header: Header) -> int:
    """Stored bytes of one row."""
    halved = header.extra.get("attention_dtype", "float16") == "float16"
    state = 4 if header.dtype == "float32" else 2
    size = {"attention": 2 if halved else 4, "state": state}
    return sum(math.prod(row_shape(c, header)) * size.get(c.storage, 4) for c in captures)
