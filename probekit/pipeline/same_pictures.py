"""A picture that was replaced under its name is noticed: texts note the digests of what they are about."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from probekit.errors import InputError
from probekit.files import Json, inside, sha256


def same_pictures(done: Iterable[Json], root: Path, out: Path) -> None:
    """Refuse to go on beside answers whose picture has since been replaced; a missing one is no matter.

    Args:
        done: answers with ``image`` or ``images``, and the digest of each in ``image_sha256``.
        root: folder from which the paths start.
        out: file of the answers, for the error.
    """
    digests: dict[str, str] = {}
    for line in done:
        for name, noted in _noted(line):
            path = inside(root, name, where=f"{out}, sample {line.get('example_id')}")
            if not path.is_file():
                continue
            if name not in digests:
                digests[name] = sha256(path)
            if digests[name] != noted:
                raise InputError(
                    f"the picture {name} has changed since it was answered about",
                    where=f"{out}, sample {line.get('example_id')}",
                    hint="Put the old picture back, or give another folder.",
                )


def _noted(line: Json) -> list[tuple[str, str]]:
    """Pictures of an answer with their digests; none where none were noted."""
    names, digests = line.get("images", [line.get("image")]), line.get("image_sha256")
    noted = digests if isinstance(digests, list) else [digests]
    if not isinstance(names, list) or len(names) != len(noted):
        return []
    return [pair for pair in zip(names, noted, strict=True) if all(isinstance(part, str) for part in pair)]
