"""How well simple signals tell a hallucinated mention of the organism from a true one."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import BatchFeature

from probekit.organism.caption_figures import Row
from probekit.organism.generation import Answer, Organism
from probekit.organism.measures import auroc, probe_scores
from probekit.organism.scenes import PATCHES, Scene

_USAGES = ("hedged", "depictive", "purpose", "negation")


def _forward(organism: Organism, ids: Sequence[int], pixels: torch.Tensor | None) -> Any:
    inputs = {"input_ids": torch.tensor([list(ids)])}
    if pixels is not None:
        inputs["pixel_values"] = pixels
    return organism.model(**inputs, output_hidden_states=True, output_attentions=True, use_cache=False)


@torch.no_grad()
def _signals(
    organism: Organism, scene: Scene, prompt: str, caption: Answer, rows: Sequence[Row]
) -> list[dict[str, Any]]:
    """Read the signals of one caption's mentions off one pass with and one without the image."""
    inputs: BatchFeature | dict[str, torch.Tensor] = organism.inputs([scene.image], [prompt])
    asked = inputs["input_ids"][0].tolist()
    image_token = organism.model.config.image_token_id
    seen = [i for i, token in enumerate(asked) if token == image_token]
    assert len(seen) == PATCHES**2
    unseen = [token for token in asked if token != image_token]
    full = _forward(organism, [*asked, *caption.ids], inputs["pixel_values"])
    text = _forward(organism, [*unseen, *caption.ids], None)
    log_chance = full.logits[0].float().log_softmax(-1)
    attention = torch.stack([a[0] for a in full.attentions])
    mass = attention[:, :, :, seen[0] : seen[-1] + 1].sum(-1).mean(1)
    layers = len(full.attentions)
    middle = layers // 2
    first, last = (math.floor(share * layers / 32 + 0.5) for share in (5, 18))
    signals = []
    for row in rows:
        at, bare = len(asked) + row.token, len(unseen) + row.token
        signals.append(
            {
                "hidden": full.hidden_states[middle][0, at].numpy(),
                "hidden_before": full.hidden_states[middle][0, at - 1].numpy(),
                "text": text.hidden_states[middle][0, bare].numpy(),
                "attention": -float(mass[first : last + 1, at - 1].sum()),
                "attention_self": -float(mass[first : last + 1, at].sum()),
                "attention_all_layers": -float(mass[:, at - 1].mean()),
                "nll": -float(log_chance[at - 1, caption.ids[row.token]]),
                "position": float(row.token),
            }
        )
    return signals


def probe_figures(
    organism: Organism,
    scenes: Sequence[Scene],
    prompt: str,
    captions: Sequence[Answer],
    rows: Sequence[Row],
) -> dict[str, Any]:
    """Return the AUROC of each signal, hallucinated against concrete mentions.

    Probes are logistic, at the middle layer, cross-validated with whole images held out. The
    non-assertive false-positive rates are at the threshold that flags 10 % of concrete mentions,
    for a probe that has seen only asserted mentions and for one that has seen all.
    """
    by_image: dict[int, list[Row]] = {}
    for row in rows:
        by_image.setdefault(row.image, []).append(row)
    signals: list[dict[str, Any]] = []
    ordered: list[Row] = []
    for i, found in by_image.items():
        signals += _signals(organism, scenes[i], prompt, captions[i], found)
        ordered += found
    asserted = np.array([row.asserted for row in ordered])
    wrong = np.array([row.asserted and not row.present for row in ordered])
    image = np.array([row.image for row in ordered])
    everything = np.ones(len(ordered), dtype=bool)
    column = {name: np.array([s[name] for s in signals], dtype=np.float64) for name in signals[0]}

    def area(scores: np.ndarray) -> float:
        return auroc(scores[asserted], wrong[asserted])

    figures: dict[str, Any] = {
        name: area(column[name])
        for name in ("position", "nll", "attention", "attention_self", "attention_all_layers")
    }
    for name in ("hidden", "hidden_before", "text"):
        figures[name] = area(probe_scores(column[name], wrong, image, asserted))
    for name, learn in (("unmixed", asserted), ("mixed", everything)):
        scores = probe_scores(column["hidden"], wrong, image, learn)
        threshold = np.quantile(scores[asserted & ~wrong], 0.9)
        usage = np.array([row.usage for row in ordered])
        figures[f"hidden_{name}"] = {
            "auroc": area(scores),
            "tpr": float((scores[wrong] > threshold).mean()),
            "fpr_non_assertive": float((scores[~asserted] > threshold).mean()),
            "fpr_by_usage": {
                u: float((scores[usage == u] > threshold).mean()) for u in _USAGES if (usage == u).any()
            },
        }
    return figures
