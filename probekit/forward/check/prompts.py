"""Contracts on prompts: spans cover each prompt once, and the image span is where the picture is."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from probekit.captures import GROUPS
from probekit.families.conversation import openers
from probekit.families.prompting import AFTER, BEFORE, CAPTION, HEADER, IMAGE
from probekit.families.vision import image_features
from probekit.forward.check.bench import Bench
from probekit.forward.check.report import Outcome


def spans(bench: Bench) -> Outcome:
    """Groups cover every prompt, the header ends it, context lies on its own side of the picture."""
    faults = []
    for text, eager in zip(bench.texts, bench.eager, strict=True):
        groups = eager.prompt.groups
        image = np.flatnonzero(groups == IMAGE)
        inside = groups.shape == (len(eager.prompt.ids),) and ((groups >= 0) & (groups < CAPTION)).all()
        header = np.flatnonzero(groups == HEADER)
        ends = header.size == 0 or (header == np.arange(len(groups) - header.size, len(groups))).all()
        sides = image.size == 0 or (
            (np.flatnonzero(groups == BEFORE) < image[0]).all()
            and (np.flatnonzero(groups == AFTER) > image[0]).all()
        )
        if not (inside and ends and sides):
            faults.append(text.example_id)
    names = ", ".join(name for name in GROUPS if name != "caption")
    note = f"groups: {names}" if not faults else f"broken in {', '.join(faults)}"
    return bench.found("spans", float(len(faults)), 0.0, note)


@torch.no_grad()
def image_tokens(bench: Bench) -> Outcome:
    """Each prompt holds as many image tokens as the vision tower returns for its picture."""
    vlm, name = bench.vlm, "image tokens"
    if vlm.family.cross_attention:
        return bench.skipped(name, "pictures enter through cross-attention, not as tokens")
    counts, worst = [], 0
    for text in bench.texts:
        images = [[image() for image in openers(text.image)]]
        batch = bench.prompter.encode([text.question], images)
        placed = {
            key: value.to(vlm.device, vlm.dtype if value.is_floating_point() else None)
            for key, value in batch.vision.items()
        }
        expected = _features(image_features(vlm, placed).pooler_output)
        counts.append(expected)
        worst = max(worst, abs(batch.prompts[0].image_tokens - expected))
    return bench.found(name, float(worst), 0.0, f"per picture: {', '.join(map(str, counts))}")


def image_span(bench: Bench) -> Outcome:
    """The positions whose embeddings come from elsewhere than the word table are the image span."""
    vlm, name = bench.vlm, "image span"
    if vlm.family.cross_attention:
        return bench.skipped(name, "pictures enter through cross-attention, not as tokens")
    table = vlm.model.get_input_embeddings()
    worst = 0
    for eager in bench.eager:
        ids = torch.tensor(eager.ids, device=vlm.device)
        ids = torch.where(ids < table.weight.shape[0], ids, 0)
        with torch.no_grad():
            words = table(ids).cpu()
        replaced = (words != eager.states[0]).any(-1).numpy()
        image = np.zeros(len(eager.ids), dtype=bool)
        image[np.flatnonzero(eager.prompt.groups == IMAGE)] = True
        worst = max(worst, int((replaced != image).sum()))
    return bench.found(name, float(worst), 0.0, "positions where hs[0] is not the word's embedding")


def _features(pooled: Any) -> int:
    if isinstance(pooled, Tensor):
        return pooled.numel() // pooled.shape[-1]
    return sum(_features(piece) for piece in pooled)
