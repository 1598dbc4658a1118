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


def trailing_thumbnail(config: Any, inputs: Mapping[str, Any], image: int, tokens: int) -> Grid | None:
    """InternVL: tiles of ``image_seq_length`` tokens, the whole picture last when there are several."""
    each = int(config.image_seq_length)
    side = round(each**0.5)
    if tokens % each or side * side != each:
        return None
    return Grid(np.arange(tokens - each, tokens).reshape(1, side, side))


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
