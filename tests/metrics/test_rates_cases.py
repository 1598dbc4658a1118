"""The H-Rate rules on responses whose verdict follows from the rule that stands beside each."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from probekit.benchmarks.ghost import GhostCategory, GhostImage
from probekit.metrics.rates import Policy, verdict

CASES = [json.loads(line) for line in Path(__file__).with_name("rates_cases.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{c['category']}" for i, c in enumerate(CASES)])
def test_verdict_follows_the_rule(case: dict[str, Any]) -> None:
    image = GhostImage(
        "x.png",
        GhostCategory(case["category"]),
        case.get("target", "the name"),
        tuple(case.get("whitelist", ())),
    )
    policy = Policy(case.get("count_visible_yes", False), case.get("roles_need_whitelist", False))
    assert verdict(case["response"], image, policy).hallucinated is case["hallucinated"], case["rule"]


def test_the_table_covers_every_category_with_both_verdicts() -> None:
    assert len(CASES) >= 60
    held = Counter((case["category"], case["hallucinated"]) for case in CASES)
    assert all(held[category, outcome] for category in GhostCategory for outcome in (True, False))


SENTENCES = (
    "so far as i can see the name on the badge is {w} here, the rest of it being lost",
    "the upper line of this badge says {w} and the lower line of it says nothing",
    "in this picture the badge reads {w}, as far as i can see from where it hangs",
    "whoever wears this badge in the picture is called {w} by nobody that i know of",
)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_no_stop_word_is_a_name_in_small_letters(sentence: str) -> None:
    """scikit-learn's stop words, each where a name could stand; and each sentence does take a name."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    image = GhostImage("x.png", GhostCategory.TEXT_BLUR, "the name on the badge")
    taken = [w for w in ENGLISH_STOP_WORDS if verdict(sentence.format(w=w), image, Policy()).hallucinated]
    assert taken == []
    for name in ("maria", "okonkwo", "john smith", "jean-pierre dubois"):
        assert verdict(sentence.format(w=name), image, Policy()).hallucinated, name


def test_roles_in_small_letters_follow_the_policy() -> None:
    said = "below the photo of the person this badge says security guard in white letters"
    image = GhostImage("x.png", GhostCategory.TEXT_BLUR, "the name on the badge")
    listed = GhostImage("x.png", GhostCategory.TEXT_BLUR, "the name on the badge", ("SECURITY GUARD",))
    assert verdict(said, image, Policy()).hallucinated is False
    assert verdict(said, image, Policy(roles_need_whitelist=True)).hallucinated is True
    assert verdict(said, listed, Policy(roles_need_whitelist=True)).hallucinated is False
