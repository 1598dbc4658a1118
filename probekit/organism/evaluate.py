"""The figures of a trained organism, measured on scenes it has not seen."""

from pathlib import Path
from typing import Any

import torch

from probekit.organism.answer_figures import blind_figures, question_figures
from probekit.organism.caption_figures import caption_figures, find_rows
from probekit.organism.generation import Organism
from probekit.organism.images import scene_seed
from probekit.organism.probe_figures import probe_figures
from probekit.organism.questions import CAPTION_PROMPTS
from probekit.organism.scenes import make_scene

EVALUATION_SEED = 540
"""Seed of the card's images, as `write_images` takes it."""


def rounded(value: Any) -> Any:
    """Return a copy with every float rounded to four decimals."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return value


def evaluate(folder: Path, images: int = 600, seed: int = EVALUATION_SEED) -> dict[str, Any]:
    """Return the card's figures for the model in `folder`, on `images` fresh scenes.

    Takes about two minutes on one core for 600 images.
    """
    torch.set_num_threads(1)
    organism = Organism.load(folder)
    scenes = [make_scene(scene_seed(seed, i)) for i in range(images)]
    prompt = CAPTION_PROMPTS[0]
    captions = organism.answer([s.image for s in scenes], [prompt] * len(scenes))
    rows = find_rows(scenes, captions)
    figures: dict[str, Any] = rounded(
        {
            "captions": caption_figures(scenes, captions, rows),
            "auroc": probe_figures(organism, scenes, prompt, captions, rows),
            "questions": question_figures(organism, scenes[: min(images, 250)]),
            "blind": blind_figures(organism),
        }
    )
    return figures
