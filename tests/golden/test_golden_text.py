"""Numbers of the text side with their working: CHAIR's acceptance sentences, THRONE's votes, CHAIR's share.

The project carries its own copy; where the source of the numbers lies beside the checkout, both must agree.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from probekit.mentions import Vocabulary, find
from probekit.metrics.chair import implied_non_assertive_share as share
from probekit.metrics.throne import collapse, majority

SOURCE = Path(__file__).resolve().parents[3] / "shared" / "docs" / "golden_numbers.json"

A, D, P = "absent", "disqualified", "present"
UNIT_THRONE = {
    # present from the threshold on; disqualified when neither yes nor no reaches it; else absent
    9: [A, D, D, D, D, D, D, D, D, P],
    8: [A, A, D, D, D, D, D, D, P, P],
    5: [A, A, A, A, A, P, P, P, P, P],
}
# 3 models x 3 questions; more than half of 9; more than half of the 3 votes of one chat judge
NAME_THRONE_VOTES = [9, 5, 2]


def entry(name: str) -> dict[str, Any]:
    if not SOURCE.is_file():
        pytest.skip("the source of the numbers is not beside the checkout")
    found: list[dict[str, Any]] = json.loads(SOURCE.read_text())["entries"]
    return next(one for one in found if one["id"] == name)


@pytest.mark.parametrize("threshold", UNIT_THRONE)
def test_unit_throne(threshold: int) -> None:
    """T15: counts 0 to 9 of nine votes."""
    measured = [str(collapse(yes, threshold, 9)) for yes in range(10)]
    assert measured == UNIT_THRONE[threshold]


def test_unit_throne_agrees_with_its_source() -> None:
    assert {int(key): value for key, value in entry("unit.throne")["expected"].items()} == UNIT_THRONE


def test_name_throne_votes() -> None:
    """NAME-Bench Appendix F."""
    models, questions = 3, 3
    votes = models * questions
    assert [votes, majority(votes), majority(questions)] == NAME_THRONE_VOTES


def test_name_throne_votes_agrees_with_its_source() -> None:
    assert entry("name.throne.votes")["expected"] == NAME_THRONE_VOTES


@pytest.mark.parametrize(
    ("text", "categories"),
    [
        ("train track", []),
        ("hot dog", ["hot dog"]),
        ("toilet seat", ["toilet"]),
        ("baby bird", ["bird"]),
        ("cheesecake", []),
    ],
)
def test_t18_chair(text: str, categories: list[str]) -> None:
    """T18: no train; hot dog only; toilet and no chair; bird and no person; nothing."""
    found = find(f"There is a {text} here", Vocabulary.named("chair"))
    assert [hit.category for hit in found] == categories


def test_name_chair_share_newer() -> None:
    """Printed: 28 to 37 %. Implied by the printed ranges: 19.8 to 43.8 %."""
    low, high = share(0.042, 0.089, 0.46, 0.92), share(0.05, 0.057, 0.54, 0.64)
    assert (round(low, 3), round(high, 3)) == (0.198, 0.438)
    assert low < 0.28 < 0.37 < high


def test_name_chair_share_llava() -> None:
    """Printed: about 2 %. Implied: 2.3 to 3.8 %."""
    low, high = share(0.013, 0.282, 0.46, 0.92), share(0.013, 0.282, 0.54, 0.64)
    assert (round(low, 3), round(high, 3)) == (0.023, 0.038)
    assert round(low, 2) == 0.02
