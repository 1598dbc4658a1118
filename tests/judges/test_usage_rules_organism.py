"""The rule judge on the captions of the procedural grammar, whose usage is known by construction."""

import random
from collections import Counter

import pytest

from probekit.judges.rules import usage
from probekit.labels import NON_ASSERTIVE

grammar = pytest.importorskip("probekit.organism.grammar")
scenes = pytest.importorskip("probekit.organism.scenes")


def test_rules_agree_with_the_grammar_on_every_mention() -> None:
    seen: Counter[str] = Counter()
    for seed in range(60):
        caption = grammar.make_caption(scenes.make_scene(seed), random.Random(seed))
        for mention in caption.mentions:
            verdict = usage(caption.text, mention.start, mention.end, mention.category)
            assert verdict.usage == mention.usage, (caption.text, mention, verdict)
            seen[mention.usage] += 1
    assert all(seen[subtype] >= 4 for subtype in NON_ASSERTIVE)
    assert seen["existential"] > 100
