"""Captures that a decoder cannot serve are refused by name, before anything runs."""

from __future__ import annotations

from probekit.errors import FamilyError
from probekit.families import Vlm


def silent_layers(vlm: Vlm) -> list[int]:
    """Decoder layers that have no attention over the text."""
    return [number for number, layer in enumerate(vlm.layers) if not hasattr(layer, "self_attn")]


def require_attention(vlm: Vlm) -> None:
    """Refuse attention captures of decoders in which some layers do not attend to the sequence.

    Masses of such a layer do not exist, and leaving it out would shift the layers that detectors name.

    Raises:
        FamilyError: names the layers.
    """
    if silent := silent_layers(vlm):
        kind = "cross-attention" if vlm.family.cross_attention else "linear attention"
        raise FamilyError(
            f"decoder layers {', '.join(map(str, silent))} have {kind} and no attention rows over the text",
            where=vlm.name,
            hint="Attention masses and grids cannot be served (lookback, svar, dhcp, metatoken); hidden "
            "states, token statistics, lens and similarity can. Choose other detectors.",
        )


def require_image_tokens(vlm: Vlm) -> None:
    """Refuse captures of image positions where pictures take up none.

    Raises:
        FamilyError: pictures enter through cross-attention.
    """
    if vlm.family.cross_attention:
        raise FamilyError(
            "pictures enter through cross-attention and have no states in the residual stream",
            where=vlm.name,
            hint="Evidence in image tokens cannot be served (ic, glsim, pas). Choose other detectors.",
        )
