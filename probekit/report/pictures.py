"""Pictures for a page: small copies as data URIs, never the files themselves."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

EDGE = 360
"""Longest side of a copy, pixels."""
BUDGET = 6_000_000
"""Characters of pictures in one page."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small copy, or why there is none.

    Attributes:
        uri: ``data:`` URI; empty when there is none.
        width: pixels.
        height: pixels.
        reason: why there is no picture.
    """

    uri: str = ""
    width: int = 0
    height: int = 0
    reason: str = ""


@dataclass
class Album:
    """Makes thumbnails until the page's budget is spent.

    Attributes:
        budget: characters left.
        resolve: image name to path; raises `probekit.errors.InputError` for a name that leaves the folder.
    """

    resolve: Callable[[str], Path]
    budget: int = BUDGET
    _made: dict[str, Thumbnail] = field(default_factory=dict)

    def thumbnail(self, image: str) -> Thumbnail:
        """The copy of ``image``; a picture used twice is made and paid for once."""
        if image not in self._made:
            made = self._thumbnail(image)
            self.budget -= len(made.uri)
            self._made[image] = made
        return self._made[image]

    def _thumbnail(self, image: str) -> Thumbnail:
        path = self.resolve(image)
        if not path.is_file():
            return Thumbnail(reason="picture not found")
        if self.budget <= 0:
            return Thumbnail(reason="picture left out to keep the page small")
        try:
            uri, width, height = _encode(path)
        except Exception as error:  # decoders raise their own kinds on damaged files
            return Thumbnail(reason=f"picture cannot be read: {type(error).__name__}")
        if len(uri) > self.budget:
            return Thumbnail(reason="picture left out to keep the page small")
        return Thumbnail(uri, width, height)


def _encode(path: Path) -> tuple[str, int, int]:
    from PIL import Image, ImageOps

    with Image.open(path) as opened:
        picture = ImageOps.exif_transpose(opened).convert("RGB")
    picture.thumbnail((EDGE, EDGE))
    out = io.BytesIO()
    # drawn scenes of few colours are smaller and sharper as PNG, photographs as JPEG
    colours = picture.getcolors(256)
    if colours is not None:
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=len(colours)).save(
            out, "PNG", optimize=True
        )
        kind = "png"
    else:
        picture.save(out, "JPEG", quality=80, optimize=True)
        kind = "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(out.getvalue()).decode()}", *picture.size
