"""One architecture as a frozen value: the generic reading of a Hugging Face VLM, and what may differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Int

from probekit.errors import FamilyError


@dataclass(frozen=True)
class Grid:
    """How one image's tokens form a picture.

    Attributes:
        cells: offsets into the image's token run, ``(tile, row, column)``. Tokens that belong to no
            cell (row separators, tiles beside a thumbnail) are left out. A thumbnail of the whole
            picture, where the model has one, is the only tile (SPEC 1.3).
    """

    cells: Int[np.ndarray, "tile row column"]


GridReader = Callable[[Any, Mapping[str, Any], int, int], Grid | None]
"""``(model config, processor outputs of the batch, image number in the batch, its tokens) -> grid``."""


def square_grid(config: Any, inputs: Mapping[str, Any], image: int, tokens: int) -> Grid | None:
    """The default: a square picture read row by row; ``None`` when the count is not a square."""
    side = round(tokens**0.5)
    if side * side != tokens:
        return None
    return Grid(np.arange(tokens).reshape(1, side, side))


@dataclass(frozen=True)
class Family:
    """What the harness must know of an architecture.

    Attributes:
        name: the family's name, recorded in stores.
        model_types: ``config.model_type`` values it covers.
        image_token: attribute of the config that holds the id of the expanded image placeholder.
        positions: plain positions, or multimodal rotary positions that must be passed explicitly.
        shares_prefixes: whether its caches may be shared between sequences (proven by a test).
        cross_attention: image keys live in separate layers, so image mass is not comparable.
        scaled_logits: whether the model applies its text configuration's logit scale (its decoder's own
            language model does; wrappers around it may not).
        caption_type: per-token type that generated tokens have, where the processor writes types.
        grid: reads the token grid of an image.
    """

    name: str
    model_types: tuple[str, ...]
    image_token: str = "image_token_id"
    positions: Literal["plain", "mrope"] = "plain"
    shares_prefixes: bool = False
    cross_attention: bool = False
    scaled_logits: bool = True
    caption_type: int = 0
    grid: GridReader = square_grid

    def decoder(self, model: Any) -> Any:
        """The language model's stack of layers."""
        decoder = model.get_decoder()
        if not hasattr(decoder, "layers") or not hasattr(decoder, "norm"):
            raise FamilyError(
                f"the decoder of {type(model).__name__} has no layers or no final norm",
                hint="See docs/adding_a_family.md for what a family must know.",
            )
        return decoder

    def head(self, model: Any) -> Any:
        """The output embeddings that turn a normed state into logits."""
        head = model.get_output_embeddings()
        if head is None:
            raise FamilyError(f"{type(model).__name__} has no output embeddings")
        return head

    def image_token_id(self, config: Any) -> int:
        """Id of the expanded image placeholder."""
        for name in (self.image_token, "image_token_id", "image_token_index"):
            value = getattr(config, name, None)
            if isinstance(value, int):
                return value
        raise FamilyError(f"the config of {config.model_type!r} names no image token")

    def head_scale(self, config: Any) -> float:
        """Factor on the logits after the head (1.0 for most families)."""
        if not self.scaled_logits:
            return 1.0
        text = config.get_text_config()
        if (scaling := getattr(text, "logits_scaling", None)) is not None:
            return 1.0 / float(scaling)
        if (scale := getattr(text, "logit_scale", None)) is not None:
            return float(scale)
        return 1.0

    def softcap(self, config: Any) -> float | None:
        """Soft cap ``c`` of the logits, ``c * tanh(x / c)``; ``None`` for most families."""
        cap = getattr(config.get_text_config(), "final_logit_softcapping", None)
        return None if cap is None else float(cap)

    def position_ids(
        self, model: Any, ids: torch.Tensor, mask: torch.Tensor, inputs: Mapping[str, Any]
    ) -> torch.Tensor | None:
        """Explicit positions for right-padded rows, ``None`` where the model's own are right.

        Args:
            ids: token ids, ``(batch, key)``.
            mask: one on tokens, zero on padding, ``(batch, key)``.
            inputs: what else the model is given (grids, token types).
        """
        if self.positions == "plain" or inputs.get("image_grid_thw") is None:
            return None
        inner = getattr(model, "model", model)
        positions, _ = inner.get_rope_index(
            ids,
            mm_token_type_ids=inputs["mm_token_type_ids"],
            image_grid_thw=inputs["image_grid_thw"],
            attention_mask=mask,
        )
        return positions
