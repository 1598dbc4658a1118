"""What a traced pass keeps on the device, before captures are made of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from jaxtyping import Float
from torch import Tensor

from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    Capture,
    GroupCount,
    HiddenState,
    ImageSimilarity,
    InternalConfidence,
    Logits,
    TokenStatistics,
)

RAW_LAST = -1
"""Key of the last layer's output before the final norm, among the kept states."""


@dataclass(frozen=True)
class Needs:
    """What a set of captures needs of one pass.

    Attributes:
        states: indices into hs[0..L] to keep at the layout's positions; `RAW_LAST` before the norm.
        attention: whether attention rows are read at all.
        own_rows: whether rows of tokens' own positions are read as well.
        grid: rows and columns of the image grid, when one is asked.
        logits: whether next-token logits over the caption are computed.
        lens: whether image states of every layer go through the head.
        similarity: whether image states of the last layer are compared with the object's.
        window: the longest window.
    """

    states: frozenset[int]
    attention: bool
    own_rows: bool
    grid: tuple[int, int] | None
    logits: bool
    lens: bool
    similarity: bool
    window: int

    @classmethod
    def of(cls, captures: Iterable[Capture], depth: int, *, logits: bool = False) -> Needs:
        """Collect the needs of ``captures`` for a model of ``depth`` layers.

        Args:
            logits: next-token logits are needed whatever the captures are.
        """
        captures = tuple(captures)
        states: set[int] = set()
        for capture in captures:
            if isinstance(capture, HiddenState):
                index = capture.index(depth)
                raw = index == depth and capture.norm == "pre"
                states.add(RAW_LAST if raw else index)
            elif isinstance(capture, ImageSimilarity):
                states |= {depth - 1, depth}
            elif isinstance(capture, Logits):
                states.add(depth)
        grids = {(c.rows, c.columns) for c in captures if isinstance(c, AttentionGrid)}
        if len(grids) > 1:
            raise ValueError("one grid size per store")
        windows = [getattr(c, "window", 1) for c in captures]
        return cls(
            states=frozenset(states),
            attention=any(isinstance(c, AttentionMass | AttentionGrid) for c in captures),
            own_rows=any(isinstance(c, AttentionMass | GroupCount) and c.read_at == "self" for c in captures),
            grid=next(iter(grids), None),
            logits=logits or any(isinstance(c, TokenStatistics) for c in captures),
            lens=any(isinstance(c, InternalConfidence) for c in captures),
            similarity=any(isinstance(c, ImageSimilarity) for c in captures),
            window=max(windows, default=1),
        )


@dataclass
class Evidence:
    """Tensors of one batch, filled while the pass runs.

    Attributes:
        pooled: one ``(batch, head, query, column)`` a layer; columns are key groups, then grid cells.
        own: one ``(batch, head, query)`` a layer: mass that a position puts on itself.
        states: kept hidden states, ``(batch, position, D)`` by index into hs.
        final: normed last states at every caption query, ``(token, D)``, texts one after the other.
        lens: per index into hs, ``(row, column)`` of largest lens probabilities (see `reduce.image`).
        image: normed last states at image positions, one ``(n, D)`` a sequence.
    """

    pooled: list[Float[Tensor, "batch head query column"]] = field(default_factory=list)
    own: list[Float[Tensor, "batch head query"]] = field(default_factory=list)
    states: dict[int, Float[Tensor, "batch position dim"]] = field(default_factory=dict)
    final: Float[Tensor, "token dim"] | None = None
    lens: list[Float[Tensor, "row column"]] = field(default_factory=list)
    image: list[Float[Tensor, "n dim"]] = field(default_factory=list)
