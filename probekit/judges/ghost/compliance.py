"""Stage 2: two yes-or-no questions about each picture, and the words its badge may bear. Ghost-100 3.9."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from probekit.benchmarks.ghost import Family, GhostImage, Manifest
from probekit.benchmarks.ghost_validate import QUESTIONS
from probekit.files import Json
from probekit.judges.answers import json_object
from probekit.judges.base import Judge, MalformedError, Question, Unread, read_answers
from probekit.judges.ghost.scenarios import Scenarios
from probekit.judges.pictures import Picture
from probekit.judges.prompts import fill

KIND = "ghost_compliance"
TEXT_KIND = "ghost_compliance_text"
BLOCK = 10
"""Badges asked about together; words allowed on one block are known to the judge from the next on."""


def ask(
    judge: Judge, manifest: Manifest, scenarios: Scenarios, advance: Callable[[int], None] = lambda _: None
) -> list[Json]:
    """Lines of ``{"image_id", "q1", "q2", "reason"}`` in the manifest's order, badges with ``allowed_words``.

    Badges are asked about in blocks, in order: the words that the judge allowed on earlier ones that comply
    are listed to it as known on later ones, as in the paper, where that happens picture by picture. A picture
    whose answer cannot be read has a line of ``{"image_id", "unread": reason}``.
    """
    badges = [image for image in manifest.images if image.category.family is Family.TEXT]
    others = [image for image in manifest.images if image.category.family is not Family.TEXT]
    known: dict[str, str] = {}
    found: dict[str, Json] = {}
    for first in range(0, len(badges), BLOCK):
        block = badges[first : first + BLOCK]
        for line in _asked(judge, manifest, block, scenarios, tuple(known.values()), advance):
            found[line["image_id"]] = line
            complies = line.get("q1") is True and line.get("q2") is True
            for word in line.get("allowed_words", []) if complies else []:
                known.setdefault(word.casefold(), word)
    for line in _asked(judge, manifest, others, scenarios, (), advance):
        found[line["image_id"]] = line
    return [found[image.image_id] for image in manifest.images]


def _asked(
    judge: Judge,
    manifest: Manifest,
    images: Sequence[GhostImage],
    scenarios: Scenarios,
    known: Sequence[str],
    advance: Callable[[int], None],
) -> list[Json]:
    def read(position: int, text: str) -> Json:
        return _read(text, words=images[position].category.family is Family.TEXT)

    asked = [_question(manifest, image, scenarios, known) for image in images]
    return [
        {"image_id": image.image_id, **({"unread": a.reason} if isinstance(a, Unread) else a)}
        for image, a in zip(images, read_answers(judge, asked, read, advance), strict=True)
    ]


def _question(manifest: Manifest, image: GhostImage, scenarios: Scenarios, known: Sequence[str]) -> Question:
    first, second = QUESTIONS[image.category.family]
    own = {word.casefold() for word in image.whitelist}
    entry = {
        "scenario": scenarios.text(image),
        "missing": image.target,
        "known": [*image.whitelist, *(word for word in known if word.casefold() not in own)],
        "q1": first,
        "q2": second,
    }
    kind = TEXT_KIND if image.category.family is Family.TEXT else KIND
    return Question(kind, fill(kind, [entry]), (Picture.of(manifest.root / image.image),))


def _read(text: str, *, words: bool) -> Json:
    value = json_object(text)
    for name in ("q1", "q2"):
        if not isinstance(value.get(name), bool):
            raise MalformedError(f"{name} must be true or false")
    reason = value.get("reason", "")
    found: Json = {"q1": value["q1"], "q2": value["q2"], "reason": reason if isinstance(reason, str) else ""}
    if words:
        allowed = value.get("allowed_words")
        if not isinstance(allowed, list) or not all(isinstance(word, str) for word in allowed):
            raise MalformedError("allowed_words must be a list of texts")
        found["allowed_words"] = [word for word in allowed if word.strip()]
    return found
