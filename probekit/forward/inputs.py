"""What the model is called with, and where each position of each sequence lies in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from probekit.families import Grid, Vlm
from probekit.families.vision import Vision
from probekit.forward.layout import PADDING, Layout
from probekit.forward.masks import masks
from probekit.forward.plan import Tree, visible, visible_beyond


@dataclass(frozen=True)
class Placement:
    """Where sequences lie in the rows of a call.

    Attributes:
        row: row of each sequence.
        slot: key index of each absolute position of each sequence, `PADDING` past its end.
        groups: key group of each key of each row, `PADDING` on padding.
        grids: token grid of each row's picture, where it has one.
        offset: keys that were computed by an earlier call and lie before this call's queries.
    """

    row: Int[np.ndarray, " batch"]
    slot: Int[np.ndarray, "batch position"]
    groups: Int[np.ndarray, "row key"]
    grids: tuple[Grid | None, ...]
    offset: int = 0

    def find(self, absolute: Int[np.ndarray, "batch column"]) -> tuple[Tensor, Tensor]:
        """Row and query index of absolute positions, one list a sequence, for indexing ``(row, query)``."""
        rows = np.broadcast_to(self.row[:, None], absolute.shape)
        slots = np.take_along_axis(self.slot, absolute, 1) - self.offset
        return torch.from_numpy(rows.copy()), torch.from_numpy(slots)

    def wanted(
        self, absolute: Int[np.ndarray, "batch column"]
    ) -> tuple[Int[np.ndarray, "row query"], Int[np.ndarray, "batch column"]]:
        """Distinct query indices of each row, and the column of each sequence's positions among them."""
        slots = np.take_along_axis(self.slot, absolute, 1) - self.offset
        lists = [np.unique(slots[self.row == row]) for row in range(len(self.groups))]
        table = np.zeros((len(lists), max(map(len, lists))), dtype=np.int64)
        for row, found in enumerate(lists):
            table[row, : len(found)] = found
            table[row, len(found) :] = found[0] if found.size else 0
        columns = np.stack([np.searchsorted(lists[r], slots[b]) for b, r in enumerate(self.row)])
        return table, columns


@dataclass(frozen=True)
class Call:
    """Arguments of one call of the model, and where everything lies in them."""

    arguments: Mapping[str, Any]
    placement: Placement


def padded(vlm: Vlm, layout: Layout, vision: Vision, pictures: Sequence[int]) -> Call:
    """One right-padded row a sequence; causal attention hides the padding from every real position.

    Args:
        vision: the batch's pictures.
        pictures: which of them each sequence is about.
    """
    ids, mask, types = _rows(vlm, layout)
    # Padding is on the right, where no real token looks; without a padding mask the kernel may take its
    # causal path. No mask at all would make transformers look for packed texts in the positions.
    arguments = _on_device(vlm, {"input_ids": ids, "attention_mask": torch.ones_like(mask), **types})
    positions = vlm.family.position_ids(vlm.model, ids, mask, types | vision.positions(pictures))
    if positions is not None:
        arguments["position_ids"] = positions.to(vlm.device)
    arguments |= vision.take(pictures)
    if vlm.family.cross_attention and "cross_attention_mask" in arguments:
        arguments["cross_attention_mask"] = _captions_see(arguments["cross_attention_mask"], layout)
    slot = np.where(layout.groups == PADDING, PADDING, np.arange(layout.width))
    row = np.arange(len(layout.prompts))
    return Call(arguments, Placement(row, slot, layout.groups, tuple(_grid(p.grids) for p in layout.prompts)))


def packed(
    vlm: Vlm,
    layout: Layout,
    trees: Sequence[Tree],
    positions: Int[Tensor, "..."],
    vision: Vision,
    pictures: Sequence[int],
) -> Call:
    """One row a tree: nodes in order, positions by depth, a mask in which nodes see their ancestors.

    Args:
        positions: of every sequence, ``(batch, key)`` or ``(axis, batch, key)``.
        vision: the batch's pictures.
        pictures: which of them each tree is about.
    """
    width = max(map(len, trees))
    shape = (len(trees), width)
    ids = torch.full(shape, vlm.pad_token_id)
    sees = np.zeros((len(trees), width, width), dtype=bool)
    sees[:, np.arange(width), np.arange(width)] = True
    groups, blocks = np.full(shape, PADDING), np.full(shape, PADDING)
    depths = np.zeros(shape, dtype=np.int64)
    row = np.zeros(len(layout.prompts), dtype=np.int64)
    slot = np.full((len(layout.prompts), layout.width), PADDING)
    types = _no_types(layout, shape)
    places = torch.zeros(*positions.shape[:-2], *shape, dtype=torch.long)
    for number, tree in enumerate(trees):
        size = len(tree)
        ids[number, :size] = torch.from_numpy(tree.ids)
        sees[number, :size, :size] = visible(tree)
        groups[number, :size], depths[number, :size] = tree.groups, tree.depths
        for member, path in zip(tree.members, tree.paths, strict=True):
            row[member], slot[member, : len(path)] = number, path
            places[..., number, path] = positions[..., member, : len(path)]
            prompt = layout.prompts[member]
            blocks[number, path[: len(prompt)]] = prompt.blocks
            for key, values in prompt.token_types.items():
                types[key][number, path[: len(values)]] = torch.tensor(values)
    arguments = _on_device(vlm, {"input_ids": ids, "position_ids": places, **types})
    arguments |= vision.take(pictures) | {"attention_mask": masks(vlm, sees, depths, depths, blocks)}
    grids = tuple(_grid(layout.prompts[tree.members[0]].grids) for tree in trees)
    return Call(arguments, Placement(row, slot, groups, grids))


def grafted(
    vlm: Vlm,
    layout: Layout,
    tree: Tree,
    trunk: int,
    limb: Int[np.ndarray, " node"],
    members: Sequence[int],
    positions: Int[Tensor, "..."],
) -> Call:
    """One row of a tree's nodes beyond a trunk whose keys an earlier call left in a cache.

    Args:
        layout: of the members alone.
        trunk: nodes that are in the cache already, the first of the tree.
        limb: nodes to compute; with the trunk closed under parents.
        members: the layout's sequences, as numbers within the tree.
        positions: of every sequence of the tree.
    """
    index = np.full(len(tree), PADDING)
    index[:trunk] = np.arange(trunk)
    index[limb] = trunk + np.arange(len(limb))
    sees = visible_beyond(tree, trunk, limb)[None]
    depths = tree.depths[limb][None]
    keys = np.concatenate([tree.depths[:trunk][None], depths], 1)
    slot = np.full((len(members), layout.width), PADDING)
    places = torch.zeros(*positions.shape[:-2], 1, len(limb), dtype=torch.long)
    for number, member in enumerate(members):
        path = tree.paths[member]
        slot[number, : len(path)] = index[path]
        tail = torch.from_numpy(path[trunk:])
        places[..., 0, torch.from_numpy(index[path[trunk:]] - trunk)] = positions[
            ..., tree.members[member], trunk : trunk + len(tail)
        ]
    arguments = _on_device(
        vlm,
        {
            "input_ids": torch.from_numpy(tree.ids[limb])[None],
            "position_ids": places,
            **_no_types(layout, (1, len(limb))),
        },
    )
    arguments["attention_mask"] = masks(vlm, sees, depths, keys)
    groups = np.concatenate([tree.groups[:trunk], tree.groups[limb]])[None]
    grids = (_grid(layout.prompts[0].grids),)
    return Call(arguments, Placement(np.zeros(len(members), dtype=np.int64), slot, groups, grids, trunk))


def branched(vlm: Vlm, layout: Layout, trunk: int, positions: Int[Tensor, "..."]) -> Call:
    """One right-padded row a sequence, of what lies beyond a trunk that a cache holds once for each.

    Args:
        trunk: tokens at the start, equal in all sequences, that are in the cache already.
        positions: of these sequences, ``(..., batch, key)``.
    """
    ids, _, types = _rows(vlm, layout)
    tensors = {"input_ids": ids[:, trunk:], "attention_mask": torch.ones_like(ids)}
    tensors |= {key: values[:, trunk:] for key, values in types.items()}
    tensors |= {"position_ids": positions[..., trunk : layout.width]}
    slot = np.where(layout.groups == PADDING, PADDING, np.arange(layout.width))
    grids = tuple(_grid(prompt.grids) for prompt in layout.prompts)
    rows = np.arange(len(layout.prompts))
    return Call(_on_device(vlm, tensors), Placement(rows, slot, layout.groups, grids, trunk))


def trunk_call(
    vlm: Vlm, layout: Layout, tree: Tree, trunk: int, positions: Int[Tensor, "..."], vision: dict[str, Any]
) -> Mapping[str, Any]:
    """Arguments that compute a tree's trunk alone, a plain causal row with its picture."""
    ids = torch.from_numpy(tree.ids[:trunk])[None]
    types = _no_types(layout, (1, trunk))
    member = tree.members[0]
    for key, values in layout.prompts[member].token_types.items():
        types[key][0, :] = torch.tensor(values[:trunk])
    arguments = _on_device(vlm, {"input_ids": ids, "attention_mask": torch.ones_like(ids), **types})
    places = positions[..., member : member + 1, :trunk]
    return arguments | vision | {"position_ids": places.to(vlm.device)}


def sequence_positions(
    vlm: Vlm, layout: Layout, vision: Vision, pictures: Sequence[int]
) -> Int[Tensor, "..."]:
    """Positions of every sequence as the model itself counts them, ``(..., batch, key)``.

    Args:
        vision: the batch's pictures.
        pictures: which of them each sequence is about.
    """
    ids, mask, types = _rows(vlm, layout)
    found = vlm.family.position_ids(vlm.model, ids, mask, types | vision.positions(pictures))
    plain = torch.arange(layout.width) + vlm.family.first_position
    return plain.expand(layout.groups.shape) if found is None else found


def _rows(vlm: Vlm, layout: Layout) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Right-padded ids, mask and token types, one row a sequence."""
    shape = layout.groups.shape
    ids, mask = torch.full(shape, vlm.pad_token_id), torch.zeros(shape, dtype=torch.long)
    types = _no_types(layout, shape)
    for row, (prompt, continuation) in enumerate(zip(layout.prompts, layout.continuations, strict=True)):
        length = int(layout.lengths[row])
        ids[row, :length] = torch.tensor(prompt.ids + continuation)
        mask[row, :length] = 1
        for key, values in prompt.token_types.items():
            types[key][row, : len(prompt)] = torch.tensor(values)
            types[key][row, len(prompt) :] = vlm.family.caption_type
    return ids, mask, types


def _captions_see(mask: Tensor, layout: Layout) -> Tensor:
    """Which pictures each token sees, for whole texts: a caption sees what its prompt's last token sees.

    Args:
        mask: of the prompts, padded on the left, ``(batch, prompt, ...)``.
    """
    seen = mask.new_zeros(len(layout.prompts), layout.width, *mask.shape[2:])
    for row, prompt in enumerate(layout.prompts):
        own = mask[row, -len(prompt) :]
        seen[row, : len(prompt)] = own
        seen[row, len(prompt) : int(layout.lengths[row])] = own[-1]
    return seen


def _no_types(layout: Layout, shape: tuple[int, ...]) -> dict[str, Tensor]:
    return {key: torch.zeros(shape, dtype=torch.long) for key in layout.prompts[0].token_types}


def _on_device(vlm: Vlm, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    return {key: value.to(vlm.device) for key, value in tensors.items()}


def _grid(grids: tuple[Grid | None, ...]) -> Grid | None:
    return grids[0] if len(grids) == 1 else None
