"""What a traced pass keeps of each answer of DeflectionBench, and how it is read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from probekit.captures import STATISTICS, AttentionMass, Capture, GroupCount, HiddenState, TokenStatistics
from probekit.detectors import DETECTORS, LookbackRatio
from probekit.store import RowTable, Store

LENGTH = "length"
STATISTIC = TokenStatistics()
STATES: tuple[tuple[str, HiddenState], ...] = (
    ("hidden_mid", HiddenState(layer="mid", read_at="query", window=1)),
    ("hidden_last", HiddenState(layer="last", read_at="query", window=1)),
)
"""States of the last prompt token, from which the answer's first token is predicted."""
ATTENTION, COUNT = AttentionMass(), GroupCount()
"""Masses and sizes of the key groups; at a first token the last slot is the only one."""
FROM_ATTENTION = ("svar", "vade_proxy")
"""Training-free detectors that the attention serves. PAS is 0 at a first token, where no word of the answer
has been written; IC and GLSim need captures over every position of every picture, which are not kept."""
LOOKBACK = LookbackRatio(window=1)
"""Features of a probe of the answer's first token."""


def captures_of(*, attention: bool) -> tuple[Capture, ...]:
    """What is kept; attention only where every layer has rows over the text."""
    return (STATISTIC, *(state for _, state in STATES), *((ATTENTION, COUNT) if attention else ()))


@dataclass(frozen=True)
class DeflectionTrace:
    """Evidence of some answers, in their order.

    Attributes:
        statistics: of the first token and the whole answer, columns as in `STATISTICS`.
        tokens: length of each answer.
        states: by name, what probes are fitted on: states that predict the first token, and where there is
            attention its Lookback ratios.
        attention: where the first token's query looks, mean over layers and heads, by key group; ``None``
            when the model has layers without rows.
        prompt_tokens: m of each.
        image_tokens: positions of its pictures.
        scores: by name, detectors read from the attention; higher is more likely wrong.
        replay: share of the first answers' tokens that the pass gives back greedily.
    """

    statistics: Float[np.ndarray, "answer statistic"]
    tokens: Int[np.ndarray, " answer"]
    states: dict[str, Float[np.ndarray, "answer dim"]]
    attention: Float[np.ndarray, "answer group"] | None
    prompt_tokens: Int[np.ndarray, " answer"]
    image_tokens: Int[np.ndarray, " answer"]
    replay: float
    scores: Mapping[str, Float[np.ndarray, " answer"]] = field(default_factory=dict)

    def confidences(self) -> dict[str, Float[np.ndarray, " answer"]]:
        """Training-free confidences, higher for surer: names say what is read.

        ``nll`` is minus the mean negative log-probability of the answer's tokens, ``total`` their sum,
        ``first`` that of the first token; ``entropy`` is minus the entropy and ``margin`` the difference of
        the two likeliest log-probabilities, both at the first token. Then detectors of the attention,
        negated, and `LENGTH`, minus the number of tokens: a control: short answers may be right oftener.
        """
        column = {name: self.statistics[:, place] for place, name in enumerate(STATISTICS)}
        return {
            "nll": column["span_logp"] / self.tokens,
            "total": column["span_logp"],
            "first": column["logp"],
            "entropy": -column["entropy"],
            "margin": column["top1_logp"] - column["top2_logp"],
            **{name: -values for name, values in self.scores.items()},
            LENGTH: -self.tokens.astype(np.float64),
        }


@dataclass(frozen=True)
class _Gathered:
    """Chosen rows with their arrays, as detectors read them."""

    rows: RowTable
    arrays: Mapping[Capture, np.ndarray]

    def __getitem__(self, capture: Capture) -> np.ndarray:
        return self.arrays[capture]


def load_trace(path: Path, examples: Sequence[str]) -> DeflectionTrace:
    """Read the evidence of these examples, in this order.

    Raises:
        StoreError: an example is not in the store.
    """
    store = Store.open(path)
    rows = store.rows()
    place = {str(name): at for at, name in enumerate(rows.example_id)}
    chosen = rows.take(np.array([place[name] for name in examples], dtype=np.int64))
    attention, scores = None, {}
    states = {name: store.gather(state, chosen).astype(np.float64) for name, state in STATES}
    if not store.missing([ATTENTION, COUNT]):
        held = _Gathered(chosen, {capture: store.gather(capture, chosen) for capture in (ATTENTION, COUNT)})
        attention = held[ATTENTION][:, -1].astype(np.float64).mean(axis=(1, 2))
        scores = {name: DETECTORS[name].features(held)[:, 0] for name in FROM_ATTENTION}
        states["lookback"] = LOOKBACK(held).astype(np.float64)
    return DeflectionTrace(
        statistics=store.gather(STATISTIC, chosen).astype(np.float64),
        tokens=chosen.tokens,
        states=states,
        attention=attention,
        prompt_tokens=chosen.prompt_tokens,
        image_tokens=chosen.image_tokens,
        replay=store.header.replay_agreement,
        scores=scores,
    )
