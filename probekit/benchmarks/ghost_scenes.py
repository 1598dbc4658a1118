"""Scenes and people that suggest an object which is not drawn."""

import random
from collections.abc import Callable

from probekit.benchmarks.ghost_canvas import Canvas, Colour, Drawn, Point, jitter, shade

Scene = Callable[[Canvas, random.Random], None]

WOOD: Colour = (150, 108, 70)
SKIN: tuple[Colour, ...] = ((224, 186, 154), (192, 142, 106), (134, 94, 68), (242, 210, 182))
CLOTH: tuple[Colour, ...] = ((60, 92, 150), (160, 62, 58), (70, 120, 84), (90, 80, 110), (186, 146, 60))


def scene_schema(rng: random.Random, size: tuple[int, int]) -> Drawn:
    """07: a setting that calls for an object it does not hold."""
    target, background, draw = rng.choice(SCENES)
    canvas = Canvas(size, rng, jitter(background, rng))
    draw(canvas, rng)
    return Drawn(canvas.finish(), target)


def human_intent(rng: random.Random, size: tuple[int, int]) -> Drawn:
    """08: a person in the posture of using an object, with empty hands."""
    target, pose = rng.choice(POSES)
    canvas = Canvas(size, rng, jitter((176, 186, 190), rng, 26))
    canvas.band(390, 480, jitter((122, 112, 100), rng))
    pose(canvas, rng)
    return Drawn(canvas.finish(), target)


def _birthday(canvas: Canvas, rng: random.Random) -> None:
    canvas.band(330, 480, jitter(WOOD, rng))
    for i in range(9):
        x = 20 + i * 75
        canvas.polygon(((x, 40), (x + 40, 40), (x + 20, 84)), jitter(rng.choice(CLOTH), rng))
    canvas.line(((0, 40), (640, 40)), (90, 90, 90), 2)
    icing = jitter((240, 214, 220), rng, 14)
    canvas.rect((200, 250, 440, 350), jitter((140, 92, 60), rng), radius=8)
    canvas.rect((200, 236, 440, 276), icing, radius=12)
    for i in range(6):
        canvas.ellipse((206 + i * 39, 262, 236 + i * 39, 296), icing)
    canvas.ellipse((150, 340, 490, 372), (232, 232, 236), (180, 180, 184))
    for x in (70, 540):
        canvas.rect((x, 290, x + 40, 380), (120, 170, 200), radius=6)


def _lounge(canvas: Canvas, rng: random.Random) -> None:
    canvas.band(340, 480, jitter((140, 120, 104), rng))
    canvas.rect((170, 262, 470, 330), jitter(WOOD, rng), (80, 56, 36))
    canvas.line(((320, 262), (320, 330)), (80, 56, 36), 2)
    sofa = jitter(rng.choice(CLOTH), rng)
    canvas.rect((110, 400, 530, 480), sofa, shade(sofa, 0.6), radius=24)
    canvas.rect((84, 392, 150, 480), shade(sofa, 0.85), radius=18)
    canvas.rect((490, 392, 556, 480), shade(sofa, 0.85), radius=18)
    for x in (60, 560):
        canvas.rect((x, 250, x + 22, 340), (70, 52, 40))
        canvas.ellipse((x - 26, 170, x + 48, 262), (70, 126, 74))


def _bathroom(canvas: Canvas, rng: random.Random) -> None:
    tile = jitter((186, 206, 212), rng)
    for x in range(0, 640, 64):
        canvas.line(((x, 0), (x, 480)), shade(tile, 0.86), 1.5)
    for y in range(0, 480, 64):
        canvas.line(((0, y), (640, y)), shade(tile, 0.86), 1.5)
    canvas.ellipse((210, 300, 430, 380), (246, 246, 248), (170, 174, 178), 3)
    canvas.ellipse((236, 312, 404, 360), (206, 212, 216))
    canvas.polygon(((296, 378), (344, 378), (356, 480), (284, 480)), (236, 236, 240))
    canvas.line(((320, 304), (320, 268), (352, 268), (352, 284)), (150, 154, 160), 9)
    canvas.rect((470, 270, 520, 360), jitter(rng.choice(CLOTH), rng), radius=4)
    canvas.line(((460, 268), (530, 268)), (150, 154, 160), 6)


def _bedroom(canvas: Canvas, rng: random.Random) -> None:
    canvas.band(370, 480, jitter(WOOD, rng))
    canvas.rect((150, 180, 490, 330), jitter((116, 80, 52), rng), (70, 48, 30), 3, radius=12)
    canvas.rect((140, 290, 500, 430), (236, 236, 232), (190, 190, 188), radius=10)
    blanket = jitter(rng.choice(CLOTH), rng)
    canvas.rect((136, 344, 504, 440), blanket, shade(blanket, 0.7), radius=10)
    for x in (60, 520):
        canvas.rect((x, 330, x + 64, 420), jitter((130, 92, 60), rng), (70, 48, 30))


def _crossing(canvas: Canvas, rng: random.Random) -> None:
    canvas.band(0, 250, jitter((150, 186, 214), rng))
    for x in range(-10, 640, 120):
        high = rng.uniform(70, 150)
        canvas.rect((x, high, x + 112, 260), jitter((150, 140, 130), rng, 30))
        for column in range(3):
            for row in range(3):
                if high + 16 + row * 44 < 230:
                    left, top = x + 14 + column * 32, high + 16 + row * 44
                    canvas.rect((left, top, left + 18, top + 24), (206, 222, 230))
    canvas.band(260, 480, jitter((92, 92, 96), rng))
    for i in range(7):
        x = 60 + i * 80
        canvas.polygon(((x, 330), (x + 44, 330), (x + 58, 450), (x - 2, 450)), (232, 232, 230))


def _dinner(canvas: Canvas, rng: random.Random) -> None:
    canvas.band(200, 480, jitter(WOOD, rng))
    cloth = jitter(rng.choice(CLOTH), rng)
    for x in (180, 460):
        canvas.rect((x - 110, 270, x + 110, 420), shade(cloth, 1.1), radius=6)
        canvas.ellipse((x - 78, 288, x + 78, 404), (244, 244, 242), (196, 196, 196), 3)
        canvas.ellipse((x - 50, 308, x + 50, 384), (250, 250, 248), (214, 214, 214), 2)
    canvas.rect((300, 170, 340, 250), (206, 226, 232), (150, 170, 176), 2, radius=4)
    canvas.ellipse((80, 190, 150, 232), jitter((214, 176, 120), rng))


SCENES: tuple[tuple[str, Colour, Scene], ...] = (
    ("a candle on the cake", (214, 196, 170), _birthday),
    ("a television", (196, 188, 172), _lounge),
    ("a mirror", (196, 214, 220), _bathroom),
    ("a pillow", (188, 196, 206), _bedroom),
    ("a traffic light", (160, 190, 214), _crossing),
    ("a fork", (206, 198, 184), _dinner),
)
"""Target, background and drawing of each setting. No drawing holds its target."""


def _person(
    canvas: Canvas, rng: random.Random, at: Point, left: tuple[Point, Point], right: tuple[Point, Point]
) -> None:
    """A standing figure; each arm is elbow and hand relative to the neck."""
    x, y = at
    skin, shirt = rng.choice(SKIN), jitter(rng.choice(CLOTH), rng)
    trousers = jitter((54, 58, 74), rng)
    for side in (-1, 1):
        canvas.line(((x + side * 16, y + 150), (x + side * 24, y + 270)), trousers, 34)
    canvas.rect((x - 44, y + 4, x + 44, y + 170), shirt, radius=22)
    canvas.rect((x - 12, y - 22, x + 12, y + 12), shade(skin, 0.9))
    canvas.ellipse((x - 38, y - 104, x + 38, y - 12), skin)
    hair = jitter((60, 44, 34), rng, 24)
    canvas.arc((x - 38, y - 104, x + 38, y - 12), 180, 360, hair, 16)
    for eye in (-14, 14):
        canvas.ellipse((x + eye - 4, y - 66, x + eye + 4, y - 58), (40, 34, 32))
    canvas.line(((x - 10, y - 34), (x + 10, y - 34)), (150, 80, 76), 3)
    for side, (elbow, hand) in ((-1, left), (1, right)):
        shoulder = (x + side * 40, y + 24)
        bend, end = (x + elbow[0], y + elbow[1]), (x + hand[0], y + hand[1])
        canvas.line((shoulder, bend, end), shade(shirt, 0.92), 24)
        canvas.ellipse((end[0] - 15, end[1] - 15, end[0] + 15, end[1] + 15), skin)


REST: tuple[Point, Point] = ((-58, 90), (-60, 158))


def _calling(canvas: Canvas, rng: random.Random) -> None:
    _person(canvas, rng, (320 + rng.uniform(-60, 60), 180), REST, ((92, 70), (52, -46)))


def _speaking(canvas: Canvas, rng: random.Random) -> None:
    _person(canvas, rng, (320, 170), ((-92, 80), (-110, 10)), ((92, 80), (110, 10)))
    canvas.polygon(((230, 330), (410, 330), (390, 480), (250, 480)), jitter(WOOD, rng))
    canvas.rect((214, 314, 426, 336), jitter((120, 84, 54), rng), radius=4)


def _sheltering(canvas: Canvas, rng: random.Random) -> None:
    for _ in range(90):
        x, y = rng.uniform(0, 640), rng.uniform(0, 460)
        canvas.line(((x, y), (x - 6, y + 20)), (120, 150, 190), 2)
    _person(canvas, rng, (300 + rng.uniform(-60, 60), 190), REST, ((86, 40), (70, -40)))


def _catching(canvas: Canvas, rng: random.Random) -> None:
    canvas.band(380, 480, jitter((92, 140, 80), rng))
    _person(
        canvas, rng, (300 + rng.uniform(-50, 50), 190), ((-86, -20), (-70, -110)), ((86, -20), (70, -110))
    )


def _writing(canvas: Canvas, rng: random.Random) -> None:
    _person(canvas, rng, (320, 170), ((-84, 96), (-50, 160)), ((84, 96), (34, 160)))
    canvas.rect((120, 330, 520, 372), jitter(WOOD, rng))
    canvas.polygon(((250, 330), (370, 330), (386, 350), (236, 350)), (248, 248, 244))


def _driving(canvas: Canvas, rng: random.Random) -> None:
    _person(canvas, rng, (320, 180), ((-80, 110), (-54, 96)), ((80, 110), (54, 96)))
    seat = jitter((70, 64, 60), rng)
    canvas.rect((214, 340, 426, 400), seat, shade(seat, 0.7), radius=14)


POSES: tuple[tuple[str, Scene], ...] = (
    ("a phone", _calling),
    ("a microphone", _speaking),
    ("an umbrella", _sheltering),
    ("a ball", _catching),
    ("a pen", _writing),
    ("a steering wheel", _driving),
)
"""Target and posture. Every hand is empty."""
