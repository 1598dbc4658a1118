"""Stage 1: four dimensions of each picture, graded in five askings. Ghost-100 3.9."""

from __future__ import annotations

from collections.abc import Callable

from probekit.benchmarks.ghost import Manifest
from probekit.benchmarks.ghost_validate import DIMENSIONS, ROUNDS
from probekit.files import Json
from probekit.judges.answers import json_object
from probekit.judges.base import Judge, MalformedError, Question, Unread, read_answers
from probekit.judges.ghost.scenarios import Scenarios
from probekit.judges.pictures import Picture
from probekit.judges.prompts import fill

KIND = "ghost_quality"


def questions(manifest: Manifest, scenarios: Scenarios) -> list[Question]:
    """Five questions about each picture, picture by picture.

    Each says which assessment it is and names the dimensions in another order, so that the five are
    different questions: a cache does not take one answer for all, nor does greedy decoding repeat itself
    by necessity.

    Raises:
        InputError: a picture is missing.
    """
    found = []
    for image in manifest.images:
        picture = Picture.of(manifest.root / image.image)
        for number in range(ROUNDS):
            entry = {
                "assessment": number + 1,
                "of": ROUNDS,
                "scenario": scenarios.text(image),
                "missing": image.target,
                "dimensions": _order(number),
            }
            found.append(Question(KIND, fill(KIND, [entry]), (picture,)))
    return found


def _order(number: int) -> list[str]:
    """The dimensions turned by ``number`` places; past a whole turn also reversed."""
    turned = [DIMENSIONS[(place + number) % len(DIMENSIONS)] for place in range(len(DIMENSIONS))]
    return turned if number < len(DIMENSIONS) else turned[::-1]


def ask(
    judge: Judge, manifest: Manifest, scenarios: Scenarios, advance: Callable[[int], None] = lambda _: None
) -> list[Json]:
    """Lines of ``{"image_id", "rounds": [{dimension: score}], "unread": count}``.

    An answer that cannot be read is no round: it is counted, and the others stand.
    """
    answers = read_answers(judge, questions(manifest, scenarios), lambda _, text: _read(text), advance)
    lines = []
    for number, image in enumerate(manifest.images):
        given = answers[number * ROUNDS : (number + 1) * ROUNDS]
        rounds = [scores for scores in given if not isinstance(scores, Unread)]
        lines.append({"image_id": image.image_id, "rounds": rounds, "unread": len(given) - len(rounds)})
    return lines


def _read(text: str) -> dict[str, int]:
    value = json_object(text)
    scores = {name: value.get(name) for name in DIMENSIONS}
    for name, score in scores.items():
        if type(score) is not int or not 1 <= score <= 5:
            raise MalformedError(f"{name} must be a whole number from 1 to 5")
    return {name: int(value[name]) for name in DIMENSIONS}
