"""Hidden states averaged over a window (SPEC 0.1, 1.2)."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from probekit.captures import HiddenState, Logits
from probekit.forward.evidence import RAW_LAST, Evidence
from probekit.forward.layout import Layout


def hidden_state(
    capture: HiddenState, evidence: Evidence, layout: Layout, depth: int
) -> Float[Tensor, "row dim"]:
    """Mean state over the window's existing tokens, averaged in float32, in the model's dtype."""
    index = capture.index(depth)
    source = evidence.states[RAW_LAST if index == depth and capture.norm == "pre" else index]
    prompt = layout.prompt_lengths[layout.rows[:, 0]][:, None]
    tokens = layout.slots(capture.window)
    missing = tokens < 0
    if capture.read_at == "prompt_last":
        absolute, missing = prompt - 1, np.zeros_like(prompt, dtype=bool)
    else:
        absolute = prompt + tokens.clip(min=0) - (1 if capture.read_at == "query" else 0)
    return _mean(source, layout, absolute, missing)


def logits_state(capture: Logits, evidence: Evidence, layout: Layout, depth: int) -> Float[Tensor, "row dim"]:
    """Normed last state at the query of t*, from which the head gives the logits (ENGINE 3)."""
    prompt = layout.prompt_lengths[layout.rows[:, 0]][:, None]
    absolute = prompt + layout.rows[:, 1:2] - 1
    return _mean(evidence.states[depth], layout, absolute, np.zeros_like(absolute, dtype=bool))


def state_at(
    source: Float[Tensor, "batch position dim"], layout: Layout, offset: int
) -> Float[Tensor, "row dim"]:
    """State at t* plus ``offset`` (-1: its query)."""
    absolute = layout.prompt_lengths[layout.rows[:, 0]][:, None] + layout.rows[:, 1:2] + offset
    return _gather(source, layout, absolute)[:, 0]


def prompt_state(source: Float[Tensor, "batch position dim"], layout: Layout) -> Float[Tensor, "row dim"]:
    """State at the last prompt token of each row's text."""
    return _gather(source, layout, layout.prompt_lengths[layout.rows[:, 0]][:, None] - 1)[:, 0]


def _gather(source: Tensor, layout: Layout, absolute: np.ndarray) -> Float[Tensor, "row slot dim"]:
    place = torch.from_numpy(layout.place(layout.positions, absolute)).to(source.device)
    sequence = torch.from_numpy(layout.rows[:, 0]).to(source.device)
    return source[sequence[:, None], place]


def _mean(
    source: Tensor, layout: Layout, absolute: np.ndarray, missing: np.ndarray
) -> Float[Tensor, "row dim"]:
    picked = _gather(source, layout, absolute)
    if picked.shape[1] == 1:
        return picked[:, 0]
    weight = torch.from_numpy(~missing).to(picked.device, torch.float32)
    weight = weight / weight.sum(1, keepdim=True)
    return torch.einsum("rsd,rs->rd", picked.float(), weight).to(source.dtype)
