"""What a traced pass keeps of each answer of DeflectionBench, and how it is read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from probekit.captures import STATISTICS, AttentionMass, Capture, HiddenState, TokenStatistics
from probekit.store import Store

STATISTIC = TokenStatistics()
STATES: tuple[tuple[str, HiddenState], ...] = (
    ("hidden_mid", HiddenState(layer="mid", read_at="query", window=1)),
    ("hidden_last", HiddenState(layer="last", read_at="query", window=1)),
)
"""States of the last prompt token, from which the answer's first token is predicted."""
ATTENTION = AttentionMass(window=1)


def captures_of(*, attention: bool) -> tuple[Capture, ...]:
    """What is kept; attention only where every layer has rows over the text."""
    return (STATISTIC, *(state for _, state in STATES), *((ATTENTION,) if attention else ()))


@dataclass(frozen=True)
class DeflectionTrace:
    """Evidence of some answers, in their order.

    Attributes:
        statistics: of the first token and the whole answer, columns as in `STATISTICS`.
        tokens: length of each answer.
        states: by name, the state that predicts the first token.
        attention: where the first token's query looks, mean over layers and heads, by key group; ``None``
            when the model has layers without rows.
        prompt_tokens: m of each.
        image_tokens: positions of its pictures.
        replay: share of the first answers' tokens that the pass gives back greedily.
    """

    statistics: Float[np.ndarray, "answer statistic"]
    tokens: Int[np.ndarray, " answer"]
    states: dict[str, Float[np.ndarray, "answer dim"]]
    attention: Float[np.ndarray, "answer group"] | None
    prompt_tokens: Int[np.ndarray, " answer"]
    image_tokens: Int[np.ndarray, " answer"]
    replay: float

    def confidences(self) -> dict[str, Float[np.ndarray, " answer"]]:
        """Training-free confidences, higher for surer: names say what is read.

        ``nll`` is minus the mean negative log-probability of the answer's tokens, ``total`` their sum,
        ``first`` that of the first token; ``entropy`` is minus the entropy and ``margin`` the difference of
        the two likeliest log-probabilities, both at the first token.
        """
        column = {name: self.statistics[:, place] for place, name in enumerate(STATISTICS)}
        return {
            "nll": column["span_logp"] / self.tokens,
            "total": column["span_logp"],
            "first": column["logp"],
            "entropy": -column["entropy"],
            "margin": column["top1_logp"] - column["top2_logp"],
        }


def load_trace(path: Path, examples: Sequence[str]) -> DeflectionTrace:
    """Read the evidence of these examples, in this order.

    Raises:
        StoreError: an example is not in the store.
    """
    store = Store.open(path)
    rows = store.rows()
    place = {str(name): at for at, name in enumerate(rows.example_id)}
    chosen = rows.take(np.array([place[name] for name in examples], dtype=np.int64))
    attention = None
    if not store.missing([ATTENTION]):
        attention = store.gather(ATTENTION, chosen)[:, -1].astype(np.float64).mean(axis=(1, 2))
    return DeflectionTrace(
        statistics=store.gather(STATISTIC, chosen).astype(np.float64),
        tokens=chosen.tokens,
        states={name: store.gather(state, chosen).astype(np.float64) for name, state in STATES},
        attention=attention,
        prompt_tokens=chosen.prompt_tokens,
        image_tokens=chosen.image_tokens,
        replay=store.header.replay_agreement,
    )
