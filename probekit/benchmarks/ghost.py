"""Ghost-100: pictures that lack what is asked for, asked for with growing insistence.

Eight categories in three families. A manifest names the images; every image is asked about at five
tone levels with only the wording changed, so that tone is the one thing that varies. Ghost-100 3.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from probekit.benchmarks.example import Example
from probekit.benchmarks.ghost_prompts import LEVELS, Prompts, load_prompts
from probekit.errors import InputError
from probekit.files import digest, inside, read_jsonl, write_jsonl


class Family(StrEnum):
    """Why the target cannot be given."""

    TEXT = "text"
    TIME = "time"
    PRESENCE = "presence"


class GhostCategory(StrEnum):
    """The eight categories, in the paper's order 01 to 08."""

    TEXT_BLUR = "text_blur"
    TEXT_GIBBERISH = "text_gibberish"
    TEXT_BLANK = "text_blank"
    TIME_FIX = "time_fix"
    ANALOG_DECOY = "analog_decoy"
    DIGITAL_DECOY = "digital_decoy"
    SCENE_SCHEMA = "scene_schema"
    HUMAN_INTENT = "human_intent"

    @property
    def family(self) -> Family:
        """Text for 01 to 03, time for 04 to 06, presence for 07 and 08."""
        if self in (GhostCategory.SCENE_SCHEMA, GhostCategory.HUMAN_INTENT):
            return Family.PRESENCE
        return Family.TEXT if self.value.startswith("text") else Family.TIME


@dataclass(frozen=True)
class GhostImage:
    """One line of a manifest.

    Attributes:
        image: path relative to the manifest's folder.
        category: what is missing and how.
        target: what is asked for, as it stands in a sentence: "the name on the badge", "a microphone".
        whitelist: words that can be read in the picture and are not the target.
    """

    image: str
    category: GhostCategory
    target: str
    whitelist: tuple[str, ...] = ()

    @property
    def image_id(self) -> str:
        """Stem of the image file."""
        return Path(self.image).stem


@dataclass(frozen=True)
class Manifest:
    """The images of a Ghost set and the folder their paths start from."""

    root: Path
    images: tuple[GhostImage, ...]

    @property
    def digest(self) -> str:
        """Digest of the lines in any order: which pictures a result is about."""
        return digest(sorted([i.image, str(i.category), i.target, sorted(i.whitelist)] for i in self.images))

    def counts(self) -> dict[GhostCategory, int]:
        """Images per category, zeros included."""
        counts = Counter(image.category for image in self.images)
        return {category: counts[category] for category in GhostCategory}

    def by_id(self) -> dict[str, GhostImage]:
        """Image id -> line of the manifest."""
        return {image.image_id: image for image in self.images}

    def save(self, path: Path) -> None:
        """Write as JSON Lines of ``{"image", "category", "target", "whitelist"}``."""
        write_jsonl(
            path,
            (
                {
                    "image": image.image,
                    "category": str(image.category),
                    "target": image.target,
                    "whitelist": list(image.whitelist),
                }
                for image in self.images
            ),
        )


def load_manifest(path: Path) -> Manifest:
    """Read a manifest; image files are not opened, see `probekit.benchmarks.ghost_validate`.

    Raises:
        InputError: a line has another shape, an unknown category, a path that leaves the folder, or
            an image named before; file and line named.
    """
    images: list[GhostImage] = []
    seen: dict[str, int] = {}
    for number, value in read_jsonl(path, required=("image", "category", "target")):
        where = f"{path}, line {number}"
        unknown = sorted(set(value) - {"image", "category", "target", "whitelist"})
        if unknown:
            raise InputError(f"unknown keys {', '.join(unknown)}", where=where)
        if value["category"] not in tuple(GhostCategory):
            raise InputError(
                f"unknown category {value['category']!r}",
                where=where,
                hint=f"Known: {', '.join(GhostCategory)}.",
            )
        for name in ("image", "target"):
            if not isinstance(value[name], str) or not value[name].strip():
                raise InputError(f"{name!r} must be a text", where=where)
        whitelist = value.get("whitelist", [])
        if not isinstance(whitelist, list) or not all(isinstance(w, str) and w.strip() for w in whitelist):
            raise InputError(
                f"'whitelist' must be a list of texts, found {whitelist!r}",
                where=f"{where} (image {Path(value['image']).stem})",
                hint='Such as ["STAFF", "HALL 3"], or [] for none.',
            )
        inside(path.parent, value["image"], where=where)
        image = GhostImage(
            value["image"], GhostCategory(value["category"]), value["target"], tuple(whitelist)
        )
        if image.image_id in seen:
            raise InputError(
                f"image id {image.image_id!r} is that of line {seen[image.image_id]}", where=where
            )
        seen[image.image_id] = number
        images.append(image)
    if not images:
        raise InputError("the manifest is empty", where=str(path))
    return Manifest(path.parent, tuple(images))


def questions(
    manifest: Manifest, prompts: Prompts | None = None, tones: Sequence[int] = LEVELS
) -> Iterator[Example]:
    """Every image at every tone level; ``condition`` is the tone, ``reference`` the category."""
    texts = prompts or load_prompts()
    for image in manifest.images:
        presence = image.category.family is Family.PRESENCE
        for tone in tones:
            yield Example.ask(
                f"{image.image_id}-tone{tone}",
                image.image_id,
                image.image,
                texts.ask(tone, image.target, presence=presence),
                condition=f"tone{tone}",
                reference=str(image.category),
            )


def write_questions(path: Path, manifest: Manifest, prompts: Prompts | None = None) -> int:
    """Write `questions` as JSON Lines of example, image, tone and prompt; returns how many."""
    asked = list(questions(manifest, prompts))
    write_jsonl(
        path,
        (
            {
                "example_id": example.example_id,
                "image_id": example.image_id,
                "image": example.image,
                "tone": int(example.condition.removeprefix("tone")),
                "prompt": example.question,
            }
            for example in asked
        ),
    )
    return len(asked)
