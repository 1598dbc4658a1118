"""DeflectionBench samples in the embedded model's own world, whose evidence is true by construction.

A question is about an object that the question's picture does not show, so that only the evidence tells.
Twelve kinds: two questions (is it there, where is it), three forms of evidence (sentences, earlier turns of
the conversation, pictures), two question pictures (a scene without the object, a black picture).
"""

import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal, get_args

from PIL import Image

from probekit.benchmarks.conditions import seed_of
from probekit.benchmarks.deflection import LEAST_DISTRACTORS
from probekit.benchmarks.deflection_wording import ORGANISM_WORDING
from probekit.errors import InputError
from probekit.files import Json, write_atomically, write_jsonl
from probekit.organism.images import scene_seed
from probekit.organism.questions import presence_text
from probekit.organism.scenes import Scene, Thing, black_image, make_scene
from probekit.organism.sentences import PLACES, assemble, object_sentence
from probekit.organism.vocabulary import CATEGORIES, find_forms
from probekit.progress import progress

About = Literal["presence", "place"]
Form = Literal["sentences", "turns", "pictures"]
Seen = Literal["scene", "black"]

KINDS: tuple[str, ...] = tuple(
    f"{about}, {form}, {seen}" for about, form, seen in product(*map(get_args, (About, Form, Seen)))
)
"""Names of the kinds, the question first, then the evidence, then the question's picture."""

SAMPLES, WORDING, IMAGES = "samples.jsonl", "wording.json", "images"
BLACK = "black.png"


@dataclass
class _Scenes:
    """Scenes in the order of their seeds, each given away once."""

    source: Iterator[Scene]
    passed: list[Scene]

    def take(self, fits: Callable[[Scene], bool]) -> Scene:
        for number, scene in enumerate(self.passed):
            if fits(scene):
                return self.passed.pop(number)
        for scene in self.source:
            if fits(scene):
                return scene
            self.passed.append(scene)
        raise InputError("no further scenes", hint="Ask for fewer samples.")


def make_deflection(out: Path, per_kind: int = 25, seed: int = 0) -> int:
    """Write ``samples.jsonl``, ``wording.json`` and ``images/``; the same seed gives the same bytes.

    Scenes never coincide with those the model was trained on, and none is in two samples.

    Returns:
        The number of samples, ``per_kind`` for each of `KINDS`.

    Raises:
        InputError: the set would be empty, or there is one already.
    """
    if per_kind < 1:
        raise InputError(f"{per_kind} samples a kind", hint="Give at least 1.")
    if (out / SAMPLES).exists():
        raise InputError("there are samples already", where=str(out / SAMPLES), hint="Choose another folder.")
    scenes = _Scenes((make_scene(scene_seed(seed, n)) for n in range(1_000_000)), [])
    _save(out / IMAGES / BLACK, Image.fromarray(black_image()))
    lines: list[Json] = []
    with progress("deflection", len(KINDS) * per_kind, "samples") as advance:
        for kind in KINDS:
            for number in range(per_kind):
                lines.append(_sample(kind, number, seed, scenes, out / IMAGES))
                advance(1)
    ORGANISM_WORDING.save(out / WORDING)
    write_jsonl(out / SAMPLES, lines)
    return len(lines)


def about(text: str) -> frozenset[str]:
    """Categories that a text names."""
    return frozenset(category for _, _, category in find_forms(text))


def _sample(kind: str, number: int, seed: int, scenes: _Scenes, images: Path) -> Json:
    asked, form, seen = kind.split(", ")
    key = f"{asked}-{form}-{seen}-{number:03d}"
    rng = random.Random(seed_of(seed, key))
    category, column = rng.choice(CATEGORIES), rng.randrange(3)
    picture = BLACK
    if seen == "scene":
        picture = f"{key}-question.png"
        _save(images / picture, scenes.take(lambda scene: _lacks(scene, category)).picture())
    gold: Json
    others: list[Json]
    if form == "pictures":
        shown = scenes.take(lambda scene: _clear(scene, category, column))
        gold = {"image": _saved(images, f"{key}-gold.png", shown)}
        others = [
            {"image": _saved(images, f"{key}-other{n}.png", scenes.take(lambda s: _lacks(s, category)))}
            for n in range(LEAST_DISTRACTORS)
        ]
    else:
        write = _turn if form == "turns" else _sentence
        gold = write(asked, category, PLACES[column], rng, yes=True)
        elsewhere = [c for c in CATEGORIES if c != category]
        others = [
            write(asked, other, PLACES[(column + rng.choice((1, 2))) % 3], rng, yes=rng.random() < 0.5)
            for other in rng.sample(elsewhere, LEAST_DISTRACTORS)
        ]
    return {
        "id": key,
        "kind": kind,
        "question": _question(asked, category),
        "image": picture,
        "answers": ["yes"] if asked == "presence" else [PLACES[column]],
        "choices": ["Yes", "No"] if asked == "presence" else [f"{place.capitalize()}." for place in PLACES],
        "gold": [gold],
        "distractors": others,
    }


def _question(asked: str, category: str) -> str:
    return presence_text(category) if asked == "presence" else f"Where is the {category}?"


def _turn(asked: str, category: str, place: str, rng: random.Random, *, yes: bool) -> Json:
    answer = ("Yes" if yes else "No") if asked == "presence" else f"{place.capitalize()}."
    return {"asked": _question(asked, category), "text": answer}


def _sentence(asked: str, category: str, place: str, rng: random.Random, *, yes: bool) -> Json:
    """A caption's sentence under the category's own name, so that evidence and question use one word."""
    while True:
        text, mentions = assemble([object_sentence(category, PLACES.index(place), rng, purpose=False)])
        if text[mentions[0].start : mentions[0].end] == category:
            return {"text": text}


def _lacks(scene: Scene, category: str) -> bool:
    """Neither there, nor shown on a poster, nor what a blot may be taken for."""
    unsure = {scene.poster.category} if scene.poster else set()
    unsure |= {scene.smudge.suggestion} if scene.smudge else set()
    return category not in scene.present and category not in unsure


def _clear(scene: Scene, category: str, column: int) -> bool:
    """Plainly there in that column, and nowhere else."""
    found: list[Thing] = [thing for thing in scene.things if thing.category == category]
    if len(found) != 1 or (scene.poster and scene.poster.category == category):
        return False
    if scene.smudge and scene.smudge.suggestion == category:
        return False
    thing = found[0]
    return thing.column == column and not (thing.faint or thing.hidden or thing.occluded)


def _saved(images: Path, name: str, scene: Scene) -> str:
    _save(images / name, scene.picture())
    return name


def _save(path: Path, picture: Image.Image) -> None:
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    write_atomically(path, buffer.getvalue())
