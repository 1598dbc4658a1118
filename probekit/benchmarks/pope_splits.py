"""POPE questions made from any annotation of objects: random, popular and adversarial."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from probekit.benchmarks.pope import load_questions
from probekit.errors import InputError
from probekit.files import read_json, read_jsonl, write_jsonl

KINDS: tuple[str, ...] = ("random", "popular", "adversarial")
"""How the objects that are not there are picked."""

_SAID_AS_CONSONANT = re.compile(r"uni(?!d|mp|nf|nt)|uk|use|usu|ute|eu|ewe|one\b|once", re.IGNORECASE)
_SAID_AS_VOWEL = re.compile(r"hour|honest|honou?r|heir", re.IGNORECASE)


@dataclass(frozen=True)
class PopeSplit:
    """Generated questions, and what could not be asked.

    Attributes:
        kind: how absent objects were picked, one of `KINDS`.
        seed: of the picture sample and of random picks.
        rows: questions as POPE writes them, yes and no in turn.
        images: pictures used.
        skipped: pictures with too few objects, or with too few absent ones to ask for.
    """

    kind: str
    seed: int
    rows: tuple[dict[str, Any], ...]
    images: int
    skipped: tuple[str, ...]


def generate_split(
    objects: Mapping[str, Sequence[str]],
    kind: str,
    *,
    pairs: int = 3,
    images: int | None = None,
    seed: int = 0,
    suffix: str = "",
) -> PopeSplit:
    """Make balanced questions from each picture's objects, by the rules of SPEC 3.3.

    The first ``pairs`` objects of a picture, in the order of its annotation, are asked for; every one
    is followed by an absent object: any (random), the one in the most pictures (popular), or the one
    most often together with the object before it (adversarial), each not in the picture and not asked
    yet, falling back to a random one. Frequencies are those of the pictures used. The positives are
    the same for every kind, and a picture's random picks depend only on the seed and its name.

    Args:
        objects: picture file name to object names; repetitions do not count.
        pairs: yes/no pairs a picture; pictures with fewer objects are skipped.
        images: how many pictures to sample; all when ``None``.
        suffix: put behind each question, such as " Answer yes or no.".

    Raises:
        InputError: unknown kind, or fewer pictures than asked for can be used, or none.
    """
    if kind not in KINDS:
        raise InputError(f"unknown kind {kind!r}", hint=f"Known: {', '.join(KINDS)}.")
    if pairs < 1:
        raise InputError(f"{pairs} pairs a picture cannot be asked")
    distinct = {image: tuple(dict.fromkeys(found)) for image, found in objects.items()}
    every = sorted({name for found in distinct.values() for name in found})
    usable = [image for image, found in distinct.items() if pairs <= len(found) <= len(every) - pairs]
    if not usable or (images is not None and images > len(usable)):
        raise InputError(
            f"{len(usable)} of {len(distinct)} pictures have at least {pairs} objects and {pairs} absent ones"
            + (f", {images} are asked for" if images is not None else "")
        )
    chosen = set(random.Random(seed).sample(usable, images) if images is not None else usable)
    used = {image: distinct[image] for image in distinct if image in chosen}
    ranked = _ranking(kind, used, every)
    rows: list[dict[str, Any]] = []
    for image, found in used.items():
        chance = random.Random(f"{seed}:{image}")
        asked: set[str] = set()
        for positive in found[:pairs]:
            absent = [name for name in every if name not in found and name not in asked]
            negative = next((name for name in ranked(positive) if name in absent), None)
            negative = chance.choice(absent) if negative is None else negative
            asked.add(negative)
            for name, label in ((positive, "yes"), (negative, "no")):
                rows.append(
                    {
                        "question_id": len(rows) + 1,
                        "image": image,
                        "text": f"Is there {with_article(name)} in the image?{suffix}",
                        "label": label,
                    }
                )
    skipped = tuple(image for image in distinct if image not in set(usable))
    return PopeSplit(kind, seed, tuple(rows), len(used), skipped)


def with_article(noun: str) -> str:
    """The noun behind a or an, by sound: an umbrella, a unicycle, an hourglass."""
    vowel = noun[:1].casefold() in "aeiou" and not _SAID_AS_CONSONANT.match(noun)
    return f"{'an' if vowel or _SAID_AS_VOWEL.match(noun) else 'a'} {noun}"


def load_annotations(path: Path) -> dict[str, tuple[str, ...]]:
    """Objects of each picture from one of three kinds of file.

    * JSON Lines of ``{"image": ..., "objects": [...]}``;
    * one JSON object ``{image: [objects]}``;
    * COCO instances: ``images``, ``annotations`` and ``categories``.

    Raises:
        InputError: the file is none of them; the line or the picture is named.
    """
    if path.suffix == ".jsonl":
        return _from_lines(path)
    value = read_json(path)
    if isinstance(value, dict) and {"images", "annotations", "categories"} <= value.keys():
        return _from_coco(path, value)
    if not isinstance(value, dict):
        raise InputError(
            f"a JSON object of pictures is needed, found {type(value).__name__}",
            where=str(path),
            hint='Files that end in .jsonl hold one {"image": ..., "objects": [...]} a line.',
        )
    return {image: _names(found, f"{path}, picture {image!r}") for image, found in value.items()}


def save_split(split: PopeSplit, path: Path) -> None:
    """Write the questions as JSON Lines, as POPE's released files are, and read them back as a check."""
    write_jsonl(path, split.rows)
    load_questions(path)


def _ranking(
    kind: str, used: Mapping[str, Sequence[str]], every: Sequence[str]
) -> Callable[[str], Iterable[str]]:
    """For an object, the absent ones to prefer, the best first; equal counts in alphabetical order."""
    if kind == "random":
        return lambda positive: ()
    if kind == "popular":
        counts = Counter(name for found in used.values() for name in found)
        order = tuple(sorted((n for n in every if counts[n]), key=lambda name: (-counts[name], name)))
        return lambda positive: order
    together: dict[str, Counter[str]] = {name: Counter() for name in every}
    for found in used.values():
        for first, second in combinations(found, 2):
            together[first][second] += 1
            together[second][first] += 1
    beside = {
        name: tuple(sorted(counts, key=lambda other, c=counts: (-c[other], other)))  # type: ignore[misc]
        for name, counts in together.items()
    }
    return lambda positive: beside[positive]


def _from_lines(path: Path) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line, row in read_jsonl(path, required=("image", "objects")):
        where = f"{path}, line {line}"
        if str(row["image"]) in found:
            raise InputError(f"picture {row['image']!r} appears twice", where=where)
        found[str(row["image"])] = _names(row["objects"], where)
    return found


def _from_coco(path: Path, value: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    try:
        names = {category["id"]: str(category["name"]) for category in value["categories"]}
        files = {image["id"]: str(image["file_name"]) for image in value["images"]}
        found: dict[str, list[str]] = {file: [] for file in files.values()}
        for annotation in value["annotations"]:
            found[files[annotation["image_id"]]].append(names[annotation["category_id"]])
    except (KeyError, TypeError) as error:
        raise InputError(f"not COCO instances: {error!r}", where=str(path)) from None
    return {file: tuple(dict.fromkeys(objects)) for file, objects in found.items()}


def _names(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise InputError("objects is not a list of names", where=where)
    return tuple(value)
