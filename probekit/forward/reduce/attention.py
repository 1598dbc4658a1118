"""Attention rows to group masses and image grids, on the device (SPEC 0.5, 1.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from probekit.captures import GROUPS, AttentionGrid, AttentionMass, GroupCount
from probekit.families import Grid
from probekit.families.prompting import IMAGE
from probekit.forward.evidence import Evidence
from probekit.forward.layout import Layout


def pooling(
    groups: Int[np.ndarray, "row key"],
    pictures: Sequence[Grid | None],
    grid: tuple[int, int] | None,
    device: torch.device,
) -> Float[Tensor, "row key column"]:
    """Matrix that turns attention over keys into one sum a group, then one mean a grid cell.

    Args:
        groups: key group of every key, negative on padding.
        pictures: token grid of each row's picture; without one its cells are NaN.
        grid: rows and columns of the cells, or ``None`` for no cells.
    """
    onehot = torch.from_numpy(groups[..., None] == np.arange(len(GROUPS))).float()
    if grid is None:
        return onehot.to(device)
    cells = torch.zeros(*groups.shape, grid[0] * grid[1])
    for number, picture in enumerate(pictures):
        image = torch.from_numpy(np.flatnonzero(groups[number] == IMAGE))
        if picture is None or len(image) == 0:
            cells[number] = float("nan")
        else:
            cells[number, image] = cell_weights(picture, len(image), grid)
    return torch.cat([onehot, cells], -1).to(device)


def cell_weights(grid: Grid, tokens: int, shape: tuple[int, int]) -> Float[Tensor, "token cell"]:
    """Weight of each image token in each cell, as adaptive average pooling has it; tiles are averaged."""
    tiles, rows, columns = grid.cells.shape
    weights = torch.zeros(tokens, shape[0] * shape[1])
    share_r, share_c = _shares(rows, shape[0]), _shares(columns, shape[1])
    cell = torch.einsum("rx,cy->rcxy", share_r, share_c).reshape(rows * columns, -1) / tiles
    for tile in range(tiles):
        weights[torch.from_numpy(grid.cells[tile].reshape(-1).astype(np.int64))] += cell
    return weights


def _shares(size: int, bins: int) -> Float[Tensor, "position bin"]:
    share = torch.zeros(size, bins)
    for index in range(bins):
        start, stop = index * size // bins, -(-(index + 1) * size // bins)
        share[start:stop, index] = 1.0 / (stop - start)
    return share


def attention_mass(
    capture: AttentionMass, evidence: Evidence, layout: Layout
) -> Float[Tensor, "row slot layer head group"]:
    """Mass of each key group in each window slot; slots before the caption are NaN."""
    index, missing = _slots(capture.window, capture.read_at == "self", layout)
    sequence = torch.from_numpy(layout.rows[:, 0])[:, None].expand(index.shape)
    layers = [layer[sequence, :, index, : len(GROUPS)] for layer in evidence.pooled]
    mass = torch.stack(layers, 2)
    if capture.read_at == "self":
        own = torch.stack([layer[sequence, :, index] for layer in evidence.own], 2)[..., None]
        mine = torch.from_numpy(layout.groups)[
            sequence, torch.from_numpy(_absolute(capture.window, True, layout))
        ]
        onehot = (torch.arange(len(GROUPS)) == mine[..., None]).to(mass.device)
        mass = torch.cat([mass - own * onehot[:, :, None, None], own], -1)
    mass[missing.to(mass.device)] = float("nan")
    return mass


def group_count(capture: GroupCount, layout: Layout) -> Tensor:
    """Keys of each group seen from each window slot, ``(row, slot, group)``; -1 before the caption."""
    own = capture.read_at == "self"
    absolute = _absolute(capture.window, own, layout)
    counts = torch.from_numpy(layout.counts(absolute, own=own)).to(torch.int32)
    counts[torch.from_numpy(layout.slots(capture.window) < 0)] = -1
    return counts


def attention_grid(
    capture: AttentionGrid, evidence: Evidence, layout: Layout
) -> Float[Tensor, "row layer head cell"]:
    """Mean attention to each image cell, averaged over the window's existing slots."""
    index, missing = _slots(capture.window, False, layout)
    sequence = torch.from_numpy(layout.rows[:, 0])[:, None].expand(index.shape)
    weight = (~missing).float()
    weight = weight / weight.sum(1, keepdim=True)
    layers = [
        torch.einsum("rshc,rs->rhc", layer[sequence, :, index, len(GROUPS) :], weight.to(layer.device))
        for layer in evidence.pooled
    ]
    return torch.stack(layers, 1)


def _absolute(window: int, own: bool, layout: Layout) -> np.ndarray:
    """Absolute position read in each slot; slots before the caption read the first one."""
    tokens = layout.slots(window).clip(min=0)
    return layout.prompt_lengths[layout.rows[:, 0]][:, None] + tokens - (0 if own else 1)


def _slots(window: int, own: bool, layout: Layout) -> tuple[Tensor, Tensor]:
    place = layout.place(layout.queries, _absolute(window, own, layout))
    return torch.from_numpy(place), torch.from_numpy(layout.slots(window) < 0)
