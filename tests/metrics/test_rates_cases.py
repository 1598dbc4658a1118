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
