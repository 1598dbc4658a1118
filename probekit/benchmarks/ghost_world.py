"""A Ghost set in the embedded model's own world: scenes without the object they suggest.

The world has objects and no writing or clocks, so of the eight categories it serves the two of
presence. What is in a scene is known because the scene was drawn here; hidden objects count as there.
The other six can be drawn into its scenes, at its size; the embedded model has no words for them, and what
it says of them is no measure of anything (docs/decisions/076).
"""

import random
from pathlib import Path

from PIL import Image

from probekit.benchmarks.conditions import seed_of
from probekit.benchmarks.ghost import GhostCategory, GhostImage, Manifest
from probekit.benchmarks.ghost_prompts import SHIPPED
from probekit.benchmarks.ghost_world_things import TARGETS, WIDTH, thing
from probekit.errors import InputError
from probekit.organism.images import scene_seed
from probekit.organism.priors import SETTINGS
from probekit.organism.scenes import CELL, KIND_NOTHING, PATCH, Scene, make_scene
from probekit.organism.vocabulary import with_article
from probekit.progress import progress

PROMPTS = SHIPPED.with_name("ghost_prompts_organism.yaml")
"""The five levels in words that the embedded model knows."""
NO_WORDS = (
    "The embedded model has no words for names and times: on those six categories its H-Rate is zero by "
    "construction, and its Yes is no answer to what was asked."
)
SCENES_PER_PICTURE = 200
"""Scenes looked at for each picture wanted, before giving up."""


def suggested(scene: Scene, category: GhostCategory) -> str | None:
    """The absent object that a scene suggests; ``None`` when it suggests none that is plainly absent.

    For `GhostCategory.SCENE_SCHEMA` it is the likeliest object of the setting that is missing. For
    `GhostCategory.HUMAN_INTENT` it is the companion of an object that is there: in this world things
    imply their companions as people's postures do in others.
    """
    setting = SETTINGS[scene.scene_type]
    # What a poster shows or a smudge could be is not plainly absent.
    unsure = {scene.poster.category} if scene.poster else set()
    unsure |= {scene.smudge.suggestion} if scene.smudge else set()
    absent = [c for c in setting.guesses if c not in scene.present and c not in unsure]
    if category is GhostCategory.SCENE_SCHEMA:
        return absent[0] if absent else None
    for trigger in sorted(scene.present):
        companion = setting.companions.get(trigger)
        if companion and companion not in scene.present and companion not in unsure:
            return companion
    return None


def free_cells(scene: Scene) -> list[tuple[int, int]]:
    """Column and row of each cell of a scene that holds nothing."""
    across = CELL // PATCH
    size = scene.patches.shape[1] // across
    kinds = scene.patches[1]
    return [
        (x, y)
        for y in range(size)
        for x in range(size)
        if (kinds[y * across : (y + 1) * across, x * across : (x + 1) * across] == KIND_NOTHING).all()
    ]


def with_thing(
    scene: Scene, category: GhostCategory, rng: random.Random
) -> tuple[Image.Image, tuple[str, ...]]:
    """A scene's picture with a badge, clock, instrument or display in a free cell, and what it shows.

    Raises:
        InputError: the scene has no free cell.
    """
    cells = free_cells(scene)
    if not cells:
        raise InputError(f"scene {scene.seed} has no free cell")
    column, row = rng.choice(cells)
    drawn, readable = thing(category, rng)
    at = (column * CELL + rng.randint(0, CELL - WIDTH), row * CELL + rng.randint(0, CELL - WIDTH))
    picture = scene.picture()
    picture.paste(drawn.convert("RGB"), at, drawn.getchannel("A"))
    return picture, readable


def make_world_ghost(
    out: Path, per_category: int = 100, seed: int = 0, *, all_categories: bool = False
) -> Manifest:
    """Draw a set of the two presence categories; writes ``out/images/*.png`` and ``out/manifest.jsonl``.

    Scenes never coincide with those the model was trained on.

    Args:
        all_categories: also draw the six of names and times, as things in scenes.

    Raises:
        InputError: the set would be empty, or ``out`` holds a manifest already.
    """
    if per_category < 1:
        raise InputError(f"{per_category} pictures per category", hint="Give at least 1.")
    path = out / "manifest.jsonl"
    if path.exists():
        raise InputError("there is a Ghost set already", where=str(path), hint="Choose another folder.")
    (out / "images").mkdir(parents=True, exist_ok=True)
    presence = (GhostCategory.SCENE_SCHEMA, GhostCategory.HUMAN_INTENT)
    images: list[GhostImage] = []
    index = 0
    with progress("ghost", (8 if all_categories else 2) * per_category, "pictures") as advance:
        # The presence categories come first, so that they are the same pictures either way.
        for category in (*presence, *(TARGETS if all_categories else ())):
            for number in range(per_category):
                target, scene = TARGETS.get(category), None
                for _ in range(SCENES_PER_PICTURE):
                    scene = make_scene(scene_seed(seed, index))
                    index += 1
                    if category in presence:
                        target = suggested(scene, category)
                    if target is not None and (category in presence or free_cells(scene)):
                        break
                else:
                    raise InputError(f"no scene suits {category}", hint="Take another seed.")
                name = f"images/{category}_{number:03d}.png"
                if category in presence:
                    scene.picture().save(out / name)
                    images.append(GhostImage(name, category, with_article(target)))
                else:
                    rng = random.Random(seed_of(seed, f"{category}/{number}"))
                    picture, readable = with_thing(scene, category, rng)
                    picture.save(out / name)
                    images.append(GhostImage(name, category, target, readable))
                advance(1)
    order = list(GhostCategory)
    manifest = Manifest(out, tuple(sorted(images, key=lambda image: order.index(image.category))))
    manifest.save(path)
    return manifest
