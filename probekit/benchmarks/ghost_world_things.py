"""Badges, clocks, instruments and displays small enough to stand in a scene of the embedded model's world.

Each is drawn at eight times its size and averaged down, as the world's own things are flat shapes of some
twenty pixels. No name and no time is ever drawn.
"""

import math
import random
from collections.abc import Mapping

from PIL import Image, ImageDraw, ImageFilter

from probekit.benchmarks.ghost import GhostCategory
from probekit.benchmarks.ghost_badges import BANDS, INK
from probekit.benchmarks.ghost_badges import TARGET as BADGE_TARGET
from probekit.benchmarks.ghost_canvas import jitter
from probekit.benchmarks.ghost_clocks import CLOCK_TARGET, SEGMENTS
from probekit.benchmarks.ghost_clocks import TARGET as DECOY_TARGET

WIDTH = 22
"""Pixels of a thing along each axis; a cell of a scene has 24."""
_SCALE = 8
_EDGE = WIDTH * _SCALE

TARGETS: Mapping[GhostCategory, str] = {
    GhostCategory.TEXT_BLUR: BADGE_TARGET,
    GhostCategory.TEXT_GIBBERISH: BADGE_TARGET,
    GhostCategory.TEXT_BLANK: BADGE_TARGET,
    GhostCategory.TIME_FIX: CLOCK_TARGET,
    GhostCategory.ANALOG_DECOY: DECOY_TARGET,
    GhostCategory.DIGITAL_DECOY: DECOY_TARGET,
}
"""What is asked for in each of the six categories of names and times."""


def thing(category: GhostCategory, rng: random.Random) -> tuple[Image.Image, tuple[str, ...]]:
    """An RGBA picture of `WIDTH` pixels either way, and what can be read on it.

    Args:
        category: one of `TARGETS`.
    """
    image = Image.new("RGBA", (_EDGE, _EDGE), (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    readable: tuple[str, ...] = ()
    if category in (GhostCategory.TEXT_BLUR, GhostCategory.TEXT_GIBBERISH, GhostCategory.TEXT_BLANK):
        image = _badge(image, pen, category, rng)
    elif category is GhostCategory.DIGITAL_DECOY:
        readable = (_display(pen, rng),)
    else:
        _dial(pen, rng, needle=category is GhostCategory.ANALOG_DECOY)
    return image.resize((WIDTH, WIDTH), Image.Resampling.BOX), readable


def _badge(
    image: Image.Image, pen: ImageDraw.ImageDraw, category: GhostCategory, rng: random.Random
) -> Image.Image:
    pen.rectangle((4, 28, 171, 147), jitter((240, 240, 236), rng, 8), (120, 120, 124), 4)
    pen.rectangle((4, 28, 171, 56), jitter(rng.choice(BANDS), rng))
    pen.ellipse((18, 68, 54, 104), jitter((206, 164, 132), rng, 26))
    pen.rectangle((14, 106, 58, 138), jitter(rng.choice(BANDS), rng))
    field = (68, 78, 164, 122)
    pen.rectangle(field, (252, 252, 250), (150, 150, 154), 3)
    x = field[0] + 10
    while category is GhostCategory.TEXT_BLUR and x < field[2] - 18:
        wide = rng.randint(8, 14)
        pen.rectangle((x, 90, x + wide, 110), INK)
        x += wide + rng.randint(4, 12)
    while category is GhostCategory.TEXT_GIBBERISH and x < field[2] - 18:
        for _ in range(3):
            ends = [(x + rng.randint(0, 14), rng.randint(86, 114)) for _ in range(2)]
            pen.line(ends, INK, 5)
        x += 24
    if category is not GhostCategory.TEXT_BLUR:
        return image
    inside = (field[0] + 4, field[1] + 4, field[2] - 4, field[3] - 4)
    image.paste(image.crop(inside).filter(ImageFilter.GaussianBlur(10)), inside[:2])
    return image


def _dial(pen: ImageDraw.ImageDraw, rng: random.Random, *, needle: bool) -> None:
    middle, radius = _EDGE / 2, _EDGE / 2 - 6
    around = (middle - radius, middle - radius, middle + radius, middle + radius)
    rim = jitter(rng.choice(((60, 60, 66), (150, 120, 70), (120, 40, 40))), rng)
    pen.ellipse(around, jitter((244, 242, 234), rng, 10), rim, 14)
    # A clock's marks go all the way round, an instrument's leave a gap below.
    angles = [225 + 270 * i / 8 for i in range(9)] if needle else [30 * i for i in range(12)]
    for angle in angles:
        pen.line((_on(middle, radius * 0.62, angle), _on(middle, radius * 0.8, angle)), INK, 7)
    if needle:
        inner = (around[0] + 14, around[1] + 14, around[2] - 14, around[3] - 14)
        pen.arc(inner, 0, 45, (200, 40, 30), 16)
        pen.arc(inner, 135, 180, (40, 150, 70), 16)
        at = 225 + 270 * rng.uniform(0.05, 0.95)
        pen.line((_on(middle, radius * 0.15, at + 180), _on(middle, radius * 0.7, at)), (190, 30, 30), 10)
    pen.ellipse((middle - 8, middle - 8, middle + 8, middle + 8), INK)


def _display(pen: ImageDraw.ImageDraw, rng: random.Random) -> str:
    """Three signs without a colon: a number, or an error."""
    shown = rng.choice((f"{rng.randint(100, 999)}", "Err", "---", f"{rng.randint(10, 99)}-"))
    lit = rng.choice(((236, 60, 40), (60, 230, 110), (90, 190, 250)))
    pen.rounded_rectangle((2, 38, 173, 138), 12, jitter((70, 72, 78), rng, 12))
    pen.rectangle((12, 48, 163, 128), (10, 14, 18))
    for place, sign in enumerate(shown):
        x, y, wide, half = 24 + place * 48, 58, 28, 30
        corners = {
            "a": (x, y, x + wide, y),
            "b": (x + wide, y, x + wide, y + half),
            "c": (x + wide, y + half, x + wide, y + 2 * half),
            "d": (x, y + 2 * half, x + wide, y + 2 * half),
            "e": (x, y + half, x, y + 2 * half),
            "f": (x, y, x, y + half),
            "g": (x, y + half, x + wide, y + half),
        }
        for segment in SEGMENTS[sign]:
            pen.line(corners[segment], lit, 8)
    return shown


def _on(middle: float, radius: float, degrees: int | float) -> tuple[float, float]:
    """A point on a circle, in degrees clockwise from the top."""
    angle = math.radians(degrees - 90)
    return middle + radius * math.cos(angle), middle + radius * math.sin(angle)
