"""Yes/no questions in the embedded model's own world, with pictures and the objects in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from probekit.benchmarks.example import Example
from probekit.errors import InputError
from probekit.files import write_jsonl
from probekit.organism.images import scene_seed
from probekit.organism.questions import QuestionKind, questions
from probekit.organism.scenes import make_scene
from probekit.organism.vocabulary import SYNONYMS


@dataclass(frozen=True)
class WorldQuestions:
    """Questions about drawn scenes.

    Attributes:
        root: folder of the pictures.
        examples: one question a picture, half of them to be answered yes.
        objects: what is in each picture, by image id.
        synonyms: word -> category.
    """

    root: Path
    examples: tuple[Example, ...]
    objects: Mapping[str, tuple[str, ...]]
    synonyms: Mapping[str, str]


def world_questions(
    out: Path, count: int = 200, seed: int = 0, kind: QuestionKind = "adversarial"
) -> WorldQuestions:
    """Draw ``count`` pictures into ``out/pictures`` and ask one question about each.

    Absent objects are of one kind: at random, the commonest, or those the scene suggests. Scenes never
    coincide with those the model was trained on.

    Raises:
        InputError: no question is wanted.
    """
    if count < 1:
        raise InputError(f"{count} questions", hint="Give at least 1.")
    root = out / "pictures"
    root.mkdir(parents=True, exist_ok=True)
    examples: list[Example] = []
    objects: dict[str, tuple[str, ...]] = {}
    for index in range(count):
        scene = make_scene(scene_seed(seed, index))
        name = f"{index:06d}"
        scene.picture().save(root / f"{name}.png")
        objects[name] = tuple(sorted(scene.present))
        pair = questions(scene, kind, pairs=1)
        asked = pair[index % len(pair)]
        examples.append(
            Example.ask(f"world-{name}", name, f"{name}.png", asked.text, reference=(asked.answer,))
        )
    write_jsonl(out / "objects.jsonl", ({"image": f"{k}.png", "objects": v} for k, v in objects.items()))
    words = {word: category for category, others in SYNONYMS.items() for word in others}
    return WorldQuestions(root, tuple(examples), objects, words)
