"""A made world for the offline half: mentions with labels, and captures that carry a known signal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    Capture,
    GroupCount,
    HiddenState,
    ImageSimilarity,
    InternalConfidence,
    TokenStatistics,
)
from probekit.labels import LabelSet, RowLabel, Usage
from probekit.rows import RowKey
from probekit.store import Header, RowTable, Shard, StoreWriter

# A busy machine must not make a property fail.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

LAYERS, HEADS, WIDTH, PROMPT, IMAGE, HEADER = 4, 3, 24, 30, 16, 3
SUBTYPES = (Usage.HEDGED, Usage.DEPICTIVE, Usage.PURPOSE, Usage.NEGATION)


@dataclass(frozen=True)
class World:
    """Rows, labels and a recipe for every capture. ``doubt`` drives all of them; 0 gives pure noise."""

    rows: RowTable
    labels: LabelSet
    doubt: np.ndarray
    subtype: np.ndarray
    seed: int

    def capture(self, capture: Capture) -> np.ndarray:
        """Values of one capture for all rows, drawn from the world's seed and the capture's name."""
        random = np.random.default_rng([self.seed, *capture.key.encode()])
        n, doubt = len(self.rows), self.doubt
        match capture:
            case AttentionMass():
                groups = len(capture.groups)
                raw = random.gamma(4.0, size=(n, capture.window, LAYERS, HEADS, groups))
                keys = np.ones((n, capture.window, groups))
                keys[:, :, :6] = np.maximum(self.capture(GroupCount(window=capture.window)), 0)
                raw *= keys[:, :, None, None]
                raw[..., 2] *= np.exp(-0.8 * doubt)[:, None, None, None]
                raw[..., 5] *= np.exp(0.8 * doubt)[:, None, None, None]
                with np.errstate(invalid="ignore"):
                    mass = raw / raw.sum(axis=-1, keepdims=True)
                mass[_before_start(self.rows, capture.window)] = np.nan
                return mass.astype(np.float32)
            case GroupCount():
                counts = np.zeros((n, capture.window, 6), np.int32)
                counts[:, :, :5] = (1, 4, IMAGE, PROMPT - IMAGE - HEADER - 5, HEADER)
                slot = np.arange(capture.window) - capture.window + 1
                counts[:, :, 5] = self.rows.token[:, None] + slot
                counts[_before_start(self.rows, capture.window)] = -1
                return counts
            case AttentionGrid():
                shape = (n, LAYERS, HEADS, capture.rows * capture.columns)
                return (random.gamma(4.0, size=shape) * np.exp(-0.4 * doubt)[:, None, None, None]).astype(
                    "f4"
                )
            case HiddenState():
                directions = random.standard_normal((1 + len(SUBTYPES), WIDTH))
                states = random.standard_normal((n, WIDTH)) + 0.5 * doubt[:, None] * directions[0]
                for code in range(len(SUBTYPES)):
                    states += 0.8 * (self.subtype == code)[:, None] * directions[1 + code]
                if capture.read_at == "prompt_last":
                    _, first = np.unique(self.rows.image_id.astype(str), return_inverse=True)
                    states = states[np.unique(first, return_index=True)[1]][first]
                return states.astype(np.float32)
            case TokenStatistics():
                nll = np.exp(random.standard_normal(n) * 0.5 + 0.6 * doubt)
                spread = np.exp(random.standard_normal(n) * 0.5 + 0.6 * doubt)
                columns = [-nll, spread, -nll * 0.9, -nll - 1, spread**2, -nll * 1.5, -nll * 4]
                return np.stack(columns, axis=1).astype(np.float32)
            case InternalConfidence():
                return (random.random((n, LAYERS + 1)) * np.exp(-0.5 * doubt)[:, None]).astype(np.float32)
            case ImageSimilarity():
                return np.tanh(random.standard_normal((n, 3)) - doubt[:, None]).astype(np.float32)
            case _:
                raise AssertionError(capture)

    def shard(self, captures: Iterable[Capture]) -> Shard:
        """All rows as one shard in memory."""
        return Shard.in_memory(0, self.rows, {c: self.capture(c) for c in captures})

    def write(self, run: Path, captures: Iterable[Capture], shards: int = 3) -> Path:
        """A run folder with a store, its text-only companion and labels; returns the store's folder."""
        chosen = tuple(dict.fromkeys(captures))
        for condition in sorted({c.condition for c in chosen} | {"full"}):
            path = run / "store" if condition == "full" else run / "store" / condition
            held = tuple(c for c in chosen if c.condition == condition)
            if not held:
                held = (TokenStatistics(),)
            values = {c: self.capture(c) for c in held}
            with StoreWriter.create(path, made_header(), held) as writer:
                for number, part in enumerate(np.array_split(np.arange(len(self.rows)), shards)):
                    writer.write(number, self.rows.take(part), {c: v[part] for c, v in values.items()})
        self.labels.save(run / "labels" / "labels.jsonl")
        return run / "store"


def made_header(**changes: object) -> Header:
    """A header that fits the made captures."""
    values: Mapping[str, object] = {
        "job_digest": "0123456789abcdef",
        "model": "made",
        "revision": "0",
        "family": "made",
        "kernel": "none",
        "dtype": "float32",
        "template_hash": "0",
        "versions": {"made": "1"},
        "replay_agreement": 1.0,
        "depth": LAYERS,
        "heads": HEADS,
        "width": WIDTH,
        "vocabulary": 100,
        "shard_examples": 8,
        "extra": {"attention_dtype": "float32"},
    }
    return Header(**{**values, **changes})  # type: ignore[arg-type]


def _before_start(rows: RowTable, window: int) -> np.ndarray:
    return rows.token[:, None] + np.arange(window) - window + 1 < 0


def build_world(
    images: int = 60,
    mentions: int = 6,
    *,
    seed: int = 0,
    signal: float = 1.0,
    late: bool = True,
    shares: tuple[float, float, float] = (0.55, 0.25, 0.2),
) -> World:
    """Images with mentions of three classes; with ``late`` the doubtful classes stand late in the text."""
    random = np.random.default_rng([seed, 7])
    n = images * mentions
    example = np.repeat(np.arange(images), mentions)
    kind = random.choice(3, size=n, p=shares)
    token = random.integers(0, 40, n) + (20 * (kind > 0) if late else 0)
    subtype = np.where(kind == 2, random.integers(0, 4, n), -1)
    present = np.where(kind == 0, True, np.where(kind == 1, False, random.random(n) < 0.4))
    rows = RowTable(
        example_id=np.asarray([f"e{at:03d}" for at in example], object),
        index=np.tile(np.arange(mentions), images),
        image_id=np.asarray([f"i{at:03d}" for at in example], object),
        category=np.asarray(["dog"] * n, object),
        token=token,
        token_end=token + random.integers(0, 2, n),
        tokens=np.full(n, 64),
        prompt_tokens=np.full(n, PROMPT),
        image_tokens=np.full(n, IMAGE),
        occurrences=random.integers(1, 3, n),
        token_id=random.integers(0, 100, n),
    )
    labels = LabelSet.of(
        RowLabel(
            RowKey(key.example_id, key.index),
            SUBTYPES[subtype[at]] if kind[at] == 2 else Usage.EXISTENTIAL,
            bool(present[at]),
            "made",
        )
        for at, key in enumerate(rows.keys)
    )
    doubt = signal * np.where(kind == 1, 1.0, np.where((kind == 2) & ~present, 0.6, 0.0))
    return World(rows, labels, doubt, subtype, seed)


@pytest.fixture(scope="session")
def make_world() -> Callable[..., World]:
    """`build_world`."""
    return build_world


@pytest.fixture(scope="session")
def world() -> World:
    """The default world."""
    return build_world()
