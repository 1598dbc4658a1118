"""Any capture as a grid of numbers a row, and two groups of rows compared in every cell of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from probekit.captures import SIMILARITY_TERMS, STATISTICS, AttentionMass, Capture, GroupCount
from probekit.errors import InputError
from probekit.evaluation.effect_maps import EffectMap, effect_map
from probekit.evaluation.effects import EffectSizes, compare
from probekit.metrics.estimates import DRAWS
from probekit.rows import RowKey
from probekit.store import Store

Selection = Mapping[str, int | str]
"""Axis name to a place on it, by number (negative from the end) or by name; other axes are kept."""


@dataclass(frozen=True)
class Grid:
    """A capture of every row, cut down to at most two axes.

    Attributes:
        capture: key of the capture.
        axes: names of the two axes; ``one`` for an axis that is not there.
        keys: the rows.
        images: the picture of each row.
        values: the numbers; NaN is missing.
    """

    capture: str
    axes: tuple[str, str]
    keys: tuple[RowKey, ...]
    images: tuple[str, ...]
    values: Float[np.ndarray, "row layer head"]


@dataclass(frozen=True)
class GridEffects:
    """Two groups of rows compared over a grid.

    Attributes:
        grid: what was compared.
        first: name of the first group.
        second: name of the second group.
        unlabelled: rows of the store in neither group.
        cells: the comparison in every cell, first minus second.
        mean: the comparison of each row's mean over all cells, with intervals by picture.
    """

    grid: Grid
    first: str
    second: str
    unlabelled: int
    cells: EffectMap
    mean: EffectSizes


def capture_grid(store: Store, capture: Capture, select: Selection | None = None) -> Grid:
    """Read a capture shard by shard, keeping only the selected part of it.

    The window's last slot, t* itself, is taken unless ``select`` says otherwise.

    Args:
        select: for example ``{"group": "image"}`` of `AttentionMass`.

    Raises:
        UnservedError: the store does not hold the capture.
        InputError: an axis or a name is unknown, or more than two axes remain.
    """
    store.require([capture], who="the comparison")
    chosen: dict[str, int | str] = {"slot": -1} if "slot" in capture.axes else {}
    chosen |= dict(select or {})
    unknown = sorted(chosen.keys() - set(capture.axes))
    if unknown:
        raise InputError(f"{capture.key} has no axis {', '.join(unknown)}", hint=f"It has: {capture.axes}.")
    kept = [axis for axis in capture.axes if axis not in chosen]
    if len(kept) > 2:
        raise InputError(
            f"{capture.key} keeps the axes {', '.join(kept)}; at most two can be compared at once",
            hint="Select a place on the others, such as group=image.",
        )
    index = (
        slice(None),
        *(_place(capture, axis, chosen[axis]) if axis in chosen else slice(None) for axis in capture.axes),
    )
    parts, keys, images = [], [], []
    for shard in store.shards():
        try:
            part = shard[capture][index].astype(np.float64)
        except IndexError as error:
            raise InputError(f"{capture.key}: {error}") from None
        parts.append(part.reshape(len(part), *part.shape[1:], *([1] * (3 - part.ndim))))
        keys += shard.rows.keys
        images += [str(image) for image in shard.rows.image_id]
    if not parts:
        raise InputError("the store has no rows", where=str(store.path))
    names = (*kept, "one", "one")[:2]
    return Grid(capture.key, (names[0], names[1]), tuple(keys), tuple(images), np.concatenate(parts))


def compare_groups(
    grid: Grid,
    groups: Mapping[RowKey, str],
    first: str,
    second: str,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> GridEffects:
    """Compare the rows of two groups in every cell, and by each row's mean over the cells.

    Args:
        groups: the group of each row; rows of other groups and of none are left out.

    Raises:
        InputError: no row of the store is in one of the groups.
    """
    of = [groups.get(key) for key in grid.keys]
    in_first = np.array([group == first for group in of], dtype=bool)
    rows = in_first | np.array([group == second for group in of], dtype=bool)
    for name, count in ((first, int(in_first.sum())), (second, int((rows & ~in_first).sum()))):
        if not count:
            known = ", ".join(sorted({group for group in of if group is not None})) or "none"
            raise InputError(f"no row of the store is in the group {name!r}", hint=f"Groups here: {known}.")
    values, marks = grid.values[rows], in_first[rows]
    images = [image for image, row in zip(grid.images, rows, strict=True) if row]
    return GridEffects(
        grid,
        first,
        second,
        int((~rows).sum()),
        effect_map(values, marks),
        compare(_row_mean(values), marks, images, draws=draws, seed=seed),
    )


def _row_mean(values: Float[np.ndarray, "row layer head"]) -> Float[np.ndarray, "row"]:
    """Mean over the cells that have a value; NaN for a row without any."""
    there: Bool[np.ndarray, "row layer head"] = ~np.isnan(values)
    count = there.sum(axis=(1, 2))
    total = np.where(there, values, 0.0).sum(axis=(1, 2))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _place(capture: Capture, axis: str, place: int | str) -> int:
    if isinstance(place, int):
        return place
    names: tuple[str, ...] = {"statistic": STATISTICS, "term": SIMILARITY_TERMS}.get(axis, ())
    if axis == "group" and isinstance(capture, AttentionMass):
        names = capture.groups
    elif axis == "group" and isinstance(capture, GroupCount):
        names = AttentionMass(capture.read_at).groups
    if place not in names:
        raise InputError(
            f"axis {axis} of {capture.key} has no place {place!r}",
            hint=f"Known: {', '.join(names)}." if names else "Give a number.",
        )
    return names.index(place)
