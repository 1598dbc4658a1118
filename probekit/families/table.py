"""The families, one value each; an architecture that is not listed is read the generic way."""

from __future__ import annotations

from typing import Any

from probekit.families.family import Family
from probekit.families.grids import (
    leading_thumbnail,
    leading_view,
    merged_grid,
    no_grid,
    positioned_grid,
    sized_grid,
    trailing_thumbnail,
)

GENERIC = Family("generic", ())

FAMILIES: tuple[Family, ...] = (
    Family("llava", ("llava",), shares_prefixes=True, scaled_logits=False, grid=sized_grid),
    Family("llava_next", ("llava_next",), shares_prefixes=True, scaled_logits=False, grid=leading_thumbnail),
    Family(
        "llava_onevision",
        ("llava_onevision",),
        shares_prefixes=True,
        scaled_logits=False,
        grid=leading_thumbnail,
    ),
    Family("qwen2_vl", ("qwen2_vl",), shares_prefixes=True, positions="mrope", grid=merged_grid),
    Family("qwen2_5_vl", ("qwen2_5_vl",), positions="mrope", shares_prefixes=True, grid=merged_grid),
    Family(
        "qwen3_vl", ("qwen3_vl", "qwen3_vl_moe"), shares_prefixes=True, positions="mrope", grid=merged_grid
    ),
    Family("qwen3_5", ("qwen3_5", "qwen3_5_moe"), shares_prefixes=True, positions="mrope", grid=merged_grid),
    Family("glm4v", ("glm4v", "glm4v_moe"), positions="mrope", shares_prefixes=True, grid=merged_grid),
    Family("internvl", ("internvl",), shares_prefixes=True, grid=trailing_thumbnail),
    Family("gemma3", ("gemma3",), shares_prefixes=True, together="image_runs", layer_masks=True),
    Family(
        "gemma4",
        ("gemma4",),
        shares_prefixes=True,
        together="image_runs",
        together_in=("sliding_attention",),
        together_if=("use_bidirectional_attention", "vision"),
        layer_masks=True,
        grid=positioned_grid,
    ),
    Family("mistral3", ("mistral3",), shares_prefixes=True, grid=sized_grid),
    Family("idefics3", ("idefics3", "smolvlm"), shares_prefixes=True, grid=trailing_thumbnail),
    Family(
        "paligemma",
        ("paligemma",),
        caption_type=1,
        shares_prefixes=True,
        together="prompt",
        first_position=1,
    ),
    Family("deepseek_vl", ("deepseek_vl",), shares_prefixes=True),
    Family("molmo2", ("molmo2",), shares_prefixes=True, together="images", grid=leading_view),
    Family(
        "aya_vision",
        ("aya_vision",),
        shares_prefixes=True,
        layer_masks=True,
        scaled_logits=False,
        grid=trailing_thumbnail,
    ),
    Family("instructblip", ("instructblip",), grid=no_grid),
    Family("mllama", ("mllama",), cross_attention=True, grid=no_grid),
)


def family_of(config: Any) -> Family:
    """The family that covers ``config.model_type``, or the generic one."""
    for family in FAMILIES:
        if config.model_type in family.model_types:
            return family
    return GENERIC
