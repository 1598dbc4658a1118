"""A folder of the organism's scenes with their references, as the pipeline takes it."""

import io
from pathlib import Path

import numpy as np
from PIL import Image

from probekit.errors import InputError
from probekit.files import write_atomically, write_jsonl
from probekit.organism.scenes import Scene, make_scene

REFERENCES = "references.jsonl"
"""Name of the file that says what is in each image."""

_PER_SEED = 1_000_000
"""Images of one seed; the next seed's scenes begin after them."""


def scene_seed(seed: int, index: int) -> int:
    """Return the scene seed of image `index` of a folder made with `seed`.

    Raises:
        InputError: the seed is negative or so large that it would reach the training scenes,
            or the index is outside 0 to 999,999.
    """
    if not 0 <= seed < 1_000_000:
        raise InputError(f"seed {seed} is out of range", hint="Take one from 0 to 999999.")
    if not 0 <= index < _PER_SEED:
        raise InputError(f"image number {index} is out of range", hint="Ask for fewer images.")
    return seed * _PER_SEED + index


def write_images(out: Path, count: int, seed: int = 0) -> Path:
    """Write `000000.png` and so on to `out`, and return the references file beside them.

    Each line of the references is {"image": "000000.png", "objects": ["bench", ...]}, objects in
    alphabetical order. Each file appears whole or not at all; images that are there are kept, and
    the references come last. Scenes never coincide with those the model was trained on.

    Raises:
        InputError: an image of that name is there and is not the image of this seed.
    """
    out.mkdir(parents=True, exist_ok=True)
    lines: list[dict[str, object]] = []
    for index in range(count):
        scene = make_scene(scene_seed(seed, index))
        image = out / f"{index:06d}.png"
        if image.exists():
            _check(image, scene)
        else:
            _write(image, scene)
        lines.append({"image": image.name, "objects": sorted(scene.present)})
    write_jsonl(out / REFERENCES, lines)
    return out / REFERENCES


def _write(image: Path, scene: Scene) -> None:
    buffer = io.BytesIO()
    scene.picture().save(buffer, format="PNG")
    write_atomically(image, buffer.getvalue())


def _check(image: Path, scene: Scene) -> None:
    hint = "Choose an empty folder, or the seed the folder was made with."
    try:
        with Image.open(image) as found:
            same = np.array_equal(np.asarray(found.convert("RGB")), scene.image)
    except OSError as error:
        raise InputError(f"cannot be read: {error}", where=str(image), hint=hint) from None
    if not same:
        raise InputError("holds another image", where=str(image), hint=hint)
