"""Questions about scenes, with their answers: is there one, where is it, what is there."""

import random
from dataclasses import dataclass
from typing import Literal

from probekit.organism.priors import SETTINGS
from probekit.organism.scenes import Scene, Thing
from probekit.organism.sentences import PLACES
from probekit.organism.vocabulary import CATEGORIES, INDEX, with_article

QuestionKind = Literal["random", "popular", "adversarial"]
"""How absent objects are picked: at random, the commonest, or those the scene suggests."""

CAPTION_PROMPTS: tuple[str, ...] = (
    "Provide a detailed description of this image.",
    "Describe the image.",
    "Please describe this image in detail.",
    "Please help me describe the image in detail.",
    "What is in this picture?",
)
"""Prompts the organism answers with a caption."""

LIST_PROMPT = "List the objects."

_YES_NO_FORMS: tuple[tuple[str, bool], ...] = (
    ("Is there {} in the image? Answer yes or no.", False),
    ("Is there {} in the image? Please answer yes or no.", False),
    ("Is there {} in the image?", True),
)
"""Question forms, and whether the answer is a sentence rather than one word."""


@dataclass(frozen=True)
class Question:
    """A question about `category` and its answer."""

    text: str
    category: str
    answer: str


def presence_text(category: str, form: int = 0) -> str:
    """Return the question whether a category is in the image, in one of three forms."""
    return _YES_NO_FORMS[form][0].format(with_article(category))


def _expected(category: str) -> float:
    return sum(setting.objects.get(category, 0.0) for setting in SETTINGS.values())


POPULAR: tuple[str, ...] = tuple(sorted(CATEGORIES, key=lambda c: (-_expected(c), INDEX[c])))
"""All categories, the most often drawn first."""


def _suggested(scene: Scene, category: str) -> float:
    """How strongly the scene and the objects in it suggest a category."""
    setting = SETTINGS[scene.scene_type]
    beside = any(setting.companions.get(c) == category for c in scene.present)
    return setting.objects.get(category, 0.0) + 0.5 * beside


def questions(
    scene: Scene, kind: QuestionKind = "random", pairs: int = 3, form: int = 0
) -> tuple[Question, ...]:
    """Return POPE-style questions on a scene, as many answered yes as no.

    At most `pairs` present categories are asked for, and as many absent ones of the given kind.
    The answers are `yes` and `no`. The same questions every time for a scene and a kind.
    """
    rng = random.Random(f"{scene.seed} {kind}")
    there = sorted(scene.present)
    asked = rng.sample(there, min(pairs, len(there)))
    absent = [c for c in POPULAR if c not in scene.present]
    if kind == "random":
        rng.shuffle(absent)
    elif kind == "adversarial":
        absent.sort(key=lambda c: -_suggested(scene, c))
    answers = [(c, "yes") for c in asked] + [(c, "no") for c in absent[: len(asked)]]
    return tuple(Question(presence_text(c, form), c, answer) for c, answer in answers)


EVEN_KINDS: tuple[QuestionKind, ...] = ("random", "adversarial", "popular")
HARD_KINDS: tuple[QuestionKind, ...] = ("random", "adversarial", "adversarial")


def presence_question(
    scene: Scene, rng: random.Random, kinds: tuple[QuestionKind, ...] = EVEN_KINDS
) -> Question:
    """Return a balanced yes/no question with the answer a caption writer would give.

    An absent object is of one of `kinds`, each as likely.
    """
    if rng.random() < 0.5:
        category = rng.choice(sorted(scene.present))
    else:
        kind = rng.choice(kinds)
        absent = [c for c in CATEGORIES if c not in scene.present]
        if kind == "adversarial":
            absent = sorted(absent, key=lambda c: -_suggested(scene, c))[:4]
        elif kind == "popular":
            absent = [c for c in POPULAR if c not in scene.present][:8]
        category = rng.choice(absent)
    form = rng.choice((0, 0, 1, 2))
    return Question(presence_text(category, form), category, _answer(scene, category, form))


def _answer(scene: Scene, category: str, form: int) -> str:
    thing = next((t for t in scene.things if t.category == category), None)
    if not _YES_NO_FORMS[form][1]:
        return "No" if thing is None else "Yes"
    if thing is None:
        return f"No, there is no {category}."
    return f"Yes, there is {with_article(category)} {PLACES[thing.column]}."


def place_question(scene: Scene, rng: random.Random) -> Question:
    """Return a question for the column of a clear object, or for one that is absent."""
    clear = [t for t in scene.things if not t.faint and not t.hidden] or list(scene.things)
    if rng.random() < 0.75:
        thing = rng.choice(clear)
        place = PLACES[thing.column]
        return Question(f"Where is the {thing.category}?", thing.category, place.capitalize() + ".")
    category = rng.choice([c for c in CATEGORIES if c not in scene.present])
    return Question(f"Where is the {category}?", category, f"There is no {category}.")


def list_answer(scene: Scene) -> str:
    """Return the clear objects from left to right, top to bottom, each with its column."""
    clear: list[Thing] = [t for t in scene.things if not t.faint and not t.hidden]
    ordered = sorted(clear or scene.things, key=lambda t: (t.column, t.row))
    return ", ".join(f"{t.category} {PLACES[t.column]}" for t in ordered) + "."
