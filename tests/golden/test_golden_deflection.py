"""Numbers of VLM-DeflectionBench's results table: third rates by complement, drops between scenarios."""

import json
from pathlib import Path

import pytest

from probekit.benchmarks.deflection import Outcome, Scenario
from probekit.metrics.deflection import evaluate

SHARED = Path(__file__).resolve().parents[3] / "shared"

TABLE = {
    # model: oracle acc, hall; realistic acc, hall; adversarial defl, hall (all in %)
    "Ovis2-34B": (66.5, 27.8, 49.1, 43.3, 38.7, 58.1),
    "GPT-5": (73.1, 12.6, 59.5, 25.5, 61.2, 34.7),
    "Claude-Opus-4": (49.1, 9.2, 32.1, 8.5, 88.3, 11.1),
    "Gemini-2.5-Pro": (59.8, 13.9, 51.0, 20.5, 76.1, 22.2),
    "Qwen-2.5-VL-32B": (61.0, 33.9, 45.2, 49.5, 13.7, 83.9),
    "Mistral-Small-3.1": (42.6, 10.3, 23.5, 14.9, 83.8, 15.6),
}
THIRD = {
    # oracle defl, realistic defl, adversarial acc; drop of accuracy from oracle to realistic
    "Ovis2-34B": (5.7, 7.6, 3.2, 17.4),
    "GPT-5": (14.3, 15.0, 4.1, 13.6),
    "Claude-Opus-4": (41.7, 59.4, 0.6, 17.0),
    "Gemini-2.5-Pro": (26.3, 28.5, 1.7, 8.8),
    "Qwen-2.5-VL-32B": (5.1, 5.3, 2.4, 15.8),
    "Mistral-Small-3.1": (47.1, 61.6, 0.6, 19.1),
}


@pytest.mark.parametrize("model", TABLE)
def test_third_rates_by_complement_and_drops(model: str) -> None:
    """1,000 responses a scenario, of which the printed rates fix two outcomes; the rest is the third."""
    oracle_acc, oracle_hall, real_acc, real_hall, adv_defl, adv_hall = (round(10 * v) for v in TABLE[model])
    outcomes: list[Outcome | None] = []
    for right, wrong in (
        (oracle_acc, oracle_hall),
        (real_acc, real_hall),
        (1000 - adv_defl - adv_hall, adv_hall),
    ):
        rest = 1000 - right - wrong
        outcomes += [Outcome.CORRECT] * right + [Outcome.INCORRECT] * wrong + [Outcome.NOT_ATTEMPTED] * rest
    scenarios = [s for s in (Scenario.ORACLE, Scenario.REALISTIC, Scenario.ADVERSARIAL) for _ in range(1000)]
    found = evaluate(outcomes, scenarios, [str(i % 1000) for i in range(3000)], draws=0)
    oracle, real, adversarial = (found.scenarios[s] for s in dict.fromkeys(scenarios))
    assert 100 * adversarial.deflection.value == pytest.approx(TABLE[model][4])
    derived = (oracle.deflection, real.deflection, adversarial.accuracy)
    assert [round(100 * e.value, 1) for e in derived] == list(THIRD[model][:3])
    assert round(100 * (oracle.accuracy.value - real.accuracy.value), 1) == THIRD[model][3]
    assert found.reliability_gap is not None
    assert 100 * found.reliability_gap.value == pytest.approx(TABLE[model][4] - THIRD[model][0])
    attempts = TABLE[model][0] + TABLE[model][1]
    assert oracle.given_attempt.value == pytest.approx(TABLE[model][1] / attempts)


def test_one_drop_lies_outside_the_stated_range() -> None:
    """The paper states drops of 10 to 20 points."""
    assert [model for model, third in THIRD.items() if not 10 <= third[3] <= 20] == ["Gemini-2.5-Pro"]


def test_no_golden_number_of_this_paper_is_left_out() -> None:
    path = SHARED / "docs" / "golden_numbers.json"
    if not path.exists():
        pytest.skip("the golden numbers are not beside the checkout")
    ids = {entry["id"] for entry in json.loads(path.read_text())["entries"]}
    assert {i for i in ids if i.startswith("defl.")} <= {"defl.complement", "defl.drop"}
