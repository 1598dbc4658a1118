"""A tiny three-layer model's store: all kinds of captures, rows near the start of their caption too."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    Capture,
    GroupCount,
    HiddenState,
    InternalConfidence,
    Logits,
    TokenStatistics,
)
from probekit.store import Bfloat16, Header, RowTable, StoreWriter, row_shape

HEADER = Header(
    job_digest="0123456789abcdef",
    model="tiny",
    revision="r1",
    family="llava",
    kernel="sdpa",
    dtype="bfloat16",
    template_hash="t1",
    versions={"torch": "2"},
    replay_agreement=1.0,
    depth=3,
    heads=4,
    width=8,
    vocabulary=11,
    shard_examples=4,
    extra={},
)
CAPTURES: tuple[Capture, ...] = (
    HiddenState("mid"),
    AttentionMass(),
    GroupCount(),
    AttentionGrid(),
    TokenStatistics(),
    InternalConfidence(),
    Logits("factored"),
)
TEXT_ONLY = (HiddenState("mid", text_only=True),)


class Tiny:
    """Makes headers, rows and arrays; the same arguments give the same values."""

    header = HEADER
    captures = CAPTURES
    text_only = TEXT_ONLY

    @staticmethod
    def rows(number: int, n: int = 6) -> RowTable:
        """``n`` mentions, t* = 0, 1, ..., two an example; ids are not ASCII."""
        ordinal = np.arange(n, dtype=np.int64)
        return RowTable(
            example_id=np.array([f"ex{number:03d}-é{i // 2}" for i in range(n)], dtype=object),
            index=ordinal % 2,
            image_id=np.array([f"{number:06d}"] * n, dtype=object),
            category=np.array(["traffic light"] * n, dtype=object),
            token=ordinal,
            token_end=ordinal + 1,
            tokens=np.full(n, n + 3),
            prompt_tokens=np.full(n, 20),
            image_tokens=np.full(n, 9),
            occurrences=np.ones(n, dtype=np.int64),
            token_id=ordinal + 5,
        )

    @staticmethod
    def array(
        capture: Capture, rows: RowTable, seed: int = 0, header: Header = HEADER
    ) -> np.ndarray | Bfloat16:
        """Values that are legal for ``capture``."""
        random = np.random.default_rng(seed)
        shape = (len(rows), *row_shape(capture, header))
        if capture.storage == "state":
            return Bfloat16.round(random.normal(size=shape).astype(np.float32))
        if isinstance(capture, AttentionMass | GroupCount):
            missing = rows.token[:, None] + np.arange(-capture.window + 1, 1) < 0
            if isinstance(capture, GroupCount):
                return np.where(missing[..., None], -1, random.integers(0, 30, shape))
            mass = random.dirichlet(np.ones(shape[-1]), shape[:-1])
            return np.where(missing[:, :, None, None, None], np.nan, mass).astype(np.float32)
        return random.uniform(0.01, 0.9, shape).astype(np.float32)

    @classmethod
    def arrays(
        cls, number: int, rows: RowTable, captures: tuple[Capture, ...] = CAPTURES
    ) -> Mapping[Capture, np.ndarray | Bfloat16]:
        """One array for each capture."""
        return {c: cls.array(c, rows, 100 * number + i) for i, c in enumerate(captures)}

    @classmethod
    def head(cls) -> Mapping[str, np.ndarray | Bfloat16]:
        """An output head with everything a family may have."""
        random = np.random.default_rng(7)
        return {
            "weight": Bfloat16.round(random.normal(size=(cls.header.vocabulary, cls.header.width)) * 9),
            "bias": random.normal(size=cls.header.vocabulary).astype(np.float32),
            "scale": np.float32(0.5).reshape(1),
            "softcap": np.float32(3.0).reshape(1),
        }

    @classmethod
    def fill(cls, path: Path, shards: int = 4) -> None:
        """Write what is not there yet: the store, its head, its shards."""
        with StoreWriter.create(path, cls.header, cls.captures) as writer:
            writer.write_once("head", cls.head())
            for number in range(shards):
                if number not in writer.done:
                    rows = cls.rows(number)
                    writer.write(number, rows, cls.arrays(number, rows))

    @classmethod
    def fill_companion(cls, path: Path, shards: int = 4) -> None:
        """Write the companion pass: the same rows, in another order, in other shards."""
        with StoreWriter.create(path / "text_only", cls.header, cls.text_only) as writer:
            rows = RowTable.concatenate([cls.rows(number) for number in range(shards)])
            order = np.random.default_rng(3).permutation(len(rows))
            for number, part in enumerate(np.array_split(order, 3)):
                mine = rows.take(part)
                writer.write(number, mine, cls.arrays(50 + number, mine, cls.text_only))


@pytest.fixture(scope="session")
def tiny() -> type[Tiny]:
    return Tiny


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store written in one go; not to be changed."""
    path = tmp_path_factory.mktemp("unbroken") / "store"
    Tiny.fill(path)
    return path


@pytest.fixture
def store_path(unbroken: Path, tmp_path: Path) -> Path:
    """A copy of the unbroken store, to be changed at will."""
    return Path(shutil.copytree(unbroken, tmp_path / "store"))
