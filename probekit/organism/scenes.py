"""Scenes of 72 x 72 pixels whose content is known because it is drawn here.

Everything about a scene, pixels included, is a function of its seed.
"""

import random
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFilter

from probekit.organism.priors import (
    COMPANION_BOOST,
    POSTER_CATEGORIES,
    SCENE_TYPES,
    SETTINGS,
    Colour,
    guess,
)
from probekit.organism.sprites import sprites
from probekit.organism.vocabulary import CATEGORIES, INDEX

SIZE = 72
"""Width and height of an image, in pixels."""
CELL = 24
"""Width of one of the nine cells in which at most one thing is placed, in pixels."""
PATCH = 12
"""Width of a vision patch, in pixels."""
PATCHES = SIZE // PATCH

KIND_NOTHING, KIND_OBJECT, KIND_POSTER, KIND_SMUDGE = range(4)
"""What covers a vision patch, the second channel of `Scene.patches`."""

MAX_OBJECTS = 5


@dataclass(frozen=True)
class Thing:
    """One object. `column` and `row` are 0 to 2; `faint` is low contrast, `hidden` is under the
    smudge; `occluded` is partly covered."""

    category: str
    column: int
    row: int
    faint: bool = False
    hidden: bool = False
    occluded: bool = False


@dataclass(frozen=True)
class Smudge:
    """A blot that may hide an object; `suggestion` is what a caption takes it for."""

    column: int
    row: int
    suggestion: str


@dataclass(frozen=True)
class Poster:
    """A framed picture of `category`, which does not make that category present."""

    category: str
    column: int
    row: int


@dataclass(frozen=True, eq=False)
class Scene:
    """A drawn scene and everything true of it.

    `patches[0]` holds, for each vision patch, the category index drawn there (what a poster shows
    included) or -1; `patches[1]` holds one of the KIND constants.
    """

    seed: int
    scene_type: str
    things: tuple[Thing, ...]
    poster: Poster | None
    smudge: Smudge | None
    image: UInt8[np.ndarray, "72 72 3"]
    patches: UInt8[np.ndarray, "2 6 6"]

    @property
    def present(self) -> frozenset[str]:
        """The categories really there: hidden and faint ones included, posters excluded."""
        return frozenset(thing.category for thing in self.things)

    def picture(self) -> Image.Image:
        """Return the image as a PIL image in RGB."""
        return Image.fromarray(self.image)


NO_CATEGORY = 255
"""Marks a patch without a category in `Scene.patches[0]`."""


def _choose_categories(scene_type: str, rng: random.Random) -> list[str]:
    setting = SETTINGS[scene_type]
    chosen = [c for c, chance in setting.objects.items() if rng.random() < chance]
    for trigger, companion in setting.companions.items():
        if trigger in chosen and companion not in chosen and rng.random() < COMPANION_BOOST:
            chosen.append(companion)
    stray = rng.choice(CATEGORIES)
    if rng.random() < 0.10 and stray not in chosen:
        chosen.append(stray)
    if not chosen:
        chosen.append(rng.choice(tuple(setting.objects)))
    rng.shuffle(chosen)
    return chosen[:MAX_OBJECTS]


def _jitter(colour: Colour, rng: random.Random, spread: int) -> Colour:
    r, g, b = (max(0, min(255, v + rng.randint(-spread, spread))) for v in colour)
    return r, g, b


def _background(scene_type: str, rng: random.Random) -> Image.Image:
    setting = SETTINGS[scene_type]
    image = Image.new("RGB", (SIZE, SIZE), _jitter(setting.sky, rng, 14))
    ground = _jitter(setting.ground, rng, 14)
    horizon = rng.randint(26, 42)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, horizon, SIZE, SIZE), fill=ground)
    line = _jitter(ground, rng, 18)
    step = rng.randint(7, 11)
    if scene_type in ("kitchen", "living room"):
        for x in range(rng.randint(0, step), SIZE, step):
            pen.line((x, horizon, x, SIZE), fill=line)
    for y in range(horizon + step // 2, SIZE, step):
        pen.line((0, y, SIZE, y), fill=line)
    return image


class _Canvas:
    """The image under way, with the patch labels that go with it."""

    def __init__(self, scene_type: str, rng: random.Random) -> None:
        self.rng = rng
        self.image = _background(scene_type, rng)
        self.patches = np.zeros((2, PATCHES, PATCHES), dtype=np.uint8)
        self.patches[0] = NO_CATEGORY
        self.cells = [(x, y) for x in range(3) for y in range(3)]
        rng.shuffle(self.cells)

    def place(self, cell: tuple[int, int], width: int) -> tuple[int, int]:
        spare = CELL - width
        return (
            cell[0] * CELL + self.rng.randint(0, spare),
            cell[1] * CELL + self.rng.randint(0, spare),
        )

    def label(self, x: int, y: int, width: int, category: str | None, kind: int) -> None:
        rows = slice((y + 3) // PATCH, (y + width - 4) // PATCH + 1)
        columns = slice((x + 3) // PATCH, (x + width - 4) // PATCH + 1)
        self.patches[0, rows, columns] = NO_CATEGORY if category is None else INDEX[category]
        self.patches[1, rows, columns] = kind

    def sprite(self, category: str, x: int, y: int, width: int, opacity: float) -> None:
        sprite = self.rng.choice(sprites()[category]).resize((width, width), Image.Resampling.BILINEAR)
        if self.rng.random() < 0.5:
            sprite = sprite.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        mask = sprite.getchannel("A").point([int(v * opacity) for v in range(256)])
        self.image.paste(sprite.convert("RGB"), (x, y), mask)

    def occlude(self, x: int, y: int, width: int) -> None:
        """Cover about a third of a sprite with a bar in a colour found elsewhere in the image."""
        share = max(2, int(width * self.rng.uniform(0.25, 0.42)))
        patch = self.image.getpixel((self.rng.randrange(SIZE), self.rng.randrange(SIZE)))
        assert isinstance(patch, tuple)
        colour = tuple(int(v) for v in patch)
        pen = ImageDraw.Draw(self.image)
        offset = self.rng.randint(0, width - share)
        if self.rng.random() < 0.5:
            pen.rectangle((x + offset, y, x + offset + share - 1, y + width - 1), fill=colour)
        else:
            pen.rectangle((x, y + offset, x + width - 1, y + offset + share - 1), fill=colour)

    def thing(self, category: str) -> Thing:
        column, row = cell = self.cells.pop()
        faint = self.rng.random() < 0.26
        occluded = not faint and self.rng.random() < 0.18
        width = self.rng.randint(12, 16) if self.rng.random() < 0.30 else self.rng.randint(17, 24)
        x, y = self.place(cell, width)
        opacity = self.rng.uniform(0.24, 0.46) if faint else self.rng.uniform(0.75, 1.0)
        self.sprite(category, x, y, width, opacity)
        if occluded:
            self.occlude(x, y, width)
        self.label(x, y, width, category, KIND_OBJECT)
        return Thing(category, column, row, faint=faint, occluded=occluded)

    def blot(self, cell: tuple[int, int]) -> tuple[int, int, int]:
        """Draw a dark blot of several overlapping discs; return its x, y and width."""
        width = self.rng.randint(17, 21)
        x, y = self.place(cell, width)
        mask = Image.new("L", (SIZE, SIZE), 0)
        pen = ImageDraw.Draw(mask)
        for _ in range(5):
            radius = self.rng.uniform(0.2, 0.3) * width
            cx = x + radius + self.rng.random() * (width - 2 * radius)
            cy = y + radius + self.rng.random() * (width - 2 * radius)
            pen.ellipse((cx - radius, cy - radius, cx + radius, cy + radius), fill=205)
        ink = _jitter((66, 40, 84), self.rng, 14)
        soft = mask.filter(ImageFilter.GaussianBlur(0.8))
        self.image.paste(Image.new("RGB", (SIZE, SIZE), ink), (0, 0), soft)
        return x, y, width


def _add_poster(canvas: _Canvas) -> Poster:
    rng = canvas.rng
    column, row = cell = canvas.cells.pop()
    category = rng.choice(POSTER_CATEGORIES)
    x, y = canvas.place(cell, 23)
    pen = ImageDraw.Draw(canvas.image)
    pen.rectangle((x, y, x + 22, y + 22), fill=(250, 248, 232), outline=(124, 22, 26), width=2)
    canvas.sprite(category, x + 3, y + 3, 17, 1.0)
    canvas.label(x, y, 23, category, KIND_POSTER)
    return Poster(category, column, row)


def _add_smudge(canvas: _Canvas, scene_type: str, present: frozenset[str]) -> tuple[Smudge, Thing | None]:
    """Draw a blot, over an object or over nothing; nothing is under it in a third of the cases."""
    rng = canvas.rng
    column, row = cell = canvas.cells.pop()
    suggestion = guess(scene_type, present, rng.random()) or next(
        c for c in SETTINGS[scene_type].objects if c not in present
    )
    hidden = None
    if rng.random() < 0.64:
        x, y = canvas.place(cell, 23)
        canvas.sprite(suggestion, x, y, 23, 0.9)
        hidden = Thing(suggestion, column, row, hidden=True)
    x, y, width = canvas.blot(cell)
    canvas.label(x, y, width, None, KIND_SMUDGE)
    return Smudge(column, row, suggestion), hidden


def make_scene(seed: int) -> Scene:
    """Draw the scene of a seed: the same pixels and the same facts, in any process."""
    rng = random.Random(seed)
    scene_type = rng.choice(SCENE_TYPES)
    canvas = _Canvas(scene_type, rng)
    categories = _choose_categories(scene_type, rng)
    poster = _add_poster(canvas) if rng.random() < 0.24 else None
    smudged = rng.random() < 0.26
    if smudged:
        categories = categories[: MAX_OBJECTS - 1]
    things = [canvas.thing(category) for category in categories]
    smudge = None
    if smudged:
        smudge, hidden = _add_smudge(canvas, scene_type, frozenset(categories))
        if hidden is not None:
            things.append(hidden)
    return Scene(
        seed=seed,
        scene_type=scene_type,
        things=tuple(things),
        poster=poster,
        smudge=smudge,
        image=_with_grain(canvas.image, seed),
        patches=canvas.patches,
    )


def _with_grain(image: Image.Image, seed: int) -> UInt8[np.ndarray, "72 72 3"]:
    """Add a low-frequency texture of +-8 and pixel noise of +-11 grey levels."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(-8, 9, (9, 9, 1), dtype=np.int16).repeat(8, axis=0).repeat(8, axis=1)
    fine = rng.integers(-11, 12, (SIZE, SIZE, 3), dtype=np.int16)
    pixels: UInt8[np.ndarray, "72 72 3"] = np.clip(
        np.asarray(image).astype(np.int16) + coarse + fine, 0, 255
    ).astype(np.uint8)
    return pixels


def black_image() -> UInt8[np.ndarray, "72 72 3"]:
    """Return the image that shows nothing: all zeros."""
    return np.zeros((SIZE, SIZE, 3), dtype=np.uint8)


def noise_image(seed: int, mean: float = 128.0, deviation: float = 50.0) -> UInt8[np.ndarray, "72 72 3"]:
    """Return an image of independent normal pixels, clipped to 0 to 255."""
    values = np.random.default_rng(seed).normal(mean, deviation, (SIZE, SIZE, 3))
    pixels: UInt8[np.ndarray, "72 72 3"] = np.clip(values, 0, 255).astype(np.uint8)
    return pixels
