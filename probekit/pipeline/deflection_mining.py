"""Distractors for samples: what a pool of passages or pictures holds nearest the question, gold left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from probekit.benchmarks.deflection import Sample, load_samples
from probekit.benchmarks.deflection_mining import Backend, Found, Index, chunks, rerank
from probekit.errors import InputError
from probekit.files import (
    Json,
    digest,
    distinct,
    inside,
    read_json,
    read_jsonl,
    sha256,
    write_json,
    write_jsonl,
)
from probekit.metrics.answers import normalise, says

if TYPE_CHECKING:
    from PIL import Image

    from probekit.families.encoders import Encoder

Query = Literal["question", "image"]


@dataclass(frozen=True)
class Item:
    """One thing that may distract: a text, or a picture of the image folder."""

    item: str
    text: str | None = None
    image: str | None = None


@dataclass(frozen=True)
class Mining:
    """How distractors are looked for.

    Attributes:
        k: distractors added to each sample.
        depth: nearest items of the first search, from which a reranker picks.
        query: what is searched with, the question's text or its picture.
        words, overlap: length of the pieces that texts are cut into, and what neighbours share.
        backend: of the search.
    """

    k: int = 5
    depth: int = 10
    query: Query = "question"
    words: int = 100
    overlap: int = 20
    backend: Backend = "numpy"

    def __post_init__(self) -> None:
        if self.k < 1 or self.depth < self.k:
            raise InputError(f"{self.k} distractors out of the nearest {self.depth}")


def mine(
    samples: Path,
    pool: Path,
    out: Path,
    encoder: Encoder,
    *,
    index: Path,
    images: Path | None = None,
    how: Mining | None = None,
    reranker: Encoder | None = None,
) -> tuple[int, int]:
    """Write the samples with ``k`` more distractors each; the index is built once and kept.

    Never given are: items whose words or picture are a piece of the sample's gold or distractors, or its own
    picture; and texts that state one of its answers.

    Args:
        pool: JSON Lines of ``id`` and ``text``, or ``id`` and ``image``.
        index: where the embeddings are kept; with them, what they were made of.
        images: folder of the pictures of samples and pool.
        reranker: a text encoder that orders the first search's finds anew by the question's text.

    Returns:
        Number of samples, and of items in the index.

    Raises:
        InputError: a file is not valid, the index is that of another pool or encoder, or too little is left.
    """
    how = how or Mining()
    for made in (out, index, index.with_suffix(".json")):
        distinct(made, samples, pool)
    held = load_samples(samples, least_distractors=0)
    items = read_pool(pool, how.words, how.overlap)
    found = _index(pool, items, encoder, index, images, how)
    queries = _queries(held, encoder, images, how.query)
    asked = None if reranker is None else reranker.texts([sample.question for sample in held])
    lines = {str(line["id"]): line for _, line in read_jsonl(samples)}
    by_id = {item.item: item for item in items}
    written: list[Json] = []
    for number, sample in enumerate(held):
        try:
            near = found.search(
                queries[number], _depth(how, reranker), gold=banned(sample, items), backend=how.backend
            )
        except InputError as error:
            raise InputError(error.what, where=f"sample {sample.sample_id}", hint=error.hint) from None
        if reranker is not None and asked is not None:
            near = _reranked(near, by_id, reranker, asked[number], how.k)
        line = dict(lines[sample.sample_id])
        line["distractors"] = [*(line.get("distractors") or []), *(_piece(by_id[n.item]) for n in near)]
        written.append(line)
    write_jsonl(out, written)
    return len(held), len(items)


def read_pool(path: Path, words: int, overlap: int) -> tuple[Item, ...]:
    """Items of a pool; texts in pieces named ``id#number``.

    Raises:
        InputError: a line has neither text nor image, or both, an id comes twice, or texts and pictures mix.
    """
    found: list[Item] = []
    seen: set[str] = set()
    for number, line in read_jsonl(path, ("id",)):
        where, name = f"{path}, line {number}", str(line["id"])
        text, image = line.get("text"), line.get("image")
        if name in seen:
            raise InputError(f"id {name!r} comes twice", where=where)
        seen.add(name)
        if not (isinstance(text, str) and text.strip()) and not (isinstance(image, str) and image):
            raise InputError("needs a 'text' or an 'image'", where=where)
        if text is not None and image is not None:
            raise InputError("has a text and an image", where=where, hint="Give two lines.")
        if text is None:
            found.append(Item(name, image=image))
        else:
            pieces = chunks(text, length=words, overlap=overlap)
            found += [Item(f"{name}#{n}", text=piece) for n, piece in enumerate(pieces)]
    if not found:
        raise InputError("an empty pool", where=str(path))
    if len({item.image is None for item in found}) > 1:
        raise InputError(
            "texts and pictures in one pool", where=str(path), hint="Mine them one after the other."
        )
    return tuple(found)


def banned(sample: Sample, items: Sequence[Item]) -> set[str]:
    """Items that would be the gold, a distractor that is there already, or an answer."""
    pieces = (*sample.gold, *sample.distractors)
    pictures = {piece.image for piece in pieces if piece.image is not None} | {sample.image}
    texts = [words for piece in pieces if piece.text is not None and (words := normalise(piece.text))]
    found = set()
    for item in items:
        if item.text is None:
            taken = item.image in pictures
        else:
            own = f" {normalise(item.text)} "
            taken = any(f" {text} " in own or own in f" {text} " for text in texts) or any(
                says(item.text, answer) for answer in sample.answers
            )
        if taken:
            found.add(item.item)
    return found


def _depth(how: Mining, reranker: Encoder | None) -> int:
    return how.k if reranker is None else how.depth


def _index(
    pool: Path, items: Sequence[Item], encoder: Encoder, path: Path, images: Path | None, how: Mining
) -> Index:
    """The pool's embeddings, from the file where they are kept."""
    about, identity = path.with_suffix(".json"), {"pool": sha256(pool), "encoder": encoder.identity,
                                                  "words": how.words, "overlap": how.overlap}  # fmt: skip
    if path.exists() and about.exists():
        if digest(read_json(about)) != digest(identity):
            raise InputError(
                "the index is that of another pool or encoder",
                where=str(path),
                hint="Give another --index, or remove it.",
            )
        return Index.load(path)
    if items[0].text is not None:
        embeddings = encoder.texts([str(item.text) for item in items])
    else:
        embeddings = encoder.images([_opener(images, str(item.image), item.item) for item in items])
    found = Index.build([item.item for item in items], embeddings)
    found.save(path)
    write_json(about, identity)
    return found


def _queries(samples: Sequence[Sample], encoder: Encoder, images: Path | None, query: Query) -> np.ndarray:
    if query == "question":
        return encoder.texts([sample.question for sample in samples])
    for sample in samples:
        if sample.image is None:
            raise InputError("no picture to search with", where=f"sample {sample.sample_id}")
    return encoder.images([_opener(images, str(s.image), f"sample {s.sample_id}") for s in samples])


def _opener(images: Path | None, name: str, sample: str) -> partial[Image.Image]:
    from probekit.families import open_image

    if images is None:
        raise InputError("no folder of pictures", hint="Give --images.")
    return partial(open_image, inside(images, name, where=sample), sample=sample)


def _reranked(
    near: Sequence[Found], by_id: dict[str, Item], reranker: Encoder, query: np.ndarray, k: int
) -> tuple[Found, ...]:
    texts = [by_id[found.item].text for found in near]
    if any(text is None for text in texts):
        raise InputError("pictures cannot be reranked by their words", hint="Leave --rerank out.")
    second = Index.build([found.item for found in near], reranker.texts([str(text) for text in texts]))
    return rerank(query, near, second, k)


def _piece(item: Item) -> Json:
    if item.text is None:
        return {"image": item.image, "source": item.item}
    return {"text": item.text, "source": item.item}
