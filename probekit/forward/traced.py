"""What a traced batch gives back, and how batches are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from probekit.captures import Capture

T = TypeVar("T")


@dataclass(frozen=True)
class Traced:
    """Captures of some texts, on the host, and what is known of each row and text.

    Attributes:
        arrays: one tensor a capture, leading axis row, rows in the order of the texts' targets.
        prompt_tokens: m of each row.
        image_tokens: N of each row.
        agreement: per text, generated tokens that the pass would have chosen as well, and T;
            ``None`` when nothing needed the logits.
        tokens: per text, `probekit.forward.reduce.tokens.COLUMNS` at every token, when asked for.
        final: per text, normed last states at every query, when asked for.
    """

    arrays: Mapping[Capture, Tensor]
    prompt_tokens: Int[np.ndarray, " row"]
    image_tokens: Int[np.ndarray, " row"]
    agreement: tuple[tuple[int, int], ...] | None
    tokens: tuple[Float[Tensor, "_ column"], ...] | None = None
    final: tuple[Float[Tensor, "_ dim"], ...] | None = None


def merge(pieces: Sequence[Traced], texts: Sequence[Sequence[int]], rows: Sequence[int]) -> Traced:
    """Join batches; results come in the order of the texts, not of the batches.

    Args:
        pieces: the batches.
        texts: which texts each batch held, in its order; every text once.
        rows: number of rows of each text.
    """
    starts = np.cumsum([0, *rows])
    order = [row for batch in texts for text in batch for row in range(starts[text], starts[text + 1])]
    inverse = np.argsort(np.array(order, dtype=np.int64))
    places = np.argsort(np.array([text for batch in texts for text in batch]))

    def by_text(found: Sequence[tuple[T, ...] | None]) -> tuple[T, ...] | None:
        flat: list[T] = []
        for values in found:
            if values is None:
                return None
            flat += values
        return tuple(flat[place] for place in places)

    index = torch.from_numpy(inverse)
    return Traced(
        arrays={key: torch.cat([piece.arrays[key] for piece in pieces])[index] for key in pieces[0].arrays},
        prompt_tokens=np.concatenate([piece.prompt_tokens for piece in pieces])[inverse],
        image_tokens=np.concatenate([piece.image_tokens for piece in pieces])[inverse],
        agreement=by_text([piece.agreement for piece in pieces]),
        tokens=by_text([piece.tokens for piece in pieces]),
        final=by_text([piece.final for piece in pieces]),
    )
