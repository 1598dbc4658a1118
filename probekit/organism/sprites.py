"""Pictures of the 25 categories, as lists of flat shapes on a 48 x 48 grid.

Animals share one build, vehicles another, vessels a third, so that a small or faint one is
mistaken for its like, as in photographs.
"""

import random
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from PIL import Image, ImageDraw

from probekit.organism.vocabulary import CATEGORIES

GRID = 48
"""Width and height, in pixels, at which sprites are drawn before scaling."""

VARIANTS = 24
"""How many colourings of each category exist."""

Shape = tuple[str, tuple[int, ...], str]
"""Kind (box, oval, ring, poly, line, dome, basin), coordinates, colour name.

For `ring` and `line` the last coordinate is the stroke width.
"""

_INKS: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {
        "black": (24, 24, 26),
        "white": (244, 244, 240),
        "grey": (120, 126, 132),
        "silver": (206, 210, 216),
        "skin": (222, 178, 146),
        "glass": (160, 206, 232),
        "wood": (128, 80, 42),
        "leaf": (36, 140, 48),
        "red": (228, 44, 40),
        "amber": (252, 196, 44),
        "lime": (48, 216, 84),
        "pink": (236, 152, 158),
        "ember": (232, 112, 28),
    }
)

_COATS: Mapping[str, tuple[tuple[int, int, int], ...]] = MappingProxyType(
    {
        "person": ((204, 44, 44), (44, 64, 200), (236, 200, 48), (228, 228, 228)),
        "bicycle": ((196, 40, 62), (40, 90, 190)),
        "car": ((200, 32, 32), (34, 72, 188), (236, 236, 236)),
        "bus": ((238, 168, 32), (206, 60, 44)),
        "traffic light": ((36, 36, 40),),
        "fire hydrant": ((222, 48, 32), (238, 190, 30)),
        "bench": ((134, 84, 44),),
        "bird": ((62, 112, 216), (90, 90, 96)),
        "cat": ((150, 150, 156), (224, 150, 70)),
        "dog": ((170, 112, 54), (90, 62, 44)),
        "horse": ((112, 62, 32), (164, 108, 62)),
        "cow": ((242, 242, 240), (150, 96, 62)),
        "umbrella": ((226, 44, 122), (140, 44, 200), (40, 150, 160)),
        "kite": ((248, 96, 24), (70, 190, 90)),
        "bottle": ((24, 128, 62), (120, 66, 30)),
        "cup": ((62, 148, 226), (226, 226, 220)),
        "spoon": ((204, 204, 214),),
        "bowl": ((222, 72, 62), (70, 120, 190)),
        "couch": ((122, 44, 112), (60, 110, 120)),
        "potted plant": ((188, 92, 44),),
        "tv": ((52, 92, 140), (90, 150, 190)),
        "remote": ((44, 44, 48),),
        "oven": ((92, 96, 102),),
        "refrigerator": ((230, 238, 242), (186, 194, 200)),
        "boat": ((142, 72, 34), (60, 90, 160)),
    }
)
"""Body colours a category comes in; `coat` in a shape is one of them, jittered."""

_SHAPES: Mapping[str, tuple[Shape, ...]] = MappingProxyType(
    {
        "person": (
            ("oval", (17, 1, 31, 15), "skin"),
            ("box", (14, 16, 34, 33), "coat"),
            ("box", (16, 34, 22, 47), "black"),
            ("box", (26, 34, 32, 47), "black"),
        ),
        "bicycle": (
            ("ring", (1, 23, 20, 42, 3), "black"),
            ("ring", (28, 23, 47, 42, 3), "black"),
            ("line", (10, 32, 20, 17, 36, 17, 37, 32, 3), "coat"),
            ("line", (20, 17, 25, 32, 36, 17, 3), "coat"),
        ),
        "car": (
            ("box", (1, 22, 47, 36), "coat"),
            ("poly", (9, 22, 16, 11, 33, 11, 40, 22), "coat"),
            ("box", (18, 14, 32, 21), "glass"),
            ("oval", (7, 30, 18, 42), "black"),
            ("oval", (30, 30, 41, 42), "black"),
        ),
        "bus": (
            ("box", (1, 8, 47, 37), "coat"),
            ("box", (4, 12, 44, 20), "glass"),
            ("oval", (7, 32, 17, 43), "black"),
            ("oval", (31, 32, 41, 43), "black"),
        ),
        "traffic light": (
            ("box", (22, 30, 26, 47), "grey"),
            ("box", (14, 1, 34, 32), "coat"),
            ("oval", (20, 3, 28, 11), "red"),
            ("oval", (20, 12, 28, 20), "amber"),
            ("oval", (20, 21, 28, 29), "lime"),
        ),
        "fire hydrant": (
            ("oval", (16, 4, 32, 18), "coat"),
            ("box", (16, 11, 32, 42), "coat"),
            ("box", (10, 21, 38, 28), "coat"),
            ("box", (12, 42, 36, 47), "grey"),
        ),
        "bench": (
            ("box", (1, 13, 47, 18), "coat"),
            ("box", (1, 22, 47, 29), "coat"),
            ("box", (6, 29, 10, 42), "black"),
            ("box", (38, 29, 42, 42), "black"),
        ),
        "bird": (
            ("oval", (10, 18, 36, 34), "coat"),
            ("oval", (28, 9, 42, 23), "coat"),
            ("poly", (41, 14, 48, 17, 41, 20), "amber"),
            ("poly", (11, 24, 0, 17, 2, 33), "coat"),
        ),
        "cat": (
            ("oval", (12, 24, 36, 47), "coat"),
            ("oval", (13, 9, 35, 29), "coat"),
            ("poly", (13, 15, 14, 1, 23, 11), "coat"),
            ("poly", (35, 15, 34, 1, 25, 11), "coat"),
            ("oval", (18, 16, 22, 20), "lime"),
            ("oval", (26, 16, 30, 20), "lime"),
        ),
        "dog": (
            ("box", (8, 21, 36, 33), "coat"),
            ("box", (9, 32, 14, 45), "coat"),
            ("box", (30, 32, 35, 45), "coat"),
            ("oval", (30, 8, 47, 25), "coat"),
            ("oval", (29, 9, 34, 23), "black"),
            ("line", (9, 23, 1, 12, 4), "coat"),
        ),
        "horse": (
            ("box", (6, 20, 34, 31), "coat"),
            ("box", (7, 30, 11, 47), "coat"),
            ("box", (29, 30, 33, 47), "coat"),
            ("poly", (28, 22, 36, 3, 47, 10, 44, 15, 37, 14, 35, 27), "coat"),
            ("line", (29, 19, 36, 2, 4), "black"),
            ("line", (6, 21, 1, 37, 4), "black"),
        ),
        "cow": (
            ("box", (6, 16, 38, 32), "coat"),
            ("box", (8, 32, 13, 45), "coat"),
            ("box", (31, 32, 36, 45), "coat"),
            ("oval", (33, 8, 47, 25), "coat"),
            ("oval", (10, 18, 19, 27), "black"),
            ("oval", (23, 20, 32, 30), "black"),
            ("oval", (41, 17, 48, 25), "pink"),
        ),
        "umbrella": (
            ("dome", (2, 4, 46, 46), "coat"),
            ("line", (24, 24, 24, 46, 3), "wood"),
        ),
        "kite": (
            ("poly", (24, 1, 41, 17, 24, 36, 7, 17), "coat"),
            ("line", (24, 1, 24, 36, 2), "amber"),
            ("line", (24, 36, 17, 42, 27, 47, 3), "coat"),
        ),
        "bottle": (
            ("box", (16, 16, 32, 47), "coat"),
            ("box", (21, 2, 27, 16), "coat"),
            ("box", (16, 24, 32, 35), "white"),
        ),
        "cup": (
            ("poly", (9, 12, 34, 12, 31, 43, 12, 43), "coat"),
            ("ring", (29, 16, 44, 34, 4), "coat"),
        ),
        "spoon": (
            ("oval", (15, 1, 33, 21), "coat"),
            ("box", (22, 18, 26, 47), "coat"),
        ),
        "bowl": (
            ("basin", (2, -4, 46, 42), "coat"),
            ("box", (1, 17, 47, 21), "white"),
        ),
        "couch": (
            ("box", (3, 12, 45, 40), "coat"),
            ("box", (0, 20, 7, 42), "coat"),
            ("box", (41, 20, 48, 42), "coat"),
            ("box", (8, 27, 40, 30), "black"),
        ),
        "potted plant": (
            ("poly", (13, 32, 35, 32, 30, 47, 18, 47), "coat"),
            ("oval", (15, 1, 33, 18), "leaf"),
            ("oval", (5, 10, 23, 28), "leaf"),
            ("oval", (25, 10, 43, 28), "leaf"),
            ("oval", (14, 16, 34, 32), "leaf"),
        ),
        "tv": (
            ("box", (1, 8, 47, 37), "black"),
            ("box", (5, 12, 43, 33), "coat"),
            ("box", (18, 37, 30, 42), "black"),
        ),
        "remote": (
            ("box", (15, 1, 33, 47), "coat"),
            ("oval", (20, 4, 28, 12), "red"),
            ("box", (19, 17, 23, 21), "white"),
            ("box", (26, 17, 30, 21), "white"),
            ("box", (19, 27, 23, 31), "white"),
            ("box", (26, 27, 30, 31), "white"),
        ),
        "oven": (
            ("box", (3, 3, 45, 46), "coat"),
            ("box", (9, 18, 39, 41), "black"),
            ("box", (12, 24, 36, 37), "ember"),
            ("box", (8, 8, 40, 12), "white"),
        ),
        "refrigerator": (
            ("box", (10, 1, 38, 47), "coat"),
            ("line", (10, 18, 38, 18, 2), "grey"),
            ("box", (32, 6, 35, 14), "black"),
            ("box", (32, 22, 35, 36), "black"),
        ),
        "boat": (
            ("poly", (3, 32, 45, 32, 37, 45, 11, 45), "coat"),
            ("line", (24, 32, 24, 3, 3), "wood"),
            ("poly", (26, 3, 43, 28, 26, 28), "white"),
        ),
    }
)


def _draw(category: str, rng: random.Random) -> Image.Image:
    coat = tuple(max(0, min(255, v + rng.randint(-22, 22))) for v in rng.choice(_COATS[category]))
    image = Image.new("RGBA", (GRID, GRID), (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    for kind, xy, ink in _SHAPES[category]:
        fill = coat if ink == "coat" else _INKS[ink]
        match kind:
            case "box":
                pen.rectangle(xy, fill=fill)
            case "oval":
                pen.ellipse(xy, fill=fill)
            case "ring":
                pen.ellipse(xy[:-1], outline=fill, width=xy[-1])
            case "poly":
                pen.polygon(xy, fill=fill)
            case "line":
                pen.line(xy[:-1], fill=fill, width=xy[-1])
            case "dome":
                pen.pieslice(xy, 180, 360, fill=fill)
            case "basin":
                pen.pieslice(xy, 0, 180, fill=fill)
            case _:
                raise AssertionError(kind)
    return image


@cache
def sprites() -> Mapping[str, tuple[Image.Image, ...]]:
    """Return `VARIANTS` RGBA sprites of GRID x GRID pixels for every category.

    The same process-wide library every time: it is drawn from a seed of its own.
    """
    rng = random.Random(25)
    return MappingProxyType({c: tuple(_draw(c, rng) for _ in range(VARIANTS)) for c in CATEGORIES})
