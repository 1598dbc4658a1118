"""Evidence in the image tokens: Internal Confidence and GLSim (SPEC 2.3, 2.4).

A softmax over the vocabulary at every layer and image position is the dear part. It is computed once
an image, a block of positions at a time, for all object ids of all rows together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cosine_similarity

from probekit.captures import ImageSimilarity, InternalConfidence
from probekit.forward.evidence import Evidence
from probekit.forward.layout import Layout
from probekit.forward.reduce.states import prompt_state, state_at
from probekit.forward.reduce.tokens import block_of


def object_ids(layout: Layout, sequence: int) -> list[list[int]]:
    """Generated ids of the object's sub-tokens, for each target of a text."""
    forced = layout.forced[sequence]
    return [list(forced.continuation[t.token : t.token_end + 1]) for t in forced.targets]


def lens_columns(captures: Sequence[InternalConfidence]) -> tuple[InternalConfidence, ...]:
    """Distinct lens captures in a fixed order: the columns of `largest_probabilities`."""
    return tuple(dict.fromkeys(captures))


def largest_probabilities(
    states: Float[Tensor, "n dim"],
    ids: Sequence[Sequence[int]],
    captures: Sequence[InternalConfidence],
    head: Callable[[Tensor], Tensor],
    vocabulary: int,
) -> Float[Tensor, "target column"]:
    """Largest probability, over image positions, of each object under the lens; one column a capture."""
    union = sorted({word for row in ids for word in row})
    place = {word: number for number, word in enumerate(union)}
    words = torch.tensor(union, device=states.device)
    best = torch.zeros(len(captures), len(union), device=states.device)
    block = block_of(vocabulary, states.device)
    for start in range(0, len(states), block):
        logits = head(states[start : start + block])
        wanted = logits[:, words]
        for number, capture in enumerate(captures):
            if capture.topk is None:
                probability = (wanted - logits.logsumexp(-1, keepdim=True)).exp()
            else:
                top = logits.topk(min(capture.topk, logits.shape[-1]), -1).values
                probability = (wanted - top.logsumexp(-1, keepdim=True)).exp()
                probability = torch.where(wanted >= top[:, -1:], probability, 0.0)
            best[number] = torch.maximum(best[number], probability.amax(0))
    result = torch.empty(len(ids), len(captures), device=states.device)
    for row, row_ids in enumerate(ids):
        columns = [place[word] for word in row_ids]
        for number, capture in enumerate(captures):
            chosen = columns[:1] if capture.ids == "first" else columns
            result[row, number] = best[number, chosen].amax()
    return result


def internal_confidence(
    capture: InternalConfidence, evidence: Evidence, captures: Sequence[InternalConfidence]
) -> Float[Tensor, "row layer"]:
    """Largest lens probability of each row's object in every hs[0..L]."""
    column = list(captures).index(capture)
    return torch.stack([layer[:, column] for layer in evidence.lens], -1)


def image_similarity(
    capture: ImageSimilarity,
    evidence: Evidence,
    layout: Layout,
    depth: int,
    head: Callable[[Tensor], Tensor],
    vocabulary: int,
) -> Float[Tensor, "row term"]:
    """GLSim's terms: the paper's and the released code's global cosine, and the local one."""
    before, last = evidence.states[depth - 1], evidence.states[depth]
    object_before, object_last = state_at(before, layout, -1).float(), state_at(last, layout, -1).float()
    prompt_before, prompt_last = prompt_state(before, layout).float(), prompt_state(last, layout).float()
    local = torch.full((len(layout.rows),), float("nan"), device=last.device)
    row = 0
    for sequence, states in enumerate(evidence.image):
        ids = [words[0] for words in object_ids(layout, sequence)]
        if ids and len(states):
            scores = _lens_logp(states, ids, head, vocabulary)
            k = min(capture.k, len(states))
            picked = states[scores.topk(k, 0).indices].float()
            vectors = object_before[row : row + len(ids)]
            local[row : row + len(ids)] = cosine_similarity(picked, vectors[None], -1).mean(0)
        row += len(ids)
    return torch.stack(
        [
            cosine_similarity(prompt_last, object_before, -1),
            cosine_similarity(prompt_before, object_last, -1),
            local,
        ],
        -1,
    )


def _lens_logp(
    states: Float[Tensor, "n dim"], ids: Sequence[int], head: Callable[[Tensor], Tensor], vocabulary: int
) -> Float[Tensor, "n target"]:
    words = torch.tensor(list(ids), device=states.device)
    block = block_of(vocabulary, states.device)
    pieces = []
    for start in range(0, len(states), block):
        logits = head(states[start : start + block])
        pieces.append(logits[:, words] - logits.logsumexp(-1, keepdim=True))
    return torch.cat(pieces)
