"""Captions by others, made into texts that a model can be forced to say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.files import inside, read_jsonl, write_jsonl
from probekit.pipeline.tracing import LateModel


def adopt(model: LateModel, question: str, captions: Path, images: Path, out: Path) -> Path:
    """Tokenise captions as the model would go on after the question, and write them as texts.

    Args:
        model: whose texts they are taken for.
        question: the user's turn before each.
        captions: JSON Lines of ``image`` (a file name inside ``images``) and ``caption`` or ``text``.

    Raises:
        InputError: a line lacks a field, a caption is empty or cannot be written by this model's
            tokenizer, or a picture comes twice; file and line are named.
    """
    _, prompter = model.get()
    lines: list[dict[str, Any]] = []
    seen: set[str] = set()
    for number, line in read_jsonl(captions, ("image",)):
        where = f"{captions}, line {number}"
        text = line.get("caption", line.get("text"))
        if not isinstance(text, str) or not text.strip():
            raise InputError("needs a non-empty 'caption' or 'text'", where=where)
        image = str(line["image"])
        inside(images, image, where=where)
        name = Path(image).stem
        if name in seen:
            raise InputError(f"picture {name!r} comes twice", where=where)
        seen.add(name)
        try:
            ids = prompter.continuation(question, text)
        except InputError as error:
            raise InputError(error.what, where=where, hint=error.hint) from None
        lines.append(
            {
                "example_id": name,
                "image_id": name,
                "image": image,
                "prompt": question,
                "token_ids": list(ids),
                "text": prompter.decode(ids),
                "prompt_tokens": None,
                "finished": True,
            }
        )
    write_jsonl(out, lines)
    return out
