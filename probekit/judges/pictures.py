"""Pictures that a question carries: named by the digest of their bytes, opened only when they are sent."""

from __future__ import annotations

import base64
import hashlib
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from probekit.errors import InputError
from probekit.files import sha256

if TYPE_CHECKING:
    from PIL import Image

LONGEST_SIDE = 2048
"""Longest side, in pixels, up to which an endpoint gets the file as it is; larger ones are scaled down."""

_SENT_AS_THEY_ARE = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of a question. Two are equal when their bytes are, wherever they lie.

    Attributes:
        path: the file.
        digest: SHA-256 of its bytes, in hex.
    """

    path: Path = field(compare=False)
    digest: str

    @classmethod
    def of(cls, path: Path) -> Picture:
        """The picture in a file.

        Raises:
            InputError: there is no such file.
        """
        if not path.is_file():
            raise InputError("no such picture", where=str(path))
        return cls(path, sha256(path))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, read from the file's head.

        Raises:
            InputError: the file is no picture.
        """
        from PIL import Image, UnidentifiedImageError

        try:
            with Image.open(self.path) as opened:
                return opened.size
        except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
            raise InputError(f"not a picture: {error}", where=str(self.path)) from None

    def open(self) -> Image.Image:
        """The whole picture in RGB.

        Raises:
            InputError: the file is no picture, is cut short, or is no longer the one that was asked about.
        """
        return _decoded(self._bytes(), self.path)

    def data_url(self, longest_side: int = LONGEST_SIDE) -> str:
        """The picture as a ``data:`` URL.

        The file's own bytes, unless a side is longer than ``longest_side`` pixels or the format is one that
        endpoints do not take: then PNG, scaled down so that the longer side has that length.

        Raises:
            InputError: as `open`.
        """
        from PIL import Image

        data = self._bytes()
        try:
            with Image.open(io.BytesIO(data)) as opened:
                kind, side = _SENT_AS_THEY_ARE.get(opened.format or ""), max(opened.size)
        except (OSError, Image.DecompressionBombError) as error:
            raise InputError(f"not a picture: {error}", where=str(self.path)) from None
        if kind is None or side > longest_side:
            whole = _decoded(data, self.path)
            whole.thumbnail((longest_side, longest_side), Image.Resampling.LANCZOS)
            held = io.BytesIO()
            whole.save(held, "PNG")
            kind, data = "image/png", held.getvalue()
        return f"data:{kind};base64,{base64.b64encode(data).decode()}"

    def _bytes(self) -> bytes:
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", where=str(self.path)) from None
        # The answer is kept under the digest: other bytes must not be sent under it.
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise InputError("the picture has changed since it was asked about", where=str(self.path))
        return data


def _decoded(data: bytes, path: Path) -> Image.Image:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as opened:
            return opened.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"not a picture: {error}", where=str(path)) from None
