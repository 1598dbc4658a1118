"""How large a random member is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """Dimensions of a random member.

    Attributes:
        layers: decoder layers, L.
        width: hidden size, D.
        heads: query heads, H.
        kv_heads: key and value heads.
        words: size of the vocabulary, at least 300.
        image: side of the square image in pixels, a multiple of ``patch``.
        patch: side of a vision patch in pixels.
        seed: of the weights.
        sharpness: factor on fresh query and key weights. They spread attention evenly, which hides wrong
            positions and masks; 1 leaves them as they are.
    """

    layers: int = 3
    width: int = 32
    heads: int = 4
    kv_heads: int = 2
    words: int = 320
    image: int = 56
    patch: int = 14
    seed: int = 0
    sharpness: float = 6.0
