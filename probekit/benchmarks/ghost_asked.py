"""What each response of a Ghost-100 file answered: a judge must be shown the prompt that was asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from probekit.benchmarks.ghost import Family, GhostImage
from probekit.benchmarks.ghost_prompts import load_prompts
from probekit.errors import InputError
from probekit.files import read_jsonl


def asked(
    path: Path, shown: Sequence[tuple[GhostImage, int]], prompts: Path | None = None
) -> tuple[tuple[str, ...], int]:
    """The prompt of each response, and how many lines did not say it.

    Args:
        path: responses, JSON Lines; ``prompt`` says what was asked.
        shown: picture and tone level of each line, in order.
        prompts: the user's own prompts, for lines that do not say; the shipped ones by default.

    Raises:
        InputError: a line's prompt is no text, or is not the one that the given prompts ask.
    """
    texts = load_prompts(prompts)
    found = []
    silent = 0
    for (number, line), (image, tone) in zip(read_jsonl(path), shown, strict=True):
        where = f"{path}, line {number}"
        own = line.get("prompt")
        if own is not None and not (isinstance(own, str) and own.strip()):
            raise InputError("'prompt' must be a text", where=where)
        given = texts.ask(tone, image.target, presence=image.category.family is Family.PRESENCE)
        if own is not None and prompts is not None and own.strip() != given:
            raise InputError(
                f"{own.strip()[:80]!r} was asked, {prompts} asks {given[:80]!r}",
                where=where,
                hint="Leave --prompts out: the file says what was asked.",
            )
        silent += own is None
        found.append(given if own is None else own.strip())
    return tuple(found), silent
