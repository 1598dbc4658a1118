"""Token grids of the families whose images are not one square picture (SPEC 1.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from probekit.families.family import Grid, square_grid


def merged_grid(config: Any, inputs: Mapping[str, Any], image: int, tokens: int) -> Grid | None:
    """Qwen-VL: patches of ``image_grid_thw`` merged ``spatial_merge_size`` by ``spatial_merge_size``."""
    grid = inputs.get("image_grid_thw")
    if grid is None:
        return None
    time, height, width = (int(v) for v in grid[image])
    merge = int(config.vision_config.spatial_merge_size)
    rows, columns = height // merge, width // merge
    if time * rows * columns != tokens:
        return None
    return Grid(np.arange(tokens).reshape(time, rows, columns))


def leading_thumbnail(config: Any, inputs: Mapping[str, Any], image: int, tokens: int) -> Grid | None:
    """LLaVA-NeXT and OneVision: the whole picture comes first, tiles with row separators after it."""
    vision = config.vision_config
    side = int(vision.image_size) // int(vision.patch_size)
    if tokens < side * side:
        return square_grid(config, inputs, image, tokens)
    return Grid(np.arange(side * side).reshape(1, side, side))


def no_grid(config: Any, inputs: Mapping[str, Any], image: int, tokens: int) -> Grid | None:
    """Tokens that stand for no place: a Q-Former's queries, or one mark for a picture kept elsewhere."""
    return None


def trailing_thumbnail(config: Any, inputs: Mapping[str, Any], image: int, tokens: int) -> Grid | None:
    """InternVL, Idefics3, Aya Vision: tiles of as many tokens each, the whole picture last."""
    vision = config.vision_config
    if (given := getattr(config, "image_seq_length", None)) is not None:
        each = int(given)
    else:
        merge: Any = getattr(config, "scale_factor", None) or getattr(config, "downsample_factor", 1)
        each = (int(vision.image_size) // int(vision.patch_size) // int(merge)) ** 2
    side = round(each**0.5)
    if tokens % each or side * side != each:
        return None
    return Grid(np.arange(tokens - each, tokens).reshape(1, side, side))


def leading_view(config: Any, inputs: Mapping[str, Any], image: int, tokens: int) -> Grid | None:
    """Molmo2: ``image_grids`` gives rows and columns of the whole picture, then of the crops after it."""
    grids = inputs.get("image_grids")
    if grids is None:
        return None
    rows, columns, more_rows, more_columns = (int(v) for v in grids[image])
    if rows * columns + more_rows * more_columns != tokens:
        return None
    return Grid(np.arange(rows * columns).reshape(1, rows, columns))


def positioned_grid(config: Any, inputs: Mapping[str, Any], image: int, tokens: int) -> Grid | None:
    """Gemma-4: patches carry their column and row, and are pooled by a square kernel."""
    places = inputs.get("image_position_ids")
    if places is None:
        return None
    kernel = int(config.vision_config.pooling_kernel_size)
    columns, rows = ((np.asarray(places[image]).max(0) + 1) // kernel).tolist()
    if rows * columns != tokens:
        return None
    return Grid(np.arange(tokens).reshape(1, rows, columns))


def sized_grid(config: Any, inputs: Mapping[str, Any], image: int, tokens: int) -> Grid | None:
    """Pixtral: rows and columns follow the size of the resized image; separators have other ids."""
    sizes = inputs.get("image_sizes")
    if sizes is None:
        return square_grid(config, inputs, image, tokens)
    patch = int(config.vision_config.patch_size) * int(getattr(config, "spatial_merge_size", 1))
    height, width = (int(v) for v in np.asarray(sizes).reshape(-1, 2)[image])
    rows, columns = height // patch, width // patch
    if rows * columns != tokens:
        return None
    return Grid(np.arange(tokens).reshape(1, rows, columns))
