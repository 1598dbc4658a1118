"""Stage 3: each picture is put into one of a few described groups. Ghost-100 3.9."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from probekit.benchmarks.conditions import seed_of
from probekit.benchmarks.ghost import GhostImage, Manifest
from probekit.files import Json
from probekit.judges.answers import json_object
from probekit.judges.base import Judge, MalformedError, Question, Unread, read_answers
from probekit.judges.ghost.scenarios import Scenarios
from probekit.judges.pictures import Picture
from probekit.judges.prompts import fill

KIND = "ghost_cluster"


def order(images: Sequence[GhostImage], seed: int) -> list[GhostImage]:
    """The pictures in an order that depends on the seed and not on their categories."""
    shuffled = sorted(images, key=lambda image: image.image_id)
    random.Random(seed_of(seed, "stage3")).shuffle(shuffled)
    return shuffled


def questions(
    manifest: Manifest, images: Sequence[GhostImage], scenarios: Scenarios, seed: int
) -> list[Question]:
    """One question about each picture: the groups' numbers and descriptions, in an order of its own.

    Nothing else is sent: no name of file or category, and no target.

    Raises:
        InputError: a picture is missing.
    """
    found = []
    for image in images:
        groups = [{"id": c.number, "description": c.description} for c in scenarios.clusters]
        random.Random(seed_of(seed, f"stage3/{image.image_id}")).shuffle(groups)
        picture = Picture.of(manifest.root / image.image)
        found.append(Question(KIND, fill(KIND, groups), (picture,)))
    return found


def ask(
    judge: Judge,
    manifest: Manifest,
    images: Sequence[GhostImage],
    scenarios: Scenarios,
    seed: int,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Json]:
    """Lines of ``{"image_id", "cluster"}`` in the order asked; ``unread`` in place of a cluster."""
    numbers = {cluster.number for cluster in scenarios.clusters}

    def read(position: int, text: str) -> str:
        group = json_object(text).get("group")
        if type(group) is not int or group not in numbers:
            raise MalformedError(f"group must be one of {', '.join(map(str, sorted(numbers)))}")
        return str(group)

    shuffled = order(images, seed)
    answers = read_answers(judge, questions(manifest, shuffled, scenarios, seed), read, advance)
    return [
        {"image_id": image.image_id, **({"unread": a.reason} if isinstance(a, Unread) else {"cluster": a})}
        for image, a in zip(shuffled, answers, strict=True)
    ]
