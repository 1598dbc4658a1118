"""Pictures to features, once a distinct picture, and what each picture must take up in a prompt.

Where a prompt shows several pictures, "a picture" here is all of them, in their order.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from probekit.errors import FamilyError
from probekit.families.loading import Vlm

if TYPE_CHECKING:
    from probekit.families.prompting import SharedBatch


@dataclass(frozen=True)
class Vision:
    """Vision inputs of some pictures, ready to be given to rows of a call.

    Attributes:
        inputs: what the processor made, on the model's device.
        features: one ``(tokens, D)`` a picture, or ``None`` where the architecture does not take
            features in place of pictures.
        outputs: what the vision tower returned, to be handed back with chosen features.
        parts: how many of the processor's pictures each of the features is made of.
    """

    inputs: Mapping[str, Tensor]
    features: tuple[Tensor, ...] | None
    outputs: Any
    parts: tuple[int, ...] = ()

    @property
    def counts(self) -> tuple[int, ...] | None:
        """Tokens of each picture as the vision tower has them."""
        return None if self.features is None else tuple(len(feature) for feature in self.features)

    def take(self, pictures: Sequence[int]) -> dict[str, Any]:
        """Arguments for rows that are about these pictures, in that order.

        Raises:
            FamilyError: pictures would have to be repeated or reordered and cannot be told apart.
        """
        if self.features is None:
            if list(pictures) != list(range(len(pictures))):
                raise FamilyError("this architecture takes pictures only as the processor made them")
            return dict(self.inputs)
        outputs = type(self.outputs)(**dict(self.outputs.items()))
        chosen: Any = [self.features[number] for number in pictures]
        if isinstance(outputs.pooler_output, Tensor):
            alike = len({len(feature) for feature in chosen}) == 1
            chosen = torch.stack(chosen) if alike else torch.cat(chosen)[None]
        outputs.pooler_output = chosen
        if getattr(outputs, "deepstack_features", None) is not None:
            # a level of the tower's states that a decoder layer adds, one tensor a picture
            outputs.deepstack_features = [
                tuple(level[part] for part in self._pieces(pictures)) for level in outputs.deepstack_features
            ]
        return self.positions(pictures) | {"mm_encoder_outputs": {"image": outputs}}

    def positions(self, pictures: Sequence[int]) -> dict[str, Tensor]:
        """Inputs with one entry a picture, such as grids, repeated for these pictures."""
        if self.features is None:
            return {key: value for key, value in self.inputs.items() if not key.startswith("pixel_values")}
        index = torch.tensor(self._pieces(pictures), dtype=torch.long)
        return {
            key: value[index.to(value.device)]
            for key, value in self.inputs.items()
            if not key.startswith("pixel") and len(value) == sum(self.parts)
        }

    def _pieces(self, pictures: Sequence[int]) -> list[int]:
        """Numbers of the processor's pictures that these are made of."""
        starts = [sum(self.parts[:number]) for number in range(len(self.parts))]
        return [starts[number] + part for number in pictures for part in range(self.parts[number])]


NO_VISION = Vision({}, None, None)
"""Of a pass without pictures."""


def see(vlm: Vlm, inputs: Mapping[str, Tensor], pictures: int, tokens: Sequence[int] | None = None) -> Vision:
    """Run the vision tower once over a batch's pictures.

    Args:
        inputs: vision inputs as the processor made them.
        pictures: how many pictures they hold.
        tokens: how many tokens each takes up in its prompt; where the tower returns tiles of all
            pictures in one piece, they are told apart by this.
    """
    placed = {
        key: value.to(vlm.device, vlm.dtype if value.is_floating_point() else None)
        for key, value in inputs.items()
    }
    parameters = inspect.signature(vlm.model.forward).parameters
    pixels = parameters.get("pixel_values")
    always = pixels is not None and pixels.default is pixels.empty
    if not any(key.startswith("pixel") for key in placed):
        if always:
            raise FamilyError(
                f"{type(vlm.model).__name__} cannot run without a picture",
                where=vlm.name,
                hint="Passes without pictures (text_only) cannot be served. Choose other detectors.",
            )
        return NO_VISION
    if always or "mm_encoder_outputs" not in parameters:
        return Vision(placed, None, None)
    outputs = image_features(vlm, placed)
    features, parts = _by_picture(outputs.pooler_output, pictures, tokens)
    return Vision(placed, features, None if features is None else outputs, parts)


def image_features(vlm: Vlm, inputs: Mapping[str, Tensor]) -> Any:
    """What the vision tower makes of vision inputs; its ``pooler_output`` is what the decoder reads."""
    model = vlm.model
    reader = model if hasattr(model, "get_image_features") else model.model
    known = set(inspect.signature(reader.get_image_features).parameters)
    # a wrapper may hand on by keyword what only the model inside names, such as Pixtral's sizes
    if hasattr(getattr(model, "model", None), "get_image_features"):
        known |= set(inspect.signature(model.model.get_image_features).parameters)
    return reader.get_image_features(
        **{key: value for key, value in inputs.items() if key in known}, return_dict=True
    )


def _by_picture(
    pooled: Any, pictures: int, tokens: Sequence[int] | None
) -> tuple[tuple[Tensor, ...] | None, tuple[int, ...]]:
    """One ``(tokens, D)`` a picture, and of how many pieces; ``None`` when it is not clear which is whose.

    Raises:
        FamilyError: the tower returned pieces that do not add up to what the prompts hold.
    """
    listed = isinstance(pooled, list | tuple)
    pieces = [piece.reshape(-1, piece.shape[-1]) for piece in pooled] if listed else []
    if isinstance(pooled, Tensor) and pooled.dim() == 3:
        pieces = list(pooled)
    if len(pieces) == pictures:
        return tuple(pieces), (1,) * pictures
    if tokens is not None and len(pieces) > pictures:
        grouped = _grouped([len(piece) for piece in pieces], tokens)
        if grouped is not None:
            starts = [sum(grouped[:number]) for number in range(pictures)]
            return tuple(
                torch.cat(pieces[start : start + count]) for start, count in zip(starts, grouped, strict=True)
            ), grouped
        if listed:
            raise FamilyError(
                f"the prompts hold {', '.join(map(str, tokens))} image tokens, the vision tower returns "
                f"pieces of {', '.join(str(len(piece)) for piece in pieces)}",
                hint="Processor and model do not belong together.",
            )
    if isinstance(pooled, Tensor) and tokens is not None:
        flat = pooled.reshape(-1, pooled.shape[-1])
        if sum(tokens) == len(flat):
            return tuple(flat.split(list(tokens))), (1,) * pictures
    return None, ()


def _grouped(lengths: Sequence[int], tokens: Sequence[int]) -> tuple[int, ...] | None:
    """How many pieces in a row make up each number of tokens; ``None`` when they do not."""
    counts, place = [], 0
    for wanted in tokens:
        start, held = place, 0
        while held < wanted and place < len(lengths):
            held, place = held + lengths[place], place + 1
        if held != wanted:
            return None
        counts.append(place - start)
    return tuple(counts) if place == len(lengths) else None


def see_batch(vlm: Vlm, batch: SharedBatch) -> Vision:
    """Like `see`, for the pictures that some prompts share."""
    tokens = dict(zip(batch.picture, (prompt.image_tokens for prompt in batch.prompts), strict=True))
    return see(vlm, batch.vision, batch.pictures, [tokens[number] for number in range(batch.pictures)])


def check_batch(samples: Sequence[str], batch: SharedBatch, vision: Vision) -> None:
    """`check_counts` of prompts and the pictures they share, where the tower says whose tokens are whose."""
    if vision.counts is not None:
        expected = [vision.counts[number] for number in batch.picture]
        check_counts(samples, [prompt.image_tokens for prompt in batch.prompts], expected)


def check_counts(samples: Sequence[str], found: Sequence[int], expected: Sequence[int]) -> None:
    """Each row must hold as many image tokens as the vision tower returns for its picture.

    Totals that agree hide rows that do not: 3 and 5 tokens against two pictures of 4.

    Raises:
        FamilyError: a row differs; the sample, found and expected are named.
    """
    for sample, have, want in zip(samples, found, expected, strict=True):
        if have != want:
            raise FamilyError(
                f"the prompt holds {have} image tokens, the vision tower returns {want}",
                where=f"sample {sample}",
                hint="Processor and model do not belong together.",
            )
