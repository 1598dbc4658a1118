"""What the references say is in each image: JSON Lines, COCO instances, or one object of id to objects."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.files import read_json, read_jsonl
from probekit.mentions.coco import COCO_CATEGORIES
from probekit.mentions.vocabulary import Vocabulary

_IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".gif", ".tif", ".tiff")
_COCO_NAME = re.compile(r"(?:COCO_[A-Za-z0-9]+_)?0*([0-9]+)")


@dataclass(frozen=True)
class References:
    """Objects by image.

    Attributes:
        objects: image id, the file's stem, to the categories in the picture.
        outside: objects named by the file that the vocabulary leaves out by design, with their counts.
        aliases: COCO's bare number to image id, for files that name images by number.
    """

    objects: Mapping[str, frozenset[str]]
    outside: Mapping[str, int] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)

    def get(self, image: object) -> frozenset[str] | None:
        """Categories in an image; ``None`` when the references do not have it: unknown, not empty.

        Args:
            image: id, file name or COCO number, such as ``139``, ``000000000139.jpg`` or
                ``COCO_val2014_000000004108``.
        """
        stem = image_id(image)
        if stem in self.objects:
            return self.objects[stem]
        number = coco_number(stem)
        known = None if number is None else self.aliases.get(number)
        return None if known is None else self.objects[known]

    def present(self, image: object, category: str) -> bool | None:
        """Whether a category is in an image; ``None`` when the references do not say."""
        objects = self.get(image)
        return None if objects is None else category in objects

    def __len__(self) -> int:
        return len(self.objects)


def image_id(image: object) -> str:
    """The stem of an image's file name; an id without a suffix is itself."""
    name = str(image).replace("\\", "/").rpartition("/")[2]
    for suffix in _IMAGE_SUFFIXES:
        if name.lower().endswith(suffix):
            return name[: -len(suffix)]
    return name


def coco_number(image: str) -> str | None:
    """COCO's number in an image id, as ``4108`` of ``COCO_val2014_000000004108``; else ``None``."""
    match = _COCO_NAME.fullmatch(image)
    return match.group(1) if match else None


def presence(path: Path, vocabulary: Vocabulary) -> References:
    """Read references.

    The file is JSON Lines with ``image`` or ``image_id``, and ``objects``; or COCO instances JSON with
    ``images``, ``annotations`` and ``categories``; or one JSON object of image id to list of objects. Crowd
    annotations count.

    Raises:
        InputError: the file has another shape, an image is listed twice, or an object is none the vocabulary
            knows; file, line and the closest category are named. Objects that the vocabulary leaves out by
            design are counted instead: its exclusions, and COCO categories it does not have.
    """
    objects: dict[str, frozenset[str]] = {}
    outside: Counter[str] = Counter()
    known = {name.lower(): name for name in vocabulary.categories}
    left_out = {name.lower() for name in (*vocabulary.exclusions, *COCO_CATEGORIES)} - set(known)

    def category(name: object, where: str) -> str | None:
        if not isinstance(name, str):
            raise InputError(f"an object is a name, found {name!r}", where=where)
        lower = " ".join(name.lower().split())
        match = known.get(lower) or vocabulary.words.get(lower)
        if match is None and lower not in left_out:
            close = get_close_matches(lower, [*known, *vocabulary.words], n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise InputError(
                f"object {name!r} is none of the vocabulary {vocabulary.name!r}",
                where=where,
                hint=hint + "List it under `excluded` in a vocabulary of your own to leave it out.",
            )
        return match

    for image, names, where in _entries(path):
        if image in objects:
            raise InputError(f"image {image!r} is listed twice", where=where)
        found = [(name, category(name, where)) for name in names]
        outside.update(str(name).lower() for name, match in found if match is None)
        objects[image] = frozenset(match for _, match in found if match is not None)
    return References(objects, dict(outside), _numbers(objects))


def _numbers(objects: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """COCO number to image id, where exactly one image has that number."""
    numbers: dict[str, list[str]] = {}
    for image in objects:
        if (number := coco_number(image)) is not None:
            numbers.setdefault(number, []).append(image)
    return {number: images[0] for number, images in numbers.items() if len(images) == 1}


def _entries(path: Path) -> Iterator[tuple[str, list[object], str]]:
    """Image id, object names, place in the file."""
    document = _document(path)
    if document is None:
        for number, value in read_jsonl(path):
            where = f"{path}, line {number}"
            image = value.get("image", value.get("image_id"))
            missing = [f"'{name}'" for name, held in (("image", image), ("objects", value.get("objects")))
                       if held is None]  # fmt: skip
            if missing:
                raise InputError(
                    f"missing {', '.join(missing)}",
                    where=where,
                    hint=f"Found {', '.join(value) or 'nothing'}. Each line is like "
                    '{"image": "kitchen.jpg", "objects": ["cup", "oven"]}; `image_id` does as well.',
                )
            if not isinstance(value["objects"], list):
                raise InputError("`objects` is a list of names", where=where)
            yield image_id(image), value["objects"], where
    elif isinstance(document.get("images"), list):
        yield from _coco(document, path)
    else:
        for image, names in document.items():
            if not isinstance(names, list):
                raise InputError("objects are a list of names", where=f"{path}, image {image!r}")
            yield image_id(image), names, f"{path}, image {image!r}"


def _document(path: Path) -> dict[str, Any] | None:
    """The file as one JSON object, ``None`` when it is JSON Lines."""
    if path.suffix == ".jsonl":
        return None
    if not path.is_file():
        raise InputError("no such file", where=str(path))
    with path.open("rb") as handle:
        lines = [handle.readline(1 << 16).strip() for _ in range(2)]
    if all(line.startswith(b"{") and line.endswith(b"}") for line in lines):
        return None
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError(f"a JSON object is needed, found {type(value).__name__}", where=str(path))
    return None if "objects" in value and set(value) & {"image", "image_id"} else value


def _coco(document: dict[str, Any], path: Path) -> Iterator[tuple[str, list[object], str]]:
    try:
        names = {entry["id"]: entry["name"] for entry in document["categories"]}
        per_image: dict[Any, dict[object, None]] = {entry["id"]: {} for entry in document["images"]}
        for place, annotation in enumerate(document["annotations"]):
            where = f"{path}, annotation {place} (id {annotation.get('id')})"
            if annotation["image_id"] not in per_image:
                raise InputError(f"no image has the id {annotation['image_id']!r}", where=where)
            if annotation["category_id"] not in names:
                raise InputError(f"no category has the id {annotation['category_id']!r}", where=where)
            per_image[annotation["image_id"]][names[annotation["category_id"]]] = None
        for entry in document["images"]:
            stem = image_id(entry.get("file_name", entry["id"]))
            yield stem, list(per_image[entry["id"]]), f"{path}, image {entry['id']!r}"
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"not COCO instances: {type(error).__name__} {error}",
            where=str(path),
            hint="Needed: `images` with id and file_name, `annotations` with image_id and category_id, "
            "`categories` with id and name.",
        ) from None
