"""A canvas for the procedural Ghost set: shapes in a 640 x 480 frame, drawn at any real resolution."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FRAME = (640, 480)
"""Width and height of the frame in which coordinates are given."""
OVERSAMPLING = 2
"""Pixels drawn per output pixel along each axis; the mean of them smooths edges."""

Colour = tuple[int, int, int]
Number = int | float
Point = tuple[Number, Number]
Box = tuple[Number, Number, Number, Number]


@dataclass(frozen=True)
class Drawn:
    """One picture of the set with what its manifest line needs."""

    image: Image.Image
    target: str
    whitelist: tuple[str, ...] = ()


class Canvas:
    """Draws in the frame's coordinates; what lies outside the frame is background."""

    def __init__(self, size: tuple[int, int], rng: random.Random, background: Colour) -> None:
        self.size = size
        self.rng = rng
        width, height = size[0] * OVERSAMPLING, size[1] * OVERSAMPLING
        self._scale = min(width / FRAME[0], height / FRAME[1])
        self._shift = ((width - FRAME[0] * self._scale) / 2, (height - FRAME[1] * self._scale) / 2)
        self._image = _textured((width, height), background, rng)
        self._draw = ImageDraw.Draw(self._image)

    def point(self, at: Point) -> Point:
        """Pixel position of a frame position."""
        return at[0] * self._scale + self._shift[0], at[1] * self._scale + self._shift[1]

    def length(self, value: Number) -> int:
        """Pixels of a frame length, at least one."""
        return max(1, round(value * self._scale))

    def rect(
        self,
        box: Box,
        fill: Colour | None,
        outline: Colour | None = None,
        width: Number = 2,
        radius: Number = 0,
    ) -> None:
        """A rectangle with rounded corners."""
        self._draw.rounded_rectangle(
            self._box(box), self.length(radius) if radius else 0, fill, outline, self.length(width)
        )

    def band(self, top: Number, bottom: Number, fill: Colour) -> None:
        """A stripe over the whole width of the picture; the outermost ones reach its edges."""
        y0 = 0.0 if top <= 0 else self.point((0, top))[1]
        y1 = float(self._image.height) if bottom >= FRAME[1] else self.point((0, bottom))[1]
        self._draw.rectangle((0, y0, self._image.width, y1), fill)

    def ellipse(
        self, box: Box, fill: Colour | None, outline: Colour | None = None, width: Number = 2
    ) -> None:
        """An ellipse inside a box."""
        self._draw.ellipse(self._box(box), fill, outline, self.length(width))

    def arc(self, box: Box, start: Number, end: Number, fill: Colour, width: Number) -> None:
        """An arc in degrees clockwise from three o'clock."""
        self._draw.arc(self._box(box), start, end, fill, self.length(width))

    def line(self, points: Sequence[Point], fill: Colour, width: Number = 2) -> None:
        """A line with round joints and ends."""
        pixels = [self.point(p) for p in points]
        wide = self.length(width)
        self._draw.line(pixels, fill, wide, joint="curve")
        for x, y in (pixels[0], pixels[-1]):
            self._draw.ellipse((x - wide / 2, y - wide / 2, x + wide / 2, y + wide / 2), fill)

    def polygon(self, points: Sequence[Point], fill: Colour, outline: Colour | None = None) -> None:
        """A filled polygon."""
        self._draw.polygon([self.point(p) for p in points], fill, outline)

    def text(self, at: Point, text: str, height: Number, fill: Colour, anchor: str = "mm") -> None:
        """Text in Pillow's own font, which needs no file from the system."""
        font = ImageFont.load_default(size=float(self.length(height)))
        self._draw.text(self.point(at), text, fill, font, anchor)

    def smear(self, box: Box, cell: Number, radius: Number) -> None:
        """Destroy what a box holds: average over cells, then blur. Nothing of it can be restored."""
        x0, y0, x1, y1 = (round(v) for v in self._box(box))
        part = self._image.crop((x0, y0, x1, y1))
        side = self.length(cell)
        coarse = (max(1, part.width // side), max(1, part.height // side))
        part = part.resize(coarse, Image.Resampling.BOX).resize(part.size, Image.Resampling.BILINEAR)
        self._image.paste(part.filter(ImageFilter.GaussianBlur(self.length(radius))), (x0, y0))

    def finish(self) -> Image.Image:
        """The picture at its output size."""
        return self._image.resize(self.size, Image.Resampling.BOX)

    def _box(self, box: Box) -> Box:
        x0, y0 = self.point((box[0], box[1]))
        x1, y1 = self.point((box[2], box[3]))
        return x0, y0, x1, y1


def shade(colour: Colour, factor: Number) -> Colour:
    """The colour made darker (below 1) or lighter (above 1)."""
    r, g, b = (max(0, min(255, round(v * factor))) for v in colour)
    return r, g, b


def jitter(colour: Colour, rng: random.Random, spread: int = 18) -> Colour:
    """A colour near the given one."""
    r, g, b = (max(0, min(255, v + rng.randint(-spread, spread))) for v in colour)
    return r, g, b


def _textured(size: tuple[int, int], colour: Colour, rng: random.Random) -> Image.Image:
    generator = np.random.default_rng(rng.getrandbits(63))
    coarse = generator.normal(0.0, 9.0, (9, 12, 1)).repeat(3, axis=2)
    plane = np.clip(np.asarray(colour, dtype=np.float64) + coarse, 0, 255).astype(np.uint8)
    return Image.fromarray(plane).resize(size, Image.Resampling.BICUBIC)
