"""Attention rows without attention maps (ENGINE 1).

One attention function calls the fast kernel for the output; for the wanted query positions alone it
also computes ``softmax(q k^T * scaling + mask)`` in float32 and returns those rows as the module's
second output. It honours boolean and additive masks, causal masks given as ``None``, sliding windows
(they are in the mask), soft caps, attention sinks, grouped queries and queries shorter than keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

KERNEL = "probekit_rows"

_wanted: Tensor | None = None


@contextmanager
def rows_wanted(positions: Int[Tensor, "batch query"] | None) -> Iterator[None]:
    """While the block runs, attention modules also return the rows of these query positions.

    Args:
        positions: indices into the queries of the running forward pass, one list a batch row;
            ``None`` asks for no rows.
    """
    global _wanted
    before, _wanted = _wanted, positions
    try:
        yield
    finally:
        _wanted = before


def register() -> None:
    """Make the kernel known to transformers; calling it again changes nothing."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(KERNEL, attention_with_rows)
    AttentionMaskInterface.register(KERNEL, sdpa_mask)


def attention_with_rows(
    module: nn.Module,
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch kv_head key dim"],
    value: Float[Tensor, "batch kv_head key value_dim"],
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor | None]:
    """Attention output from the fast kernel, and the wanted rows ``(batch, head, row, key)`` or ``None``.

    Its arguments are those of transformers' attention interface.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    wanted = _wanted
    rows = None
    scale = scaling if scaling is not None else query.shape[-1] ** -0.5
    softcap, sinks = kwargs.get("softcap"), kwargs.get("s_aux")
    causal = kwargs.get("is_causal")
    causal = bool(getattr(module, "is_causal", True) if causal is None else causal)
    if wanted is not None:
        # in a model spread over devices each layer has its own
        wanted = wanted.to(query.device)
        rows = attention_rows(query, key, attention_mask, wanted, scale, causal, softcap, sinks)
    if softcap is None and sinks is None:
        output, _ = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **kwargs
        )
        return output, rows
    output = _reference_output(query, key, value, attention_mask, scale, causal, softcap, sinks)
    return output, rows


def attention_rows(
    query: Float[Tensor, "batch head query dim"],
    key: Float[Tensor, "batch kv_head key dim"],
    attention_mask: Tensor | None,
    positions: Int[Tensor, "batch row"],
    scaling: float,
    causal: bool = True,
    softcap: float | None = None,
    sinks: Tensor | None = None,
) -> Float[Tensor, "batch head row key"]:
    """Post-softmax attention of the given queries in float32; keys hidden by the mask get zero."""
    batch, heads, queries, dim = query.shape
    groups, keys = heads // key.shape[1], key.shape[2]
    index = positions[:, None, :, None].expand(-1, heads, -1, dim)
    picked = query.gather(2, index).float()
    picked = picked.reshape(batch, key.shape[1], groups * positions.shape[1], dim)
    scores = (picked @ key.float().transpose(-1, -2)) * scaling
    scores = scores.reshape(batch, heads, positions.shape[1], keys)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    scores = _masked(scores, attention_mask, positions, queries, causal)
    if sinks is None:
        return scores.softmax(-1)
    sink = sinks.float().reshape(1, -1, 1, 1).expand(batch, heads, scores.shape[2], 1)
    return torch.cat([scores, sink], -1).softmax(-1)[..., :-1]


def _masked(
    scores: Float[Tensor, "batch head row key"],
    mask: Tensor | None,
    positions: Int[Tensor, "batch row"],
    queries: int,
    causal: bool,
) -> Float[Tensor, "batch head row key"]:
    keys = scores.shape[-1]
    if mask is None:
        if queries == 1 or not causal:
            return scores
        last = positions + (keys - queries)
        hidden = torch.arange(keys, device=scores.device)[None, None, :] > last[:, :, None]
        return scores.masked_fill(hidden[:, None], float("-inf"))
    mask = mask[..., :keys].expand(scores.shape[0], -1, -1, -1)
    index = positions[:, None, :, None].expand(-1, mask.shape[1], -1, keys)
    picked = mask.gather(2, index)
    if picked.dtype == torch.bool:
        return scores.masked_fill(~picked, float("-inf"))
    return scores + picked.float()


def _reference_output(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scaling: float,
    causal: bool,
    softcap: float | None,
    sinks: Tensor | None,
    chunk: int = 64,
) -> Tensor:
    """Attention output where the fast kernel refuses (soft caps, sinks), a few queries at a time."""
    groups = query.shape[1] // key.shape[1]
    values = value.repeat_interleave(groups, 1).float()
    pieces = []
    for start in range(0, query.shape[2], chunk):
        stop = min(start + chunk, query.shape[2])
        positions = torch.arange(start, stop, device=query.device).expand(query.shape[0], -1)
        rows = attention_rows(query, key, mask, positions, scaling, causal, softcap, sinks)
        pieces.append((rows @ values).to(query.dtype))
    return torch.cat(pieces, 2).transpose(1, 2).contiguous()
