"""Questions are balanced, true, and of the kind they claim."""

import random

import pytest

from probekit.organism.blind import (
    BLACK_REFUSALS,
    BLACK_REFUSED,
    NOISE_REFUSED,
    is_refusal,
    presence_answer,
)
from probekit.organism.questions import (
    QuestionKind,
    list_answer,
    place_question,
    presence_question,
    questions,
)
from probekit.organism.scenes import make_scene


@pytest.mark.parametrize("kind", ["random", "popular", "adversarial"])
def test_balanced_and_true(kind: QuestionKind) -> None:
    for scene in (make_scene(seed) for seed in range(60)):
        asked = questions(scene, kind)
        assert asked == questions(scene, kind)
        assert sum(q.answer == "yes" for q in asked) * 2 == len(asked)
        assert all((q.answer == "yes") == (q.category in scene.present) for q in asked)
        assert len({q.category for q in asked}) == len(asked)


def test_adversarial_absentees_fit_the_scene() -> None:
    scenes = [make_scene(seed) for seed in range(100)]
    absent = {
        kind: [q.category for s in scenes for q in questions(s, kind) if q.answer == "no"]
        for kind in ("random", "adversarial")
    }
    assert absent["random"] != absent["adversarial"]


def test_training_answers_are_true() -> None:
    rng = random.Random(2)
    for scene in (make_scene(seed) for seed in range(200)):
        question = presence_question(scene, rng)
        assert question.answer.startswith("Yes") == (question.category in scene.present)
        where = place_question(scene, rng)
        assert where.answer.startswith("There is no") == (where.category not in scene.present)
        assert list_answer(scene).endswith(".")


def test_refusals_have_the_stated_share() -> None:
    rng = random.Random(0)
    for noise, refused in ((False, BLACK_REFUSED), (True, NOISE_REFUSED)):
        for category in ("person", "bench", "boat", "tv"):
            said = [is_refusal(presence_answer(category, noise, rng)) for _ in range(300)]
            assert (sum(said) > 150) == (category in refused)
    assert not is_refusal("Yes")
    assert is_refusal(" " + BLACK_REFUSALS[1])
