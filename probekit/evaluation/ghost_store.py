"""What the traced pass of a Ghost run keeps, and every answer's evidence from its stores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from probekit.captures import (
    GROUPS,
    PAIRED,
    STATISTICS,
    AttentionMass,
    Capture,
    Divergence,
    GroupCount,
    TokenStatistics,
)
from probekit.detectors import DETECTORS, VARIANTS
from probekit.errors import InputError, StoreError
from probekit.evaluation.image_attention import image_attention, scaled_blocks
from probekit.scores.vns import vns
from probekit.store import Header, Store

STORE, POSITIONS, COST = "store", "positions", "trace.jsonl"
"""Names in a run's folder: a row an answer, a row a token, what each shard took."""

POSITION_CAPTURES = (TokenStatistics(), Divergence("blind"))
"""What is kept of every token of every answer."""

ALWAYS = (AttentionMass(), GroupCount(), TokenStatistics())
"""What is kept of every answer whatever detectors are asked for, where the family has it."""

LEFT_OUT = "left_out"
"""Key of the header: captures that the family cannot serve, with the reason."""

QUANTITIES: Mapping[str, str] = {
    "image_mass": "image mass",
    "vns": "VNS, nats",
    "kl_first": "KL to black, first token, nats",
    "entropy": "entropy, first token, nats",
    "entropy_mean": "entropy, mean, nats",
    "nll": "NLL, mean, nats",
    "nll_black": "NLL on black, nats",
    "tokens": "tokens",
}
"""What is followed over tone, in words with the unit. Means are over the tokens of an answer; image mass is
that of the last prompt token; NLL on black is of the same answer. What is read at the first token does not
depend on how long an answer is."""


def captures_of(detectors: Sequence[str] | None) -> tuple[Capture, ...]:
    """What is kept of an answer: `ALWAYS`, and what detectors read in a pass with the picture.

    Args:
        detectors: names; ``None`` for all of them. What needs another pass is never kept.

    Raises:
        InputError: a detector is unknown.
    """
    known = {**DETECTORS, **VARIANTS}
    for name in detectors or ():
        if name not in known:
            raise InputError(f"no detector is called {name!r}", hint=f"Known: {', '.join(known)}.")
    names = list(DETECTORS) if detectors is None else list(detectors)
    needed = [c for name in names for c in known[name].needs() if c.condition == "full"]
    return tuple(dict.fromkeys([*ALWAYS, *needed]))


@dataclass(frozen=True)
class GhostTrace:
    """Every answer's evidence, in the order that was asked for; NaN where there is none.

    Attributes:
        values: one column for each of `QUANTITIES`.
        layers: image mass of each layer, mean over heads; ``None`` where attention rows are missing.
        blocks: inclusive range of blocks behind ``image_mass``.
        traced: which answers are in the store.
        header: of the store.
    """

    values: Mapping[str, Float[np.ndarray, " answer"]]
    layers: Float[np.ndarray, "answer layer"] | None
    blocks: tuple[int, int]
    traced: np.ndarray
    header: Header


def load_trace(folder: Path, examples: Sequence[str]) -> GhostTrace:
    """Read a run's stores.

    Args:
        folder: the run's.
        examples: ``IMAGE-toneN``; one that was not traced, such as an empty answer, is NaN throughout.

    Raises:
        StoreError: a store is damaged or they do not belong together.
    """
    store, positions = Store.open(folder / STORE), Store.open(folder / POSITIONS)
    if store.header.job_digest != positions.header.job_digest:
        raise StoreError("the two stores are of different passes", where=str(folder), hint="Trace again.")
    place = {example: n for n, example in enumerate(examples)}
    values = {name: np.full(len(examples), math.nan) for name in QUANTITIES}
    for shard in positions.shards():
        statistics, moved = (shard[capture] for capture in POSITION_CAPTURES)
        ids = shard.rows.example_id
        # rows of one answer follow each other; index 0 begins it
        starts = np.flatnonzero(shard.rows.index == 0).tolist()
        for start, stop in zip(starts, [*starts[1:], len(ids)], strict=True):
            at = place.get(str(ids[start]))
            if at is not None:
                answer = _answer(statistics[start:stop], moved[start:stop])
                for name, value in answer.items():
                    values[name][at] = value
    traced = ~np.isnan(values["tokens"])
    depth = store.header.depth
    blocks = scaled_blocks(depth)
    layers = None
    if ALWAYS[0] in store.own:
        layers = np.full((len(examples), depth), math.nan)
        for shard in store.shards():
            mass = shard[ALWAYS[0]][:, -1, :, :, GROUPS.index("image")].astype(np.float64)
            rows = [(n, place[str(e)]) for n, e in enumerate(shard.rows.example_id) if str(e) in place]
            own, where = [n for n, _ in rows], [n for _, n in rows]
            values["image_mass"][where] = image_attention(mass[own], blocks)
            layers[where] = mass[own].mean(axis=2)
    return GhostTrace(values, layers, blocks, traced, store.header)


def _answer(
    statistics: Float[np.ndarray, "t statistic"], moved: Float[np.ndarray, "t pair"]
) -> dict[str, float]:
    """The quantities of one answer that come from its tokens."""
    entropy = statistics[:, STATISTICS.index("entropy")].astype(np.float64)
    logp = statistics[:, STATISTICS.index("logp")].astype(np.float64)
    other = moved[:, PAIRED.index("other_logp")].astype(np.float64)
    kl = moved[:, PAIRED.index("kl")].astype(np.float64)
    return {
        "vns": vns(kl),
        "kl_first": float(kl[0]),
        "entropy": float(entropy[0]),
        "entropy_mean": float(entropy.mean()),
        "nll": float(-logp.mean()),
        "nll_black": float(-other.mean()),
        "tokens": float(len(logp)),
    }
