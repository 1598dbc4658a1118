"""What an extraction will cost, before it runs: sizes against the disk, tokens, arithmetic, time."""

from __future__ import annotations

import math
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    Capture,
    ImageSimilarity,
    InternalConfidence,
    TokenStatistics,
    parse_capture,
)
from probekit.errors import InputError
from probekit.files import size_text
from probekit.jobs import ExtractJob

if TYPE_CHECKING:
    from probekit.families import Vlm
    from probekit.families.conversation import Asked
    from probekit.pipeline.work import ShardWork
    from probekit.store import Header

TIMED_TEXTS = 2
HEADROOM = 1.05
"""A store needs a little more than its arrays: chunk tables, digests, row tables."""


@dataclass(frozen=True)
class CaptureCost:
    """Cost of one capture.

    Attributes:
        key: the capture.
        shape: of one row.
        row_bytes: stored bytes a row.
        gigaflops: arithmetic a text beyond the forward pass; 0 when it only copies.
    """

    key: str
    shape: tuple[int, ...]
    row_bytes: int
    gigaflops: float


@dataclass(frozen=True)
class Plan:
    """What an extraction will cost.

    Attributes:
        captures: cost of each capture.
        texts: texts to trace.
        rows: rows to read.
        tokens: tokens the passes compute, without padding.
        distinct_tokens: those that remain when equal prefixes of equal pictures are counted once.
        forward_gigaflops: arithmetic of one bare forward pass of a mean text.
        total_bytes: size of the store.
        free_bytes: free space where it will lie.
        seconds: estimated time, from two texts traced just now.
    """

    captures: tuple[CaptureCost, ...]
    texts: int
    rows: int
    tokens: int
    distinct_tokens: int
    forward_gigaflops: float
    total_bytes: int
    free_bytes: int
    seconds: float

    def show(self) -> None:
        """Print the plan; refuse what will not fit.

        Raises:
            InputError: the store would not fit the disk.
        """
        from probekit.report.tables import Cell, Column, Table
        from probekit.report.terminal import show, standard_output

        columns = (
            Column("capture", "capture"),
            Column("shape", "shape of a row"),
            Column("bytes", "bytes a row"),
            Column("gigaflops", "GFLOP a text"),
        )
        rows: list[tuple[Cell, ...]] = [
            (cost.key, str(cost.shape), cost.row_bytes, cost.gigaflops) for cost in self.captures
        ]
        rows.append(("(bare forward pass)", "", "", self.forward_gigaflops))
        show([Table("What a row keeps", columns, tuple(rows))])
        console = standard_output()
        sharing = self.tokens / max(self.distinct_tokens, 1)
        console.print(
            f"texts {self.texts:,} · rows {self.rows:,} · tokens {self.tokens:,} · "
            f"distinct tokens {self.distinct_tokens:,} (sharing would save {sharing:.2f}x)\n"
            f"store {size_text(self.total_bytes)} of {size_text(self.free_bytes)} free · "
            f"about {_time(self.seconds)}, from {TIMED_TEXTS} texts traced just now"
        )
        self.refuse_what_does_not_fit()

    def refuse_what_does_not_fit(self) -> None:
        """Raise `InputError` when the store would not fit the free space."""
        if self.total_bytes > self.free_bytes:
            raise InputError(
                f"the store needs {size_text(self.total_bytes)}, {size_text(self.free_bytes)} are free",
                hint="Free some space, name fewer detectors, or give another --out.",
            )


def plan(job: ExtractJob) -> Plan:
    """Load the model, trace two texts, and estimate the whole job."""
    from probekit.families import Prompter, PromptTemplate
    from probekit.forward.trace import Tracer
    from probekit.pipeline.describe import load_model
    from probekit.pipeline.extract import header_of
    from probekit.pipeline.work import shards

    work = shards(job.generations, job.rows, job.images, job.shard_examples)
    captures = [parse_capture(key) for key in job.captures]
    vlm = load_model(job.model)
    prompter = Prompter(vlm, PromptTemplate(job.model.prompt))
    header = header_of(job, vlm, prompter, "full", "", float("nan"))
    tracer = Tracer(vlm, prompter, [c for c in captures if c.condition == "full"])
    first = work[0].texts[:TIMED_TEXTS]
    tracer.run(first)
    start = time.perf_counter()
    tracer.run(first)
    elapsed = time.perf_counter() - start
    texts = sum(len(shard.texts) for shard in work)
    rows = sum(len(shard.rows) for shard in work)
    tokens = sum(sum(shard.lengths) for shard in work)
    image = int(tracer.run(first[:1]).image_tokens[0])
    costs = tuple(_cost(c, header, vlm, tokens / texts, image, rows / texts) for c in captures)
    return Plan(
        captures=costs,
        texts=texts,
        rows=rows,
        tokens=tokens,
        distinct_tokens=_distinct(work),
        forward_gigaflops=2 * _parameters(vlm) * tokens / texts / 1e9,
        total_bytes=math.ceil(HEADROOM * rows * sum(cost.row_bytes for cost in costs)),
        free_bytes=shutil.disk_usage(_existing(job.out)).free,
        seconds=elapsed / len(first) * texts * len({c.condition for c in captures}),
    )


def _cost(capture: Capture, header: Header, vlm: Vlm, tokens: float, image: int, rows: float) -> CaptureCost:
    from probekit.store import row_shape

    shape = row_shape(capture, header)
    halved = header.extra["attention_dtype"] == "float16"
    item = {"attention": 2 if halved else 4, "state": vlm.dtype.itemsize}
    size = math.prod(shape) * item.get(capture.storage, 4)
    depth, width, vocabulary = vlm.depth, vlm.width, vlm.vocabulary
    queries = rows * getattr(capture, "window", 1)
    flops = 0.0
    match capture:
        case AttentionMass() | AttentionGrid():
            flops = 2 * depth * queries * tokens * (width + vlm.heads * math.prod(shape[-1:]))
        case TokenStatistics():
            flops = 2 * (tokens - image) * width * vocabulary
        case InternalConfidence():
            flops = 2 * (depth + 1) * image * width * vocabulary
        case ImageSimilarity():
            flops = 2 * image * width * vocabulary
    return CaptureCost(capture.key, shape, size, flops / 1e9)


def _parameters(vlm: Vlm) -> int:
    return sum(p.numel() for layer in vlm.layers for p in layer.parameters())


def _distinct(work: tuple[ShardWork, ...]) -> int:
    """Tokens left when texts over one picture and question share their prompt and common beginnings."""
    groups: dict[tuple[str, Asked], tuple[int, set[tuple[int, ...]]]] = {}
    for shard in work:
        images = {str(row["example_id"]): str(row["image_id"]) for row in shard.rows}
        for text, length in zip(shard.texts, shard.lengths, strict=True):
            key = images[text.example_id], text.question
            prompt = length - len(text.continuation)
            _, prefixes = groups.setdefault(key, (prompt, set()))
            prefixes.update(text.continuation[: n + 1] for n in range(len(text.continuation)))
    return sum(prompt + len(prefixes) for prompt, prefixes in groups.values())


def _existing(path: Path) -> Path:
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
