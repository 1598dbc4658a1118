"""A procedural Ghost set: pictures whose target is missing because it was never drawn."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path

from probekit.benchmarks.conditions import seed_of
from probekit.benchmarks.ghost import GhostCategory, GhostImage, Manifest
from probekit.benchmarks.ghost_badges import blank, blurred, gibberish
from probekit.benchmarks.ghost_canvas import FRAME, Drawn
from probekit.benchmarks.ghost_clocks import display, handless, instrument
from probekit.benchmarks.ghost_scenes import human_intent, scene_schema
from probekit.errors import InputError
from probekit.progress import progress

Draw = Callable[[random.Random, tuple[int, int]], Drawn]

DRAW: Mapping[GhostCategory, Draw] = {
    GhostCategory.TEXT_BLUR: blurred,
    GhostCategory.TEXT_GIBBERISH: gibberish,
    GhostCategory.TEXT_BLANK: blank,
    GhostCategory.TIME_FIX: handless,
    GhostCategory.ANALOG_DECOY: instrument,
    GhostCategory.DIGITAL_DECOY: display,
    GhostCategory.SCENE_SCHEMA: scene_schema,
    GhostCategory.HUMAN_INTENT: human_intent,
}
SMALLEST = 64
"""Least width and height in pixels."""
LARGEST = 40_000_000
"""Most pixels of a picture; readers refuse much larger ones."""


def draw(category: GhostCategory, index: int, *, seed: int = 0, size: tuple[int, int] = FRAME) -> Drawn:
    """One picture, a function of its category, index, seed and size alone."""
    return DRAW[category](random.Random(seed_of(seed, f"{category}/{index}")), size)


def make_ghost(out: Path, per_category: int = 100, seed: int = 0, size: tuple[int, int] = FRAME) -> Manifest:
    """Draw a set and write ``out/images/*.png`` and, last of all, ``out/manifest.jsonl``.

    Args:
        per_category: pictures in each of the eight categories.
        size: width and height in pixels.

    Raises:
        InputError: the set would be empty, the size is too small or too large, or ``out`` holds a
            manifest already.
    """
    if per_category < 1:
        raise InputError(f"{per_category} pictures per category", hint="Give at least 1.")
    if min(size) < SMALLEST:
        raise InputError(
            f"a size of {size[0]} x {size[1]} pixels", hint=f"Give at least {SMALLEST} either way."
        )
    if size[0] * size[1] > LARGEST:
        raise InputError(
            f"a size of {size[0]} x {size[1]} pixels",
            hint=f"Give at most {LARGEST / 1e6:.0f} million pixels.",
        )
    path = out / "manifest.jsonl"
    if path.exists():
        raise InputError("there is a Ghost set already", where=str(path), hint="Choose another folder.")
    (out / "images").mkdir(parents=True, exist_ok=True)
    images: list[GhostImage] = []
    with progress("ghost", len(DRAW) * per_category, "pictures") as advance:
        for category in DRAW:
            for index in range(per_category):
                drawn = draw(category, index, seed=seed, size=size)
                name = f"images/{category}_{index:03d}.png"
                drawn.image.save(out / name)
                images.append(GhostImage(name, category, drawn.target, drawn.whitelist))
                advance(1)
    manifest = Manifest(out, tuple(images))
    manifest.save(path)
    return manifest
