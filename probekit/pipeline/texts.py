"""Captions by others, made into texts that a model can be forced to say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from probekit.errors import InputError
from probekit.files import Json, inside, read_jsonl
from probekit.mentions.references import coco_number, image_id
from probekit.pipeline.describe import pictures

if TYPE_CHECKING:
    from probekit.families import Prompter

SHOWN = 3
"""Examples that a message gives."""

LONGEST = 60
"""Characters of a name that a message gives."""


@dataclass(frozen=True)
class Caption:
    """A caption by another, with its picture.

    Attributes:
        name: the picture's name without the suffix.
        image: its file inside the folder of pictures.
        text: the caption.
        where: file and line.
        finished: whether its writer ended it; false where it was cut, so that its end counts for nothing.
    """

    name: str
    image: str
    text: str
    where: str
    finished: bool = True


def read_captions(captions: Path, images: Path, limit: int | None = None) -> tuple[Caption, ...]:
    """Captions with their pictures, in the order of the file; no model is needed.

    Args:
        captions: JSON Lines of ``caption`` or ``text``, and ``image`` (a file name) or ``image_id``. A
            COCO number finds its picture whatever zeros and prefix the file's name has. A caption counts
            as finished unless ``finished`` is false.
        images: folder of the pictures.
        limit: only the first so many.

    Raises:
        InputError: there are none, a line lacks a field, a caption is empty, a picture comes twice, or
            pictures are not there or no file can have their names; file, line and examples are named.
    """
    find = _finder(images)
    found: list[Caption] = []
    seen: set[str] = set()
    lost: list[tuple[str, str]] = []
    for number, line in islice(read_jsonl(captions), limit):
        where = f"{captions}, line {number}"
        text = line.get("caption", line.get("text"))
        if not isinstance(text, str) or not text.strip():
            raise InputError("needs a non-empty 'caption' or 'text'", where=where)
        given = line.get("image", line.get("image_id"))
        if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
            raise InputError("needs 'image', a file name, or 'image_id'", where=where)
        image = find(given, where)
        if image is None:
            lost.append((str(given), where))
            continue
        name = Path(image).stem
        if name in seen:
            raise InputError(f"picture {name!r} comes twice", where=where)
        seen.add(name)
        found.append(Caption(name, image, text, where, line.get("finished") is not False))
    if lost:
        named = ", ".join(given for given, _ in lost[:SHOWN])
        raise InputError(
            f"{len(lost)} of {len(lost) + len(found)} captions name a picture that is not there: {named}",
            where=lost[0][1],
            hint=f"The first picture of {images} is {pictures(images, 1)[0].path.name}; give file names, "
            "names without suffix, or COCO numbers.",
        )
    if not found:
        raise InputError("no captions", where=str(captions))
    return tuple(found)


def _finder(images: Path) -> Callable[[str | int, str], str | None]:
    """Finds the file inside ``images`` that a caption means; ``None`` where there is none, or two."""
    shown = pictures(images)
    by_name = {picture.image_id: picture.path.name for picture in shown}
    by_number: dict[str, list[str]] = {}
    for picture in shown:
        if (number := coco_number(picture.image_id)) is not None:
            by_number.setdefault(number, []).append(picture.path.name)

    def find(given: str | int, where: str) -> str | None:
        try:
            if isinstance(given, str) and inside(images, given, where=where).is_file():
                return given
        except OSError as error:
            raise InputError(
                f"picture {_short(given)} cannot be looked for: {error.strerror}",
                where=where,
                hint=f"Give the name of a file in {images}.",
            ) from None
        name = image_id(given)
        if name in by_name:
            return by_name[name]
        same = by_number.get(coco_number(name) or "", [])
        return same[0] if len(same) == 1 else None

    return find


def _short(given: str | int) -> str:
    text = str(given)
    return repr(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")


def adopted(prompter: Prompter, question: str, captions: Sequence[Caption]) -> list[Json]:
    """Lines of texts: captions tokenised as the model would go on after the question.

    Args:
        prompter: of the model whose texts they are taken for.
        question: the user's turn before each.

    Raises:
        InputError: this model's tokenizer cannot write a caption; file and line are named.
    """
    lines: list[Json] = []
    for caption in captions:
        try:
            ids = prompter.continuation(question, caption.text)
        except InputError as error:
            raise InputError(error.what, where=caption.where, hint=error.hint) from None
        lines.append(
            {
                "example_id": caption.name,
                "image_id": caption.name,
                "image": caption.image,
                "prompt": question,
                "token_ids": list(ids),
                "text": prompter.decode(ids),
                "prompt_tokens": None,
                "finished": caption.finished,
            }
        )
    return lines


def beginning_kept(lines: Sequence[Json], before: Path) -> bool:
    """Whether the texts in ``before`` hold all of ``lines`` already.

    Raises:
        InputError: they are neither a beginning of ``lines`` nor do they begin with them; the first text
            that differs is named.
    """
    old = [line for _, line in read_jsonl(before)]
    for was, now in zip(old, lines, strict=False):
        if was != now:
            raise InputError(
                f"the captions have changed since they were traced: {now['example_id']!r} now, "
                f"{was.get('example_id')!r} with {str(was.get('text'))[:60]!r} before",
                where=str(before),
                hint="New captions may be put behind the old ones; for others give another --out.",
            )
    return len(lines) <= len(old)
