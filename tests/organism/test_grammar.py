"""Captions: spans and usages are exact, every kind occurs, nothing is said twice."""

import random
from collections import Counter

import pytest

from probekit.organism.grammar import Caption, make_caption
from probekit.organism.scenes import Scene, make_scene
from probekit.organism.usage import usage_of
from probekit.organism.vocabulary import FORMS, find_forms

COUNT = 600


@pytest.fixture(scope="module")
def captions() -> list[tuple[Scene, Caption]]:
    rng = random.Random(11)
    scenes = [make_scene(5_000 + seed) for seed in range(COUNT)]
    return [(scene, make_caption(scene, rng)) for scene in scenes]


def test_same_caption_from_the_same_state() -> None:
    scene = make_scene(9)
    assert make_caption(scene, random.Random(4)) == make_caption(scene, random.Random(4))


def test_usage_is_exact(captions: list[tuple[Scene, Caption]]) -> None:
    for _, caption in captions:
        for mention in caption.mentions:
            assert usage_of(caption.text, mention.start, mention.end) == mention.usage, caption


def test_vocabulary_finds_every_mention_and_no_other(
    captions: list[tuple[Scene, Caption]],
) -> None:
    for _, caption in captions:
        written = [(m.start, m.end, m.category) for m in caption.mentions]
        assert list(find_forms(caption.text)) == written
        for mention in caption.mentions:
            form = caption.text[mention.start : mention.end].lower()
            assert FORMS[form] == mention.category


def test_every_kind_occurs_often_enough(captions: list[tuple[Scene, Caption]]) -> None:
    kinds = Counter(m.usage for _, caption in captions for m in caption.mentions)
    for kind in ("hedged", "depictive", "purpose", "negation"):
        assert kinds[kind] >= 60, kinds
    asserted = [
        m.category in scene.present
        for scene, caption in captions
        for m in caption.mentions
        if m.usage == "existential"
    ]
    assert 0.10 <= 1 - sum(asserted) / len(asserted) <= 0.25


def test_hedges_follow_smudges(captions: list[tuple[Scene, Caption]]) -> None:
    hedged = [any(m.usage == "hedged" for m in caption.mentions) for _, caption in captions]
    smudged = [scene.smudge is not None for scene, _ in captions]
    assert not any(h and not s for h, s in zip(hedged, smudged, strict=True))
    assert sum(hedged) > 0.9 * sum(smudged)


def test_absence_by_usage(captions: list[tuple[Scene, Caption]]) -> None:
    absent: dict[str, list[bool]] = {}
    for scene, caption in captions:
        for m in caption.mentions:
            absent.setdefault(m.usage, []).append(m.category not in scene.present)
    assert all(absent["negation"])
    assert 0.3 <= sum(absent["hedged"]) / len(absent["hedged"]) <= 0.45


def test_nothing_is_asserted_twice(captions: list[tuple[Scene, Caption]]) -> None:
    for _, caption in captions:
        named = [m.category for m in caption.mentions if m.usage == "existential"]
        assert len(set(named)) == len(named), caption.text


def test_hallucinations_come_early_and_late(captions: list[tuple[Scene, Caption]]) -> None:
    order = [
        rank / (len(asserted) - 1)
        for scene, caption in captions
        for asserted in [[m for m in caption.mentions if m.usage == "existential"]]
        if len(asserted) > 1
        for rank, m in enumerate(asserted)
        if m.category not in scene.present
    ]
    assert sum(place < 0.6 for place in order) > 0.2 * len(order)


def test_usage_of_refuses_a_span_outside_the_text() -> None:
    with pytest.raises(ValueError, match="not inside"):
        usage_of("A cat.", 4, 9)


def test_usage_of_a_sentence_ignores_its_neighbours() -> None:
    text = "No cars are visible. There is a bench on the left for people to sit on. A dog is nearby."
    usages = [usage_of(text, start, end) for start, end, _ in find_forms(text)]
    assert usages == ["negation", "existential", "purpose", "existential"]
