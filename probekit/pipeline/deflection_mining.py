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
from probekit.pipeline.deflection_leaks import Passage, leaks

if TYPE_CHECKING:
    from PIL import Image

    from probekit.families.encoders import Encoder

Query = Literal["question", "image"]


@dataclass(frozen=True)
class Item:
    """One thing that may distract: a text, or a picture of the image folder.

    Attributes:
        item: its name; a piece of a text is ``id#number``.
        document: the id of the line it was read from.
    """

    item: str
    text: str | None = None
    image: str | None = None
    document: str = ""


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

    Never given are: texts that share words enough with the gold, any piece of a document that does, and texts
    that state one of the sample's answers (see `probekit.pipeline.deflection_leaks`); pictures of the gold,
    of its distractors and the sample's own, by any name under which the same file or the same bytes lie.

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
    taken = banned(held, items, images)
    written: list[Json] = []
    for number, sample in enumerate(held):
        try:
            near = found.search(
                queries[number], _depth(how, reranker), gold=taken[number], backend=how.backend
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
            found.append(Item(name, image=image, document=name))
        else:
            pieces = chunks(text, length=words, overlap=overlap)
            found += [Item(f"{name}#{n}", text=piece, document=name) for n, piece in enumerate(pieces)]
    if not found:
        raise InputError("an empty pool", where=str(path))
    if len({item.image is None for item in found}) > 1:
        raise InputError(
            "texts and pictures in one pool", where=str(path), hint="Mine them one after the other."
        )
    return tuple(found)


def banned(
    samples: Sequence[Sample], items: Sequence[Item], images: Path | None = None
) -> tuple[frozenset[str], ...]:
    """For each sample the items that would be its gold, a distractor that is there already, or an answer.

    Args:
        images: folder of the pictures, which are compared by place and by content.

    Raises:
        InputError: a picture of the pool, or of a sample, is not there.
    """
    texts = [Passage(item.item, item.document, item.text) for item in items if item.text is not None]
    if texts:
        return leaks(samples, texts)
    held: dict[Path | str, set[str]] = {}
    for item in items:
        for mark in _marks(images, str(item.image), f"item {item.item}"):
            held.setdefault(mark, set()).add(item.item)
    found = []
    for sample in samples:
        pieces = (*sample.gold, *sample.distractors)
        names = {piece.image for piece in pieces if piece.image is not None} | {sample.image} - {None}
        marks = {mark for name in names for mark in _marks(images, str(name), f"sample {sample.sample_id}")}
        found.append(frozenset(item for mark in marks for item in held.get(mark, ())))
    return tuple(found)


def _marks(images: Path | None, name: str, where: str) -> tuple[Path, str]:
    """By what a picture is known: where its file lies, links followed, and what it holds."""
    path = _place(images, name, where).resolve()
    if not path.is_file():
        raise InputError(f"no picture {path}", where=where, hint="Check --images and the file names.")
    return path, sha256(path)


def _depth(how: Mining, reranker: Encoder | None) -> int:
    return how.k if reranker is None else how.depth


def _index(
    pool: Path, items: Sequence[Item], encoder: Encoder, path: Path, images: Path | None, how: Mining
) -> Index:
    """The pool's embeddings, from the file where they are kept."""
    about, identity = path.with_suffix(".json"), {"pool": sha256(pool), "encoder": encoder.identity,
                                                  "words": how.words, "overlap": how.overlap}  # fmt: skip
    if pictured := items[0].text is None:
        seen = [sha256(_place(images, str(item.image), f"item {item.item}")) for item in items]
        identity["pictures"] = digest(seen)
    if path.exists() and about.exists():
        if digest(read_json(about)) != digest(identity):
            raise InputError(
                "the index is that of another pool or encoder"
                + (", or of pictures that have changed since" if pictured else ""),
                where=str(path),
                hint="Give another --index, or remove it.",
            )
        return Index.load(path)
    if not pictured:
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

    return partial(open_image, _place(images, name, sample), sample=sample)


def _place(images: Path | None, name: str, where: str) -> Path:
    if images is None:
        raise InputError("no folder of pictures", hint="Give --images.")
    return inside(images, name, where=where)


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
