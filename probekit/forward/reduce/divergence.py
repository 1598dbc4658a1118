"""How far two next-token distributions of the same text lie apart, on the device, block by block."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from probekit.errors import ContractError
from probekit.forward.reduce.tokens import block_of


def divergences(
    full: Float[Tensor, "token dim"],
    other: Float[Tensor, "token dim"],
    head: Callable[[Tensor], Tensor],
    vocabulary: int,
) -> Float[Tensor, " token"]:
    """KL(full || other) in nats over the full vocabulary, in float32. Tri-Layer Eq. 2 and 3; SPEC 4.2.

    Rows are matched on the text's own index: the same text after another picture stands elsewhere.

    Args:
        full: normed last states at the queries of a text under the full picture.
        other: the same queries of the same text under another picture.
        head: float32 logits of states.
        vocabulary: V, sets how many positions are done at once.
    """
    if full.shape != other.shape:
        raise ContractError(f"states of shape {tuple(full.shape)} against {tuple(other.shape)}")
    block = block_of(2 * vocabulary, full.device)
    found = []
    for start in range(0, len(full), block):
        part = slice(start, start + block)
        p, q = head(full[part]).log_softmax(-1), head(other[part]).log_softmax(-1)
        # a word that the full picture rules out adds nothing, whatever the other one says
        terms = torch.where(p.isneginf(), torch.zeros_like(p), p.exp() * (p - q))
        found.append(terms.sum(-1))
    if not found:
        return full.new_zeros(0, dtype=torch.float32)
    # rounding may leave a few 1e-8 below zero
    return torch.cat(found).clamp_min(0.0)
