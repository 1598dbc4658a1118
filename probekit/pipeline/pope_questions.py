"""The splits of a yes/no audit: files of questions, or questions about the embedded model's own world."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probekit.benchmarks.pope import PopeQuestion, PopeQuestions, load_questions
from probekit.errors import InputError
from probekit.files import Json, inside, sha256, write_atomically
from probekit.jobs import PopeJob

ORGANISM = "organism"

PAIRS = 3
"""Yes/no pairs a picture, as in POPE."""

SUFFIX = " Answer yes or no."
"""Behind the embedded model's own questions: it then answers in one word."""


@dataclass(frozen=True)
class Split:
    """One file of questions and the folder of what is found out about them.

    Attributes:
        name: random, popular or adversarial where the file's name says so, else the file's name.
        folder: of the split.
        source: the file the questions came from.
        questions: what it holds.
        images: folder of the pictures.
    """

    name: str
    folder: Path
    source: Path
    questions: PopeQuestions
    images: Path

    def picture(self, question: PopeQuestion) -> Path:
        """Where a question's picture lies."""
        return inside(self.images, question.image, where=f"{self.source}, line {question.line}")

    def asked(self, suffix: str) -> list[Json]:
        """The questions as they are put to a model.

        Args:
            suffix: put behind each.
        """
        return [
            {
                "example_id": question.question_id,
                "question_id": question.question_id,
                "image_id": question.image_id,
                "image": question.image,
                "prompt": question.text + suffix,
            }
            for question in self.questions
        ]


def make_splits(job: PopeJob, ready: Callable[[Sequence[Json]], object] | None = None) -> tuple[Split, ...]:
    """Read or make the questions, check that their pictures exist, and copy them beside the results.

    Args:
        ready: called with the questions that are given when they have been looked at, and with none of the
            embedded model's own, before anything is written.

    Raises:
        InputError: no questions or pictures are named, a line is not valid, a picture is missing (file,
            line and sample are named), or the folder holds other questions.
    """
    if job.questions:
        if job.images is None:
            raise InputError("no folder of pictures", hint="Give --images, the questions' pictures.")
        files, images = job.questions, job.images
    elif job.model.name == ORGANISM:
        if ready is not None:
            ready(())
        images = job.images or job.out / "images"
        files = world_questions(images, job.out / "questions", job.pictures, job.seed)
    else:
        raise InputError(
            "no file of questions",
            hint="Give --questions FILE; only the embedded model, 'organism', brings questions of its own.",
        )
    splits = tuple(
        Split(name, job.out / name, file, load_questions(file), images)
        for name, file in split_names(files).items()
    )
    for split in splits:
        _check_pictures(split)
    if ready is not None and job.questions:
        ready([line for split in splits for line in split.asked(job.suffix)])
    for split in splits:
        _copy(split)
    return splits


def split_names(files: Sequence[Path]) -> dict[str, Path]:
    """A short name for each file: the kind in its name where that tells them apart, else its stem."""
    from probekit.benchmarks.pope_splits import KINDS

    kinds = [[kind for kind in KINDS if kind in file.stem.casefold()] for file in files]
    names = [found[0] if len(found) == 1 else file.stem for found, file in zip(kinds, files, strict=True)]
    if len(set(names)) < len(names):
        names = [file.stem for file in files]
    for place, name in enumerate(names):
        if name in names[:place]:
            other = files[names.index(name)]
            raise InputError(f"{files[place]} and {other} share a name", hint="Rename one of them.")
    return dict(zip(names, files, strict=True))


def world_questions(images: Path, folder: Path, pictures: int, seed: int) -> tuple[Path, ...]:
    """Draw scenes and ask about them: random, popular and adversarial, half yes and half no.

    Scenes with fewer than three categories are drawn but not asked about. The objects of each scene are
    put in a random order, so that the first three are not those early in the alphabet.
    """
    from probekit.benchmarks.pope_splits import KINDS, generate_split, load_annotations, save_split
    from probekit.organism import make_scene, scene_seed, write_images

    usable = count = 0
    while usable < pictures:
        usable += len(make_scene(scene_seed(seed, count)).present) >= PAIRS
        count += 1
    objects = {
        image: tuple(random.Random(f"{seed} {image}").sample(found, len(found)))
        for image, found in load_annotations(write_images(images, count, seed)).items()
    }
    for kind in KINDS:
        split = generate_split(objects, kind, pairs=PAIRS, images=pictures, seed=seed, suffix=SUFFIX)
        save_split(split, folder / f"{kind}.jsonl")
    return tuple(folder / f"{kind}.jsonl" for kind in KINDS)


def _check_pictures(split: Split) -> None:
    for question in split.questions:
        if not split.picture(question).is_file():
            raise InputError(
                f"no picture {question.image} in {split.images} (sample {question.question_id})",
                where=f"{split.source}, line {question.line}",
                hint="Check --images and the file names.",
            )


def _copy(split: Split) -> None:
    copy = split.folder / "questions.jsonl"
    if not copy.exists():
        write_atomically(copy, split.source.read_bytes())
    elif sha256(copy) != split.questions.sha256:
        raise InputError(
            f"the folder holds answers to other questions than {split.source}",
            where=str(split.folder),
            hint="Give another --out.",
        )
