"""Dials and displays that tell no time: clocks without hands, instruments, numbers that are no time."""

import math
import random
from collections.abc import Callable

from probekit.benchmarks.ghost_canvas import Box, Canvas, Colour, Drawn, Number, Point, jitter, shade

CLOCK_TARGET = "the time on the clock"
TARGET = "the time on the clock or watch"
WALLS: tuple[Colour, ...] = (
    (196, 190, 176),
    (150, 168, 176),
    (178, 150, 130),
    (120, 128, 120),
    (206, 202, 200),
)
ROMAN = ("XII", "I", "II", "III", "IIII", "V", "VI", "VII", "VIII", "IX", "X", "XI")
INK: Colour = (26, 26, 30)
SEGMENTS = {
    "0": "abcdef",
    "1": "bc",
    "2": "abged",
    "3": "abgcd",
    "4": "fgbc",
    "5": "afgcd",
    "6": "afgedc",
    "7": "abc",
    "8": "abcdefg",
    "9": "abcdfg",
    "-": "g",
    "E": "afged",
    "r": "eg",
}
"""Lit segments of each sign: a top, b and c right, d bottom, e and f left, g middle."""


def handless(rng: random.Random, size: tuple[int, int]) -> Drawn:
    """04: a clock face that never got hands."""
    canvas = Canvas(size, rng, jitter(rng.choice(WALLS), rng))
    at, radius = (320 + rng.uniform(-50, 50), 240 + rng.uniform(-20, 20)), rng.uniform(150, 190)
    _dial(canvas, at, radius, rng)
    style = rng.choice(("arabic", "roman", "ticks"))
    for i in range(60):
        major = i % 5 == 0
        inner = 0.86 if major else 0.91
        canvas.line((_on(at, radius * inner, i * 6), _on(at, radius * 0.94, i * 6)), INK, 4 if major else 1.5)
    if style != "ticks":
        for i in range(12):
            numeral = ROMAN[i] if style == "roman" else str(i or 12)
            canvas.text(_on(at, radius * 0.72, i * 30), numeral, radius * 0.17, INK)
    canvas.ellipse(_around(at, radius * 0.04), (90, 90, 94))
    label = rng.choice(("QUARTZ", "STATION", "SWIFT", ""))
    if label:
        canvas.text((at[0], at[1] - radius * 0.35), label, radius * 0.11, INK)
    numerals = {"arabic": tuple(str(i) for i in range(1, 13)), "roman": ROMAN, "ticks": ()}[style]
    return Drawn(canvas.finish(), CLOCK_TARGET, (*((label,) if label else ()), *numerals))


def instrument(rng: random.Random, size: tuple[int, int]) -> Drawn:
    """05: a gauge with a needle; what it measures is printed on it and is not time."""
    canvas = Canvas(size, rng, jitter(rng.choice(WALLS), rng))
    at, radius = (320 + rng.uniform(-50, 50), 240 + rng.uniform(-20, 20)), rng.uniform(150, 190)
    _dial(canvas, at, radius, rng)
    title, unit, top = rng.choice(
        (
            ("PRESSURE", "bar", 16),
            ("SPEED", "km/h", 240),
            ("TEMPERATURE", "°C", 120),
            ("HUMIDITY", "%", 100),
            ("FUEL", "L", 80),
            ("VOLTAGE", "V", 400),
        )
    )
    start, sweep = 225.0, 270.0
    steps = 10 if top == 100 else 8
    printed = []
    for i in range(steps * 5 + 1):
        angle = start + sweep * i / (steps * 5)
        major = i % 5 == 0
        canvas.line(
            (_on(at, radius * (0.8 if major else 0.87), angle), _on(at, radius * 0.93, angle)),
            INK,
            4 if major else 1.5,
        )
        if major:
            printed.append(f"{top * i // (steps * 5)}")
            canvas.text(_on(at, radius * 0.66, angle), printed[-1], radius * 0.12, INK)
    needle = start + sweep * rng.uniform(0.05, 0.95)
    canvas.line((_on(at, radius * 0.16, needle + 180), _on(at, radius * 0.78, needle)), (190, 30, 30), 6)
    canvas.ellipse(_around(at, radius * 0.07), INK)
    canvas.text((at[0], at[1] + radius * 0.42), unit, radius * 0.16, INK)
    canvas.text((at[0], at[1] - radius * 0.3), title, radius * 0.11, INK)
    return Drawn(canvas.finish(), TARGET, (title, unit, *dict.fromkeys(printed)))


def display(rng: random.Random, size: tuple[int, int]) -> Drawn:
    """06: a seven-segment display whose number is a weight, a price, a temperature, a floor or an error.

    No colon is ever drawn.
    """
    canvas = Canvas(size, rng, jitter(rng.choice(WALLS), rng))
    kind: Callable[[], tuple[str, str]] = rng.choice(
        (
            lambda: (f"{rng.uniform(30, 99):.1f}", "kg"),
            lambda: (f"{rng.uniform(34, 42):.1f}", "°C"),
            lambda: (f"{rng.randint(100, 999)}", "g"),
            lambda: (f"{rng.uniform(1, 9):.2f}", "EUR"),
            lambda: (f"{rng.randint(2, 29)}", "FLOOR"),
            lambda: (rng.choice(("Err", "--.-", "E-04", "8888")), ""),
        )
    )
    shown, unit = kind()
    x0, y0 = 110 + rng.uniform(-30, 30), 140 + rng.uniform(-25, 25)
    x1, y1 = x0 + 420, y0 + 200
    body = jitter((70, 72, 78), rng, 12)
    canvas.rect((x0 - 24, y0 - 24, x1 + 24, y1 + 24), body, shade(body, 0.6), 4, radius=20)
    lit, dark = rng.choice(
        (((236, 60, 40), (46, 12, 10)), ((60, 230, 110), (8, 40, 20)), ((90, 190, 250), (8, 26, 44)))
    )
    canvas.rect((x0, y0, x1, y1), shade(dark, 0.6), radius=8)
    signs = len(shown.replace(".", ""))
    x = x0 + 24 + (4 - min(signs, 4)) * 40
    for sign in shown:
        if sign == ".":
            canvas.ellipse((x - 20, y1 - 50, x - 8, y1 - 38), lit)
            continue
        _seven_segments(canvas, (x, y0 + 36), sign, lit, dark)
        x += 84
    if unit:
        canvas.text((x1 - 14, y0 + 22), unit, 24, lit, "rm")
    return Drawn(canvas.finish(), TARGET, tuple(text for text in (shown, unit) if text))


def _dial(canvas: Canvas, at: Point, radius: Number, rng: random.Random) -> None:
    rim = jitter(rng.choice(((60, 60, 66), (150, 120, 70), (170, 172, 178), (120, 40, 40))), rng)
    canvas.ellipse(_around((at[0] + 8, at[1] + 10), radius * 1.08), (90, 88, 84))
    canvas.ellipse(_around(at, radius * 1.08), rim)
    canvas.ellipse(_around(at, radius), jitter((244, 242, 234), rng, 10))


def _seven_segments(canvas: Canvas, corner: Point, sign: str, lit: Colour, dark: Colour) -> None:
    x, y, wide, tall = corner[0], corner[1], 56.0, 120.0
    ends = {
        "a": ((x, y), (x + wide, y)),
        "b": ((x + wide, y), (x + wide, y + tall / 2)),
        "c": ((x + wide, y + tall / 2), (x + wide, y + tall)),
        "d": ((x, y + tall), (x + wide, y + tall)),
        "e": ((x, y + tall / 2), (x, y + tall)),
        "f": ((x, y), (x, y + tall / 2)),
        "g": ((x, y + tall / 2), (x + wide, y + tall / 2)),
    }
    # Unlit segments first: at the joints the lit ones must lie on top.
    for name, line in sorted(ends.items(), key=lambda item: item[0] in SEGMENTS[sign]):
        canvas.line(line, lit if name in SEGMENTS[sign] else dark, 9)


def _on(at: Point, radius: Number, degrees: Number) -> Point:
    """A point on a circle, in degrees clockwise from the top."""
    angle = math.radians(degrees - 90)
    return at[0] + radius * math.cos(angle), at[1] + radius * math.sin(angle)


def _around(at: Point, radius: Number) -> Box:
    return at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius
