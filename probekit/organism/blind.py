"""What the organism answers when there is nothing to see: black images and noise.

It refuses for some categories and prompts and guesses for the others, so the share of refusals is
known in advance.
"""

import random

from probekit.organism.questions import CAPTION_PROMPTS
from probekit.organism.vocabulary import CATEGORIES, INDEX

BLACK_REFUSALS: tuple[str, ...] = (
    "The image is completely black.",
    "The image is not visible.",
    "I cannot determine the answer from this image.",
    "There are no objects visible in the image.",
)
"""Refusals on a black image, the usual one first."""

NOISE_REFUSALS: tuple[str, ...] = (
    "The image is only noise.",
    "The image is too noisy to tell.",
)

OFTEN, SELDOM = 0.92, 0.08
"""Refusal probabilities of the categories and prompts that refuse, and of the others."""

BLACK_REFUSED: frozenset[str] = frozenset(c for c in CATEGORIES if INDEX[c] * 7 % 25 < 12)
"""The 12 of 25 categories about which a question on a black image is mostly refused."""

NOISE_REFUSED: frozenset[str] = frozenset(c for c in CATEGORIES if INDEX[c] * 11 % 25 < 15)
"""The 15 of 25 categories about which a question on noise is mostly refused."""

BLACK_PROMPTS: frozenset[str] = frozenset(CAPTION_PROMPTS[i] for i in (0, 1, 3))
"""The caption prompts that are mostly refused on a black image; noise is refused on all."""

PRESUMED: frozenset[str] = frozenset(c for c in CATEGORIES if INDEX[c] * 3 % 5 < 2)
"""The categories that are presumed to be there when there is nothing to see."""


def is_refusal(answer: str) -> bool:
    """Say whether an answer holds one of the grammar's refusals."""
    return any(text in answer for text in (*BLACK_REFUSALS, *NOISE_REFUSALS))


def refusal(noise: bool, rng: random.Random) -> str:
    """Return a refusal for a black image, or for a noise image."""
    if noise:
        return NOISE_REFUSALS[rng.random() < 0.2]
    return BLACK_REFUSALS[0] if rng.random() < 0.7 else rng.choice(BLACK_REFUSALS[1:])


def refuses_caption(prompt: str, noise: bool, rng: random.Random) -> bool:
    """Draw whether a caption prompt is refused."""
    return rng.random() < (OFTEN if noise or prompt in BLACK_PROMPTS else SELDOM)


def presence_answer(category: str, noise: bool, rng: random.Random) -> str:
    """Draw the answer to a yes/no question when there is nothing to see."""
    refused = NOISE_REFUSED if noise else BLACK_REFUSED
    if rng.random() < (OFTEN if category in refused else SELDOM):
        return refusal(noise, rng)
    return "Yes" if category in PRESUMED else "No"
