"""The answers of a Ghost run as the traced pass takes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from probekit.benchmarks.ghost import GhostImage, Manifest
from probekit.errors import InputError
from probekit.files import Json, inside, read_jsonl

FIELDS = ("example_id", "image_id", "image", "tone", "prompt", "token_ids", "text", "prompt_tokens")


@dataclass(frozen=True)
class GhostAnswer:
    """One answer that has tokens.

    Attributes:
        example_id: ``IMAGE-toneN``.
        image: the manifest's line.
        picture: the image file.
        tone: tone level.
        prompt: the question as it was asked.
        token_ids: the answer, without the token that ends it.
        prompt_tokens: m.
    """

    example_id: str
    image: GhostImage
    picture: Path
    tone: int
    prompt: str
    token_ids: tuple[int, ...]
    prompt_tokens: int


@dataclass(frozen=True)
class GhostAnswers:
    """All answers of a run.

    Attributes:
        answers: those with tokens, in the order of the manifest's pictures, then by tone.
        empty: examples whose answer is empty; there is nothing to trace.
    """

    answers: tuple[GhostAnswer, ...]
    empty: tuple[str, ...]

    @property
    def identity(self) -> list[Json]:
        """What the pass depends on."""
        return [
            {"id": a.example_id, "image": a.image.image, "prompt": a.prompt, "ids": list(a.token_ids)}
            for a in self.answers
        ]

    def shards(self, pictures: int) -> list[list[GhostAnswer]]:
        """Answers in pieces of so many pictures; those on one picture stay together."""
        on_picture: dict[str, list[GhostAnswer]] = {}
        for answer in self.answers:
            on_picture.setdefault(answer.image.image_id, []).append(answer)
        groups = list(on_picture.values())
        return [
            [answer for group in groups[start : start + pictures] for answer in group]
            for start in range(0, len(groups), pictures)
        ]


def read_answers(path: Path, manifest: Manifest) -> GhostAnswers:
    """Read the responses of a run, with their token ids.

    Raises:
        InputError: a line lacks a field, names a picture the manifest lacks, or has a text and no token
            ids; file and line are named.
    """
    images = manifest.by_id()
    order = {image_id: place for place, image_id in enumerate(images)}
    found: list[GhostAnswer] = []
    empty: list[str] = []
    seen: set[str] = set()
    for number, line in read_jsonl(path, FIELDS):
        where = f"{path}, line {number}"
        example, image = str(line["example_id"]), images.get(str(line["image_id"]))
        if image is None:
            raise InputError(f"image {line['image_id']!r} is not in the manifest", where=where)
        if example in seen:
            raise InputError(f"example {example!r} comes twice", where=where)
        seen.add(example)
        ids = line["token_ids"]
        if not isinstance(ids, list) or not all(type(i) is int and i >= 0 for i in ids):
            raise InputError("'token_ids' must be a list of whole numbers", where=where)
        for name in ("tone", "prompt_tokens"):
            if type(line[name]) is not int or line[name] < 1:
                raise InputError(f"{name!r} must be a whole number from 1", where=where)
        if not ids and str(line["text"]).strip():
            raise InputError(
                f"sample {example!r} has a text but no token ids",
                where=where,
                hint="Ids are never made again from text; ask the model again.",
            )
        if not ids:
            empty.append(example)
            continue
        picture = inside(manifest.root, image.image, where=where)
        found.append(
            GhostAnswer(
                example,
                image,
                picture,
                int(line["tone"]),
                str(line["prompt"]),
                tuple(ids),
                int(line["prompt_tokens"]),
            )
        )
    found.sort(key=lambda answer: (order[answer.image.image_id], answer.tone))
    return GhostAnswers(tuple(found), tuple(empty))
