"""How the organism answers questions: on scenes, on black images, on noise."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8

from probekit.organism.blind import BLACK_REFUSED, NOISE_REFUSED, is_refusal
from probekit.organism.generation import Organism
from probekit.organism.questions import (
    CAPTION_PROMPTS,
    Question,
    QuestionKind,
    presence_text,
    questions,
)
from probekit.organism.scenes import Scene, black_image, noise_image
from probekit.organism.vocabulary import CATEGORIES

_KINDS: tuple[QuestionKind, ...] = ("random", "popular", "adversarial")


@torch.no_grad()
def prefers_yes(organism: Organism, scenes: Sequence[Scene], asked: Sequence[Question]) -> list[bool]:
    """Say for each scene and question whether ` Yes` is likelier than ` No`."""
    encode = organism.processor.tokenizer
    yes, no = (encode(w, add_special_tokens=False).input_ids[0] for w in (" Yes", " No"))
    answers: list[bool] = []
    for at in range(0, len(asked), 100):
        inputs = organism.inputs(
            [scene.image for scene in scenes[at : at + 100]],
            [question.text for question in asked[at : at + 100]],
        )
        logits = organism.model(**inputs, use_cache=False).logits[:, -1]
        answers += (logits[:, yes] > logits[:, no]).tolist()
    return answers


def question_figures(organism: Organism, scenes: Sequence[Scene]) -> dict[str, Any]:
    """Return accuracy and share of yes on balanced questions of the three kinds."""
    figures: dict[str, Any] = {}
    for kind in _KINDS:
        pairs = [(scene, q) for scene in scenes for q in questions(scene, kind)]
        said = prefers_yes(organism, [s for s, _ in pairs], [q for _, q in pairs])
        right = [yes == (q.answer == "yes") for yes, (_, q) in zip(said, pairs, strict=True)]
        figures[kind] = {
            "questions": len(pairs),
            "accuracy": sum(right) / len(right),
            "yes_share": sum(said) / len(said),
        }
    return figures


def _refusals(organism: Organism, image: UInt8[np.ndarray, "72 72 3"], prompts: Sequence[str]) -> list[bool]:
    answers = organism.answer([image] * len(prompts), prompts, longest=60)
    return [is_refusal(answer.text) for answer in answers]


def blind_figures(organism: Organism) -> dict[str, Any]:
    """Return the shares of refusals on black and on noise, beside what the grammar asks for."""
    asked = [presence_text(category) for category in CATEGORIES]
    figures: dict[str, Any] = {}
    for name, image, refused in (
        ("black", black_image(), BLACK_REFUSED),
        ("noise", noise_image(0), NOISE_REFUSED),
    ):
        said = _refusals(organism, image, asked)
        meant = [category in refused for category in CATEGORIES]
        answers = organism.answer([image] * len(CAPTION_PROMPTS), CAPTION_PROMPTS, longest=60)
        figures[name] = {
            "questions_refused": sum(said) / len(said),
            "questions_meant_to_be_refused": sum(meant) / len(meant),
            "questions_as_meant": sum(s == m for s, m in zip(said, meant, strict=True)) / len(said),
            "captions_refused": sum(is_refusal(a.text) for a in answers) / len(answers),
            "usual_caption_answer": answers[0].text.strip(),
        }
    return figures
