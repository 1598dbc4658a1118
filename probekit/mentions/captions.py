"""Caption files: one JSON object a line with `caption` or `text`, and how their mentions are written."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from probekit.errors import InputError
from probekit.files import Json, read_jsonl
from probekit.mentions.find import find
from probekit.mentions.vocabulary import Vocabulary

_IDS = ("caption_id", "example_id", "id", "image_id", "image")
_SENTENCE_END = re.compile(r"[.!?…。！？]+[\"'’”)\]*]*(?=\s|$)|[。！？]")


@dataclass(frozen=True, slots=True)
class Caption:
    """One caption.

    Attributes:
        caption_id: unique in its file.
        image_id: what the file calls the image; ``None`` when it does not say.
        text: the caption.
        finished: whether the model ended it itself; ``None`` when unknown.
        line: line of the file, from 1.
    """

    caption_id: str
    image_id: str | int | None
    text: str
    finished: bool | None
    line: int


def read_captions(path: Path) -> Iterator[Caption]:
    """Yield the captions of a JSON Lines file.

    The id is the first of ``caption_id``, ``example_id``, ``id``, ``image_id``, ``image`` that a line has,
    else the line number; a second caption of one image is told apart by a suffix.

    Raises:
        InputError: a line has no text, or repeats an id that is not an image's; file and line are named.
    """
    seen: Counter[str] = Counter()
    for number, value in read_jsonl(path):
        where = f"{path}, line {number}"
        text = value.get("caption", value.get("text"))
        if not isinstance(text, str):
            raise InputError("no `caption` or `text`, or it is not a string", where=where)
        key = next((key for key in _IDS if value.get(key) is not None), None)
        caption_id = str(number if key is None else value[key])
        seen[caption_id] += 1
        if seen[caption_id] > 1:
            if key not in ("image_id", "image"):
                raise InputError(f"caption {caption_id!r} appears twice", where=where)
            caption_id = f"{caption_id}-{seen[caption_id]}"
        image = value.get("image_id", value.get("image"))
        if image is not None and (isinstance(image, bool) or not isinstance(image, str | int)):
            raise InputError(f"`image_id` is text or a whole number, found {image!r}", where=where)
        yield Caption(caption_id, image, text, value.get("finished"), number)


def complete_sentences(caption: Caption) -> Caption:
    """The caption without an unfinished last sentence; one that the model finished is left as it is.

    Nothing is left of a caption that has no complete sentence.
    """
    if caption.finished is True:
        return caption
    ends = [match.end() for match in _SENTENCE_END.finditer(caption.text)]
    text = caption.text[: ends[-1]] if ends else ""
    return caption if text == caption.text.rstrip() else replace(caption, text=text)


def caption_rows(caption: Caption, vocabulary: Vocabulary) -> Iterator[Json]:
    """Mentions of one caption as lines for a file that usage judges read."""
    for mention in find(caption.text, vocabulary):
        row: Json = {"caption_id": caption.caption_id}
        if caption.image_id is not None:
            row["image_id"] = caption.image_id
        yield row | {
            "caption": caption.text,
            "start": mention.start,
            "end": mention.end,
            "surface": mention.surface,
            "category": mention.category,
        }
