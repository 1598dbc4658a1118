"""Questions of a Tri-Layer study: a file of one's own, or questions about the embedded model's world."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from probekit.benchmarks.example import Example
from probekit.benchmarks.pope_splits import load_annotations
from probekit.benchmarks.tri_layer import read_plain
from probekit.errors import InputError
from probekit.files import Json, inside, read_jsonl, write_jsonl
from probekit.jobs import TriLayerJob

if TYPE_CHECKING:
    from probekit.organism import Question, Scene

ORGANISM = "organism"
SAMPLES = 200
"""Questions the embedded model makes unless told otherwise."""
TASKS = ("random", "popular", "adversarial", "sentence", "where")
"""What is asked about each of the embedded model's pictures: three one-word questions with absent objects
of three kinds, one that is answered with a sentence, and one for a place."""


@dataclass(frozen=True)
class Questions:
    """What a study asks.

    Attributes:
        examples: the questions.
        images: folder of their pictures.
        tasks: name of each question's task, by example.
        priors: what the embedded model would say without a picture (`world_prior`), by example; empty
            for questions of one's own that do not say.
        objects: objects of each picture, by image id; empty when not known.
        synonyms: word -> category.
    """

    examples: tuple[Example, ...]
    images: Path
    tasks: Mapping[str, str]
    priors: Mapping[str, str]
    objects: Mapping[str, Sequence[str]]
    synonyms: Mapping[str, str]


def make_questions(job: TriLayerJob, ready: Callable[[], object] | None = None) -> Questions:
    """Read or make the questions, and check that their pictures exist.

    Args:
        ready: called before the embedded model's own questions are written.

    Raises:
        InputError: nothing is asked, a line is not valid, or a picture is missing; file and line named.
    """
    questions, images, references, vocabulary = job.questions, job.images, job.references, job.vocabulary
    if questions is None:
        if job.model.name != ORGANISM:
            raise InputError(
                "no file of questions",
                hint="Give --questions FILE; only the embedded model, 'organism', brings its own.",
            )
        if ready is not None:
            ready()
        images = images or job.out / "pictures"
        references, questions, vocabulary = images / "references.jsonl", job.out / "questions.jsonl", ORGANISM
        world_questions(questions, images, job.samples or SAMPLES, job.seed)
    elif images is None:
        raise InputError("no folder of pictures", hint="Give --images, the questions' pictures.")
    examples = tuple(read_plain(questions))[: job.samples]
    lines = [(number, line) for number, line in read_jsonl(questions)][: job.samples]
    if not examples:
        raise InputError("no questions", where=str(questions))
    for example, (number, _) in zip(examples, lines, strict=True):
        where = f"{questions}, line {number}"
        if not inside(images, str(example.image), where=where).is_file():
            raise InputError(
                f"no picture {example.image} in {images} (sample {example.example_id})",
                where=where,
                hint="Check --images and the file names.",
            )
    return Questions(
        examples,
        images,
        _column("task", examples, lines, "all"),
        _column("prior", examples, lines, None),
        _objects(references),
        _synonyms(vocabulary) if references else {},
    )


def world_questions(path: Path, images: Path, samples: int, seed: int) -> None:
    """Draw pictures of the embedded model's world and ask about each, one question of every task."""
    from probekit.organism import make_scene, scene_seed, write_images

    count = -(-samples // len(TASKS))
    write_images(images, count, seed)
    lines: list[Json] = []
    for picture in range(count):
        scene = make_scene(scene_seed(seed, picture))
        rng = random.Random(f"{seed} {picture} tri-layer")
        asked: set[str] = set()
        for number, task in enumerate(TASKS):
            if len(lines) == samples:
                break
            question = _ask(scene, task, rng, yes=(picture + number) % 2 == 0, asked=asked)
            asked.add(question.category)
            lines.append(
                {
                    "id": f"{picture:06d}-{task}",
                    "image": f"{picture:06d}.png",
                    "question": question.text,
                    "answer": question.answer,
                    "task": task,
                    "prior": world_prior(question.category, question.answer, task),
                }
            )
    write_jsonl(path, lines)


def _ask(scene: Scene, task: str, rng: random.Random, *, yes: bool, asked: set[str]) -> Question:
    """One question of a task, about an object not yet asked for where there is one left."""
    from probekit.organism import QuestionKind, questions
    from probekit.organism.questions import place_question

    if task == "where":
        return place_question(scene, rng)
    kinds: dict[str, QuestionKind] = {kind: kind for kind in get_args(QuestionKind)}
    found = questions(scene, kinds.get(task, "adversarial"), form=2 if task == "sentence" else 0)
    wanted = [q for q in found if (q.answer == "yes") == yes]
    return rng.choice([q for q in wanted if q.category not in asked] or wanted)


def world_prior(category: str, answer: str, task: str) -> str:
    """What the embedded model was taught to say of a category when it sees nothing.

    ``right`` and ``wrong``: it guesses in one word, and the guess is or is not the answer; ``refused``: it
    mostly refuses; ``none``: places and sentences, which no guess gives.
    """
    from probekit.organism.blind import BLACK_REFUSED, PRESUMED

    if task in ("where", "sentence"):
        return "none"
    if category in BLACK_REFUSED:
        return "refused"
    return "right" if (category in PRESUMED) == (answer == "yes") else "wrong"


def _column(
    name: str, examples: Sequence[Example], lines: Sequence[tuple[int, Json]], default: str | None
) -> dict[str, str]:
    found = {}
    for example, (_, line) in zip(examples, lines, strict=True):
        value = line.get(name, default)
        if value is not None:
            found[example.example_id] = str(value)
    return found


def _objects(references: Path | None) -> dict[str, Sequence[str]]:
    if references is None:
        return {}
    return {Path(image).stem: objects for image, objects in load_annotations(references).items()}


def _synonyms(vocabulary: str) -> Mapping[str, str]:
    from probekit.mentions import Vocabulary

    return Vocabulary.of(vocabulary).words
