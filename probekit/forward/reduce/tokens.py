"""Statistics of next-token distributions, float32 and reduced a few thousand positions at a time."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from probekit.forward.layout import Layout

BLOCK_ELEMENTS = {"cpu": 2**20, "cuda": 2**25}
"""Logits held at once: a block of positions times the vocabulary. A GPU needs large blocks to be busy;
elsewhere memory is better kept near that of the bare pass."""

COLUMNS = ("logp", "entropy", "top1_logp", "top2_logp", "logp_variance")


def block_of(vocabulary: int, device: torch.device) -> int:
    """Positions whose logits are made at once."""
    return max(1, BLOCK_ELEMENTS.get(device.type, BLOCK_ELEMENTS["cuda"]) // vocabulary)


def token_columns(
    states: Float[Tensor, "token dim"],
    tokens: Int[Tensor, " token"],
    head: Callable[[Tensor], Tensor],
    vocabulary: int,
) -> tuple[Float[Tensor, "token column"], Int[Tensor, " token"]]:
    """`COLUMNS` at every position, and the most likely word there.

    Args:
        states: normed last states at the queries.
        tokens: the word that follows each query.
        head: float32 logits of states.
        vocabulary: V, sets how many positions are done at once.
    """
    block = block_of(vocabulary, states.device)
    columns, best = [], []
    for start in range(0, len(states), block):
        logp = head(states[start : start + block]).log_softmax(-1)
        word = tokens[start : start + block, None]
        top = logp.topk(2, -1)
        entropy = -(logp.exp() * logp).nan_to_num(0.0).sum(-1)
        columns.append(
            torch.stack(
                [
                    logp.gather(1, word)[:, 0],
                    entropy,
                    top.values[:, 0],
                    top.values[:, 1],
                    logp.var(-1, correction=0),
                ],
                -1,
            )
        )
        best.append(top.indices[:, 0])
    return torch.cat(columns), torch.cat(best)


def token_statistics(
    columns: Float[Tensor, "token column"], layout: Layout
) -> Float[Tensor, "row statistic"]:
    """The capture's columns for each row: statistics at t*, and the two sums of log-probabilities."""
    lengths = torch.tensor([len(forced.continuation) for forced in layout.forced])
    starts = lengths.cumsum(0) - lengths
    rows = torch.from_numpy(layout.rows)
    places = [starts[rows[:, 0]] + shift for shift in (0, rows[:, 1], rows[:, 2] + 1)]
    offset, first, after = (place.to(columns.device) for place in places)
    logp = columns[:, 0].double()
    sums = torch.cat([logp.new_zeros(1), logp.cumsum(0)])
    span = (sums[after] - sums[first]).float()
    cumulative = (sums[after] - sums[offset]).float()
    here = columns[first]
    return torch.cat([here, span[:, None], cumulative[:, None]], -1)
