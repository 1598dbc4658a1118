"""The embedded default model: a tiny LLaVA whose world, captions and weights are all made here.

This page imports neither torch nor transformers. Training and evaluation live in
`probekit.organism.recipe` and `probekit.organism.evaluate`, the commands in
`probekit.cli.organism`.
"""

from pathlib import Path

from probekit.organism.blind import BLACK_REFUSALS, NOISE_REFUSALS, is_refusal
from probekit.organism.grammar import Caption, make_caption
from probekit.organism.images import scene_seed, write_images
from probekit.organism.questions import (
    CAPTION_PROMPTS,
    Question,
    QuestionKind,
    presence_text,
    questions,
)
from probekit.organism.scenes import Scene, black_image, make_scene, noise_image
from probekit.organism.sentences import Mention
from probekit.organism.usage import UsageName, usage_of
from probekit.organism.vocabulary import CATEGORIES, FORMS

__all__ = [
    "BLACK_REFUSALS",
    "CAPTION_PROMPTS",
    "CATEGORIES",
    "FORMS",
    "NOISE_REFUSALS",
    "Caption",
    "Mention",
    "Question",
    "QuestionKind",
    "Scene",
    "UsageName",
    "black_image",
    "is_refusal",
    "make_caption",
    "make_scene",
    "noise_image",
    "path",
    "presence_text",
    "questions",
    "scene_seed",
    "usage_of",
    "write_images",
]


def path() -> Path:
    """Return the folder of the shipped weights, as `from_pretrained` takes it."""
    return Path(__file__).parent / "weights"
