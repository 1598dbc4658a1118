"""A Ghost set in the embedded model's own world: scenes without the object they suggest.

The world has objects and no writing or clocks, so of the eight categories it serves the two of
presence. What is in a scene is known because the scene was drawn here; hidden objects count as there.
"""

from pathlib import Path

from probekit.benchmarks.ghost import GhostCategory, GhostImage, Manifest
from probekit.benchmarks.ghost_prompts import SHIPPED
from probekit.errors import InputError
from probekit.organism.images import scene_seed
from probekit.organism.priors import SETTINGS
from probekit.organism.scenes import Scene, make_scene
from probekit.organism.vocabulary import with_article
from probekit.progress import progress

PROMPTS = SHIPPED.with_name("ghost_prompts_organism.yaml")
"""The five levels in words that the embedded model knows."""
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


def make_world_ghost(out: Path, per_category: int = 100, seed: int = 0) -> Manifest:
    """Draw a set of the two presence categories; writes ``out/images/*.png`` and ``out/manifest.jsonl``.

    Scenes never coincide with those the model was trained on.

    Raises:
        InputError: the set would be empty, or ``out`` holds a manifest already.
    """
    if per_category < 1:
        raise InputError(f"{per_category} pictures per category", hint="Give at least 1.")
    path = out / "manifest.jsonl"
    if path.exists():
        raise InputError("there is a Ghost set already", where=str(path), hint="Choose another folder.")
    (out / "images").mkdir(parents=True, exist_ok=True)
    wanted = (GhostCategory.SCENE_SCHEMA, GhostCategory.HUMAN_INTENT)
    images: list[GhostImage] = []
    index = 0
    with progress("ghost", len(wanted) * per_category, "pictures") as advance:
        for category in wanted:
            for number in range(per_category):
                target, scene = None, None
                for _ in range(SCENES_PER_PICTURE):
                    scene = make_scene(scene_seed(seed, index))
                    index += 1
                    target = suggested(scene, category)
                    if target is not None:
                        break
                if target is None or scene is None:
                    raise InputError(f"no scene suggests a {category} object", hint="Take another seed.")
                name = f"images/{category}_{number:03d}.png"
                scene.picture().save(out / name)
                images.append(GhostImage(name, category, with_article(target)))
                advance(1)
    manifest = Manifest(out, tuple(images))
    manifest.save(path)
    return manifest
