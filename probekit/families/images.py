"""Opening photographs: whatever is wrong is said with the file and the sample."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, UnidentifiedImageError

from probekit.errors import InputError


def open_image(path: Path, *, sample: str | None = None) -> Image.Image:
    """Read an image completely, as RGB.

    Raises:
        InputError: the file is missing, is not an image, is cut short, or is absurdly large.
    """
    where = str(path) if sample is None else f"{path} (sample {sample})"
    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except FileNotFoundError:
        raise InputError("no such image", where=where, hint="Check --images and the file names.") from None
    except UnidentifiedImageError:
        raise InputError("not an image that PIL can read", where=where) from None
    except Image.DecompressionBombError as error:
        raise InputError(f"image refused: {error}", where=where) from None
    except (OSError, SyntaxError, ValueError) as error:
        raise InputError(
            f"the image cannot be decoded: {error}",
            where=where,
            hint="The file is probably cut short; fetch it again or remove it from the folder.",
        ) from None
