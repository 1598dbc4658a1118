"""Distractors by nearness: an index of embeddings that is built once and never gives the gold back.

Embeddings come from any encoder, text or image; encoding is not done here.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from zipfile import BadZipFile

import numpy as np
from jaxtyping import Float

from probekit.errors import InputError
from probekit.files import write_atomically

Backend = Literal["numpy", "faiss", "hnsw"]
"""``numpy`` and ``faiss`` compare with every item; ``hnsw`` walks a graph and may miss one, and compares with
every item where the graph reaches too few."""
Nearest = Callable[[np.ndarray, int], list[tuple[int, float]]]
"""Places and cosines of the items nearest a unit query, nearest first, ties by place."""


@dataclass(frozen=True)
class Found:
    """One neighbour of a query: its id and the cosine."""

    item: str
    cosine: float


@dataclass(frozen=True)
class Index:
    """Unit embeddings of everything that may distract, with their ids.

    Attributes:
        engines: what searches, by backend; made at its first query and kept.
    """

    ids: tuple[str, ...]
    unit: Float[np.ndarray, "item dim"]
    engines: dict[Backend, Nearest] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def build(cls, ids: Sequence[str], embeddings: Float[np.ndarray, "item dim"]) -> "Index":
        """Normalise embeddings to unit length.

        Raises:
            InputError: an id is repeated, a length differs, or an embedding is zero or not finite.
        """
        if len(ids) != len(embeddings) or len(set(ids)) != len(ids):
            raise InputError(f"{len(set(ids))} distinct ids for {len(embeddings)} embeddings")
        return cls(tuple(ids), _unit(embeddings, ids))

    def save(self, path: Path) -> None:
        """Write ids and embeddings as one ``.npz`` without pickles."""
        import io

        buffer = io.BytesIO()
        np.savez(buffer, ids=np.array(self.ids, dtype=np.str_), unit=self.unit)
        write_atomically(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> "Index":
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as held:
                return cls(tuple(str(i) for i in held["ids"]), held["unit"])
        except FileNotFoundError:
            raise InputError("no such file", where=str(path)) from None
        except (KeyError, ValueError, OSError, EOFError, BadZipFile) as error:
            raise InputError(f"not an index: {error}", where=str(path)) from None

    def search(
        self,
        query: Float[np.ndarray, "dim"],
        k: int,
        *,
        gold: Collection[str] = (),
        backend: Backend = "numpy",
    ) -> tuple[Found, ...]:
        """The ``k`` nearest items by cosine, gold excluded; ties by order of the index.

        Raises:
            InputError: fewer than ``k`` items are left, or the query has another width.
        """
        banned = set(gold)
        left = len(self.ids) - sum(item in banned for item in self.ids)
        if k > left:
            raise InputError(
                f"{k} distractors asked of {left} items that are not gold", hint="Widen the index."
            )
        if query.shape[0] != self.unit.shape[1]:
            raise InputError(f"a query of width {query.shape[0]} in an index of width {self.unit.shape[1]}")
        unit = _unit(query[None].astype(self.unit.dtype), ["query"])[0]
        found: list[Found] = []
        if backend not in self.engines:
            self.engines[backend] = _ENGINES[backend](self.unit)
        for at, cosine in self.engines[backend](unit, min(k + len(banned), len(self.ids))):
            if self.ids[at] not in banned:
                found.append(Found(self.ids[at], cosine))
            if len(found) == k:
                break
        return tuple(found)


def rerank(
    query: Float[np.ndarray, "dim"], candidates: Sequence[Found], index: Index, k: int
) -> tuple[Found, ...]:
    """Order candidates of a first search by a second encoder's index, keep the best ``k``."""
    place = {item: i for i, item in enumerate(index.ids)}
    missing = [c.item for c in candidates if c.item not in place]
    if missing:
        raise InputError(f"{missing[0]!r} is not in the second index")
    unit = _unit(query[None], ["query"])[0]
    scored = [Found(c.item, float(index.unit[place[c.item]] @ unit)) for c in candidates]
    return tuple(sorted(scored, key=lambda found: -found.cosine)[:k])


def chunks(text: str, *, length: int = 100, overlap: int = 20) -> tuple[str, ...]:
    """Cut a text into pieces of ``length`` words that share ``overlap`` words with the next."""
    if not 0 <= overlap < length:
        raise InputError(f"an overlap of {overlap} words in chunks of {length}")
    tokens = text.split()
    starts = range(0, max(1, len(tokens) - overlap), length - overlap)
    return tuple(" ".join(tokens[start : start + length]) for start in starts) if tokens else ()


def _numpy(unit: Float[np.ndarray, "item dim"]) -> Nearest:
    def nearest(query: np.ndarray, k: int) -> list[tuple[int, float]]:
        cosines = unit @ query
        return [(int(at), float(cosines[at])) for at in np.argsort(-cosines, kind="stable")[:k]]

    return nearest


def _faiss(unit: Float[np.ndarray, "item dim"]) -> Nearest:
    try:
        import faiss
    except ImportError:
        raise InputError("faiss is not installed", hint=_INSTALL.format("faiss-cpu")) from None
    index = faiss.IndexFlatIP(unit.shape[1])
    index.add(np.ascontiguousarray(unit, dtype=np.float32))

    def nearest(query: np.ndarray, k: int) -> list[tuple[int, float]]:
        cosines, places = index.search(np.ascontiguousarray(query[None], dtype=np.float32), k)
        return _ordered(places[0], cosines[0])

    return nearest


def _hnsw(unit: Float[np.ndarray, "item dim"]) -> Nearest:
    try:
        import hnswlib
    except ImportError:
        raise InputError("hnswlib is not installed", hint=_INSTALL.format("hnswlib")) from None
    exact = _numpy(unit)
    index = hnswlib.Index(space="ip", dim=unit.shape[1])
    index.init_index(max_elements=len(unit), ef_construction=_BREADTH, M=16, random_seed=0)
    # one thread: the graph, and so what is found, is the same every time
    index.add_items(np.ascontiguousarray(unit, dtype=np.float32), num_threads=1)

    def nearest(query: np.ndarray, k: int) -> list[tuple[int, float]]:
        index.set_ef(max(_BREADTH, 2 * k))
        try:
            places, distances = index.knn_query(query[None].astype(np.float32), k=k, num_threads=1)
        except RuntimeError:
            # the graph reaches fewer than k items from here, as where most of them are asked for
            return exact(query, k)
        return _ordered(places[0], 1.0 - distances[0])

    return nearest


_BREADTH = 200
_INSTALL = "pip install {}, or 'vlm-probekit[mining]'; or take the backend numpy."
_ENGINES: dict[Backend, Callable[[np.ndarray], Nearest]] = {"numpy": _numpy, "faiss": _faiss, "hnsw": _hnsw}


def _ordered(places: np.ndarray, cosines: np.ndarray) -> list[tuple[int, float]]:
    found = [(int(at), float(cosine)) for at, cosine in zip(places, cosines, strict=True) if at >= 0]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _unit(values: Float[np.ndarray, "item dim"], ids: Sequence[str]) -> Float[np.ndarray, "item dim"]:
    length = np.linalg.norm(values, axis=1, keepdims=True)
    bad = np.flatnonzero(~np.isfinite(length[:, 0]) | (length[:, 0] == 0))
    if bad.size:
        raise InputError("an embedding is zero or not finite", where=f"item {ids[int(bad[0])]}")
    return np.asarray(values / length)
