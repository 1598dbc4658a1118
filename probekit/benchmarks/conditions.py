"""The same question with another picture: black, noise, or an unrelated one. Tri-Layer 3.1, 4.3; SPEC 4.1.

Everything here is a pure function of its arguments: an image, or a choice with its reason.
"""

import hashlib
import random
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from PIL import Image

from probekit.benchmarks.example import Example
from probekit.errors import InputError


class Condition(StrEnum):
    """What is shown with the question."""

    FULL = "full"
    BLIND = "blind"
    NOISE = "noise"
    CONFLICT = "conflict"


SIZE = (224, 224)
"""Width and height of the black and the noise image, in pixels. The paper gives the size of the black
one only; the noise image takes the same."""
NOISE_MEAN, NOISE_SD = 128.0, 50.0


def seed_of(seed: int, sample_id: str) -> int:
    """A sample's own seed, so that a sample's picture does not depend on which others were drawn."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{sample_id}".encode()).digest()[:8], "big")


def blind_image(size: tuple[int, int] = SIZE) -> Image.Image:
    """A black RGB image."""
    return Image.new("RGB", size, (0, 0, 0))


def noise_image(sample_id: str, *, seed: int = 0, size: tuple[int, int] = SIZE) -> Image.Image:
    """An RGB image of independent N(128, 50^2) values, rounded and clipped to [0, 255]."""
    generator = np.random.default_rng(seed_of(seed, sample_id))
    values = generator.normal(NOISE_MEAN, NOISE_SD, size=(size[1], size[0], 3))
    return Image.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8))


def under(
    condition: Condition,
    full: Image.Image,
    sample_id: str,
    *,
    seed: int = 0,
    conflict: Image.Image | None = None,
) -> Image.Image:
    """The image shown for a sample under a condition.

    Raises:
        InputError: the conflict condition without a conflict image.
    """
    if condition is Condition.FULL:
        return full.convert("RGB")
    if condition is Condition.BLIND:
        return blind_image()
    if condition is Condition.NOISE:
        return noise_image(sample_id, seed=seed)
    if conflict is None:
        raise InputError("no conflict image", where=f"sample {sample_id}", hint="Choose one first.")
    return conflict.convert("RGB")


def pose(example: Example, condition: Condition, image: str | None = None) -> Example:
    """The example under another condition; ``image_id`` stays, so that intervals pair the conditions.

    Args:
        image: path of the image shown instead, relative to the benchmark's image root.
    """
    if condition is Condition.FULL:
        return replace(example, condition=str(condition))
    if image is None:
        raise InputError("a replaced image is needed", where=f"example {example.example_id}")
    return replace(
        example,
        example_id=f"{example.example_id}:{condition}",
        image=image,
        condition=str(condition),
    )


def lemma(word: str) -> str:
    """Singular form of an English noun by rule; the last word of a phrase is the one that changes."""
    phrase = " ".join(re.findall(r"[a-z0-9]+", word.casefold()))
    head, _, last = phrase.rpartition(" ")
    return f"{head} {_singular(last)}".strip()


@dataclass(frozen=True)
class ConflictChoice:
    """An unrelated image for one sample, and why it was allowed.

    Attributes:
        image_id: the chosen image; ``None`` when no candidate is left.
        reason: the rule applied, ``no_shared_object``, ``differs_in_an_object`` (the question names no
            object) or ``no_candidate``.
        avoided: normalised objects that the chosen image must not hold, sorted.
        candidates: how many images the rule allowed.
    """

    image_id: str | None
    reason: str
    avoided: tuple[str, ...]
    candidates: int


def choose_conflict(
    sample_id: str,
    image_id: str,
    question_objects: Collection[str],
    pool: Mapping[str, Iterable[str]],
    *,
    synonyms: Mapping[str, str] | None = None,
    seed: int = 0,
) -> ConflictChoice:
    """Choose an image of the pool that shares no object with the question. SPEC 4.1.

    Objects are compared as lemmas mapped through ``synonyms``. A question that names no object only
    requires an image that differs from the original in at least one object; the reason says so.

    Args:
        image_id: the sample's own image, never chosen.
        pool: objects of each candidate image. An image with an empty list is no candidate, since
            nothing is known of it.
        synonyms: word -> category, such as the COCO synonyms; words it lacks stand for themselves.
    """
    table = {lemma(word): lemma(name) for word, name in (synonyms or {}).items()}

    def normal(objects: Iterable[str]) -> set[str]:
        found = {lemma(o) for o in objects}
        return {table.get(o, o) for o in found if o}

    asked = normal(question_objects)
    holds = {key: normal(objects) for key, objects in pool.items()}
    others = {key: objects for key, objects in holds.items() if key != image_id and objects}
    if asked:
        allowed = [key for key, objects in others.items() if not objects & asked]
        reason = "no_shared_object"
    else:
        own = holds.get(image_id, set())
        allowed = [key for key, objects in others.items() if objects != own]
        reason = "differs_in_an_object"
    avoided = tuple(sorted(asked))
    if not allowed:
        return ConflictChoice(None, "no_candidate", avoided, 0)
    # Sorted, so that the choice does not depend on the order in which the pool was listed.
    chosen = random.Random(seed_of(seed, sample_id)).choice(sorted(allowed))
    return ConflictChoice(chosen, reason, avoided, len(allowed))


def objects_named(question: str, vocabulary: Iterable[str]) -> tuple[str, ...]:
    """Entries of ``vocabulary`` that a question names, longest match first, in order of the text."""
    known = {lemma(word): word for word in vocabulary}
    tokens = re.findall(r"[a-z0-9]+", question.casefold())
    longest = max((len(key.split()) for key in known), default=0)
    found: list[str] = []
    at = 0
    while at < len(tokens):
        for size in range(min(longest, len(tokens) - at), 0, -1):
            key = lemma(" ".join(tokens[at : at + size]))
            if key in known:
                if known[key] not in found:
                    found.append(known[key])
                at += size
                break
        else:
            at += 1
    return tuple(found)


_IRREGULAR = {
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "mice": "mouse",
    "geese": "goose",
    "feet": "foot",
    "teeth": "tooth",
    "knives": "knife",
    "wolves": "wolf",
    "leaves": "leaf",
    "loaves": "loaf",
    "shelves": "shelf",
    "scarves": "scarf",
    "buses": "bus",
}
_SAME = frozenset(
    (
        "skis",
        "scissors",
        "sheep",
        "bus",
        "glass",
        "grass",
        "gas",
        "tennis",
        "dress",
        "cross",
        "pants",
        "jeans",
    )
)


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _SAME or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if word.endswith("oes"):
        return word[:-2]
    return word[:-1]
