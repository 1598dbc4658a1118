"""Badges whose name field holds no name: smeared, filled with strokes that are no letters, or empty."""

import random

from probekit.benchmarks.ghost_canvas import Box, Canvas, Colour, Drawn, jitter, shade

TARGET = "the name on the badge"
ROLES = (
    "SECURITY",
    "STAFF",
    "VISITOR",
    "POLICE",
    "PRESS",
    "ACCESS",
    "EMPLOYEE",
    "CONTRACTOR",
    "VOLUNTEER",
    "MEDICAL",
)
PLACES = ("CITY HOSPITAL", "NORTH HARBOUR", "CENTRAL LIBRARY", "RIVER COLLEGE", "EXPO HALL", "MAIN DEPOT")
SHIRTS: tuple[Colour, ...] = ((52, 66, 96), (70, 70, 74), (98, 52, 50), (44, 84, 70), (120, 112, 96))
BANDS: tuple[Colour, ...] = ((30, 80, 160), (170, 36, 44), (34, 120, 72), (70, 50, 120), (196, 120, 24))
INK: Colour = (28, 28, 32)


def blurred(rng: random.Random, size: tuple[int, int]) -> Drawn:
    """01: the name field holds word-shaped blots, averaged and blurred. No name was ever drawn."""
    canvas, field, words = _badge(rng, size)
    _blots(canvas, field, rng)
    height = field[3] - field[1]
    canvas.smear(field, cell=height / 3.2, radius=height / 7)
    return Drawn(canvas.finish(), TARGET, words)


def gibberish(rng: random.Random, size: tuple[int, int]) -> Drawn:
    """02: the name field holds sharp strokes that belong to no alphabet."""
    canvas, field, words = _badge(rng, size)
    x = field[0] + 10
    while x < field[2] - 26:
        _pseudo_letter(canvas, (x, field[1] + 9, x + 15, field[3] - 9), rng)
        x += 34 if rng.random() < 0.18 else 20
    return Drawn(canvas.finish(), TARGET, words)


def blank(rng: random.Random, size: tuple[int, int]) -> Drawn:
    """03: the name field is empty."""
    canvas, _, words = _badge(rng, size)
    return Drawn(canvas.finish(), TARGET, words)


def _badge(rng: random.Random, size: tuple[int, int]) -> tuple[Canvas, Box, tuple[str, ...]]:
    shirt = jitter(rng.choice(SHIRTS), rng)
    canvas = Canvas(size, rng, shirt)
    left, top = 150 + rng.uniform(-40, 40), 110 + rng.uniform(-25, 25)
    right, bottom = left + 340, top + 220
    for side in (-1, 1):
        canvas.line(((320 + side * 30, 0), ((left + right) / 2, top + 6)), shade(shirt, 0.6), 9)
    paper = jitter((240, 240, 236), rng, 8)
    canvas.rect((left + 5, top + 7, right + 5, bottom + 7), shade(shirt, 0.55), radius=14)
    canvas.rect((left, top, right, bottom), paper, shade(paper, 0.7), 2, radius=14)
    band = jitter(rng.choice(BANDS), rng)
    role, place = rng.choice(ROLES), rng.choice(PLACES)
    canvas.rect((left, top, right, top + 56), band, radius=14)
    canvas.rect((left, top + 30, right, top + 56), band)
    canvas.text(((left + right) / 2, top + 29), role, 30, (250, 250, 250))
    canvas.rect((left + 16, top + 72, left + 106, top + 182), (206, 212, 220), (120, 124, 130), 1)
    skin = rng.choice(((222, 184, 152), (190, 140, 104), (132, 92, 66), (242, 208, 180)))
    canvas.ellipse((left + 40, top + 88, left + 82, top + 138), skin)
    canvas.polygon(
        ((left + 24, top + 182), (left + 40, top + 146), (left + 82, top + 146), (left + 98, top + 182)),
        shade(band, 0.8),
    )
    canvas.text((left + 122, top + 84), "NAME", 15, (96, 96, 100), "lm")
    field = (left + 122, top + 98, right - 18, top + 146)
    canvas.rect(field, (252, 252, 250), (150, 150, 154), 1)
    canvas.text((left + 122, top + 166), place, 17, INK, "lm")
    canvas.rect((left + 16, bottom - 26, right - 16, bottom - 12), None, (180, 180, 184), 1)
    for _ in range(40):
        x = rng.uniform(left + 20, right - 20)
        canvas.line(((x, bottom - 24), (x, bottom - 14)), INK, rng.choice((1, 1, 2)))
    return canvas, field, (role, "NAME", place)


def _blots(canvas: Canvas, field: Box, rng: random.Random) -> None:
    x = field[0] + 10
    middle = (field[1] + field[3]) / 2
    while x < field[2] - 20:
        wide = rng.uniform(7, 15)
        tall = rng.uniform(8, 14)
        canvas.rect((x, middle - tall, x + wide, middle + tall), INK)
        x += wide + (16 if rng.random() < 0.2 else 4)


def _pseudo_letter(canvas: Canvas, box: Box, rng: random.Random) -> None:
    """Three or four strokes between random points of a 3 x 4 lattice, one of them bent."""
    nodes = [
        (box[0] + column * (box[2] - box[0]) / 2, box[1] + row * (box[3] - box[1]) / 3)
        for column in range(3)
        for row in range(4)
    ]
    for _ in range(rng.randint(2, 3)):
        canvas.line(rng.sample(nodes, 2), INK, 2.4)
    canvas.line(rng.sample(nodes, 3), INK, 2.4)
