"""One architecture as a frozen value: the generic reading of a Hugging Face VLM, and what may differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


Together = Literal["nothing", "image_runs", "images", "prompt"]
"""Which tokens of a prompt also see tokens behind them: each run of image tokens within itself, all image
tokens each other, or the whole prompt itself."""

IMAGE_TYPE = 1
"""Type of image tokens, where a processor writes types."""

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
        together: which tokens of a prompt see each other in both directions; told by their types.
        together_in: kinds of layers in which they do; all when empty.
        together_if: attribute of the text configuration and the value under which they do.
        layer_masks: whether the model takes a mask for each kind of layer, which it needs where some
            layers have a window and packed texts are to share prefixes.
        first_position: position of a text's first token, where positions are plain.
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
    together: Together = "nothing"
    together_in: tuple[str, ...] = ()
    together_if: tuple[str, str] | None = None
    layer_masks: bool = False
    first_position: int = 0

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

    def blocks(
        self, config: Any, token_types: Mapping[str, Sequence[int]], length: int
    ) -> Int[np.ndarray, " m"]:
        """Block of each token of a prompt; those of one block see each other, -1 stands for none.

        Args:
            config: the model's.
            token_types: per-token types by name.
            length: tokens of the prompt.
        """
        none = np.full(length, -1)
        if self.together == "nothing" or not token_types or not self._sees_ahead(config):
            return none
        types = np.array(next(iter(token_types.values())))
        if self.together == "prompt":
            return np.where(types != self.caption_type, 0, none)
        image = types == IMAGE_TYPE
        if self.together == "images":
            return np.where(image, 0, none)
        starts = image & ~np.concatenate([[False], image[:-1]])
        return np.where(image, starts.cumsum() - 1, none)

    def _sees_ahead(self, config: Any) -> bool:
        if self.together_if is None:
            return True
        name, value = self.together_if
        return getattr(config.get_text_config(), name, None) == value

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
