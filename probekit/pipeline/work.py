"""From files of texts and rows to shards of work for the forward pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from probekit.errors import InputError
from probekit.files import Json, inside, read_jsonl
from probekit.forward.work import Forced, Target
from probekit.pipeline.describe import read_generations
from probekit.pipeline.same_pictures import same_pictures
from probekit.rows import RowKey
from probekit.store import RowTable

ROW_FIELDS = ("example_id", "index", "image_id", "category", "token", "token_end")
UNKNOWN_PROMPT_TOKENS = 700
"""Length assumed of a prompt whose tokens nobody counted; it only shapes batches."""


@dataclass(frozen=True)
class ShardWork:
    """Texts of one shard, with the lines of their rows in the same order.

    Attributes:
        number: of the shard.
        texts: what goes through the model; every one has rows.
        rows: lines of ``rows.jsonl``, in the order of the texts' targets.
        lengths: about how many tokens each text has, prompt included.
    """

    number: int
    texts: tuple[Forced, ...]
    rows: tuple[Json, ...]
    lengths: tuple[int, ...]

    def table(self, prompt_tokens: np.ndarray, image_tokens: np.ndarray) -> RowTable:
        """The rows as the store keeps them."""
        ids = {text.example_id: text.continuation for text in self.texts}

        def column(name: str, default: Any = -1) -> list[Any]:
            return [default if row.get(name) is None else row[name] for row in self.rows]

        return RowTable(
            example_id=np.array([str(v) for v in column("example_id")], dtype=object),
            index=np.array(column("index"), dtype=np.int64),
            image_id=np.array([str(v) for v in column("image_id")], dtype=object),
            category=np.array([str(v) for v in column("category", "")], dtype=object),
            token=np.array(column("token"), dtype=np.int64),
            token_end=np.array(column("token_end"), dtype=np.int64),
            tokens=np.array([len(ids[str(row["example_id"])]) for row in self.rows], dtype=np.int64),
            prompt_tokens=np.asarray(prompt_tokens, dtype=np.int64),
            image_tokens=np.asarray(image_tokens, dtype=np.int64),
            occurrences=np.array(column("occurrences"), dtype=np.int64),
            token_id=np.array(
                [ids[str(row["example_id"])][row["token"]] for row in self.rows], dtype=np.int64
            ),
        )


def shards(
    generations: Path, rows: Path, images: Path, shard_examples: int, *, with_images: bool = True
) -> tuple[ShardWork, ...]:
    """Cut the work into shards of ``shard_examples`` texts, in the order of the rows.

    Raises:
        InputError: a line is not valid, a row's text is missing, or an image path leaves the folder;
            file, line and sample are named.
    """
    from probekit.families import open_image

    texts = read_generations(generations)
    grouped: dict[str, list[Json]] = {}
    seen: set[RowKey] = set()
    for number, row in read_jsonl(rows):
        where = f"{rows}, line {number}"
        if missing := [name for name in ROW_FIELDS if name not in row]:
            raise InputError(
                f"missing {', '.join(map(repr, missing))}",
                where=where,
                hint=f"These are no rows with tokens: probekit mentions {generations} --out {rows}",
            )
        example = str(row["example_id"])
        key = RowKey(example, row["index"])
        if example not in texts:
            raise InputError(
                f"row {key} belongs to no text of {generations}",
                where=where,
                hint="Rows and generations do not belong together; make the rows again.",
            )
        if key in seen:
            raise InputError(f"row {key} comes twice", where=where)
        if not _found_in(row, str(texts[example]["text"])):
            raise InputError(
                f"row {key}: {str(row['surface'])[:60]!r} does not stand there in the text",
                where=where,
                hint="Rows and generations do not belong together; make the rows again.",
            )
        if row["token"] is None or row["token_end"] is None:
            raise InputError(
                f"row {key} has no token span",
                where=where,
                hint="Rows found in plain text cannot be traced; "
                f"make them from the texts: probekit mentions {generations} --out {rows}",
            )
        seen.add(key)
        grouped.setdefault(example, []).append(row)
    if not grouped:
        raise InputError("there are no rows to trace", where=str(rows))
    if with_images:
        same_pictures((texts[name] for name in grouped), images, generations)
    found: list[ShardWork] = []
    for start in range(0, len(grouped), shard_examples):
        names = list(grouped)[start : start + shard_examples]
        forced = []
        for name in names:
            line = texts[name]
            path = inside(images, str(line["image"]), where=f"{generations}, sample {name}")
            forced.append(
                Forced(
                    example_id=name,
                    image=partial(open_image, path, sample=name) if with_images else None,
                    image_key=str(path) if with_images else "",
                    question=str(line["prompt"]),
                    continuation=tuple(line["token_ids"]),
                    targets=tuple(
                        Target(RowKey(name, row["index"]), row["token"], row["token_end"])
                        for row in grouped[name]
                    ),
                )
            )
        lengths = tuple(
            len(text.continuation) + int(texts[text.example_id].get("prompt_tokens") or UNKNOWN_PROMPT_TOKENS)
            for text in forced
        )
        lines = tuple(row for name in names for row in grouped[name])
        found.append(ShardWork(len(found), tuple(forced), lines, lengths))
    return tuple(found)


def _found_in(row: Json, text: str) -> bool:
    """Whether a row's surface stands at its place; rows that name none are taken as they are."""
    surface, start, end = row.get("surface"), row.get("start"), row.get("end")
    if not isinstance(surface, str) or not isinstance(start, int) or not isinstance(end, int):
        return True
    return text[start:end] == surface
