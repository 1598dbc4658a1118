"""The rule stage of deflection judging, the rates, gating's inputs and the reading of responses."""

import math
from pathlib import Path

import pytest
from scipy import stats

from probekit.benchmarks.deflection import Evidence, Outcome, Sample, Scenario
from probekit.errors import InputError
from probekit.files import write_jsonl
from probekit.metrics.deflection import agreement, evaluate
from probekit.metrics.deflection_responses import load_responses
from probekit.metrics.deflection_rules import judge

RIGHT, WRONG, NONE = Outcome.CORRECT, Outcome.INCORRECT, Outcome.NOT_ATTEMPTED


@pytest.mark.parametrize(
    ("response", "answers", "expected"),
    [
        # Exact and normalised match.
        ("Paris", ("Paris",), RIGHT),
        ("the paris!", ("Paris",), RIGHT),
        ("It was built in Paris, France.", ("Paris",), RIGHT),
        ("Seven", ("7",), RIGHT),
        ("1889", ("1889", "eighteen eighty-nine"), RIGHT),
        # Another answer, or the right one denied.
        ("Rome", ("Paris",), WRONG),
        ("It is not Paris.", ("Paris",), WRONG),
        ("Parisian", ("Paris",), WRONG),
        ("1890", ("1889",), WRONG),
        # Refusals, alone, with talk beside them, and about the evidence.
        ("I cannot answer.", ("Paris",), NONE),
        ("I'm sorry, but I can't determine that.", ("Paris",), NONE),
        ("I am not sure. The picture shows a tower.", ("Paris",), NONE),
        ("I do not know whether it is Paris.", ("Paris",), NONE),
        ("Not enough information.", ("Paris",), NONE),
        ("The evidence does not hold the answer.", ("Paris",), NONE),
        ("There is no mention of the city in the text.", ("Paris",), NONE),
        ("The passages are irrelevant to the question.", ("Paris",), NONE),
        ("Unknown", ("Paris",), NONE),
        ("", ("Paris",), NONE),
        ("...", ("Paris",), NONE),
        # A guess after a refusal is an attempt.
        ("I can't tell, but it could be Rome.", ("Paris",), WRONG),
        ("I cannot tell, but Rome comes to mind.", ("Paris",), WRONG),
        ("It is a tower, but I cannot tell where.", ("Paris",), NONE),
        ("The text does not say; however, it is probably Paris.", ("Paris",), RIGHT),
        ("I don't know. If I had to guess, Rome.", ("Paris",), WRONG),
        ("I am not sure. It is Paris.", ("Paris",), RIGHT),
    ],
)
def test_rules(response: str, answers: tuple[str, ...], expected: Outcome) -> None:
    assert judge(response, answers).outcome is expected


def test_the_right_answer_unknown_is_answered_by_it() -> None:
    assert judge("Unknown", ("unknown",)).outcome is RIGHT
    with pytest.raises(InputError):
        judge("x", ())


def test_synonyms_count() -> None:
    assert judge("a motorbike", ("motorcycle",), {"motorcycle": ("motorbike",)}).outcome is RIGHT


def test_rates_sum_to_one_and_leave_out_the_unjudged() -> None:
    outcomes = [RIGHT, RIGHT, WRONG, NONE, None]
    found = evaluate(outcomes, [Scenario.ORACLE] * 5, list("abcde"), draws=0).scenarios[Scenario.ORACLE]
    assert (found.accuracy.value, found.hallucination.value, found.deflection.value) == (0.5, 0.25, 0.25)
    assert found.given_attempt.value == pytest.approx(1 / 3)
    assert (found.n, found.unjudged) == (4, 1)


def test_no_attempt_has_no_hallucination_rate_among_attempts() -> None:
    found = evaluate([NONE, NONE], [Scenario.ADVERSARIAL] * 2, ["a", "b"], draws=0).scenarios[
        Scenario.ADVERSARIAL
    ]
    assert math.isnan(found.given_attempt.value)
    assert found.deflection.value == 1


def test_reliability_gap_is_one_for_a_model_that_declines_when_it_should() -> None:
    scenarios = [Scenario.ORACLE, Scenario.ADVERSARIAL] * 3
    ideal = evaluate([RIGHT, NONE] * 3, scenarios, list("aabbcc"))
    silent = evaluate([NONE, NONE] * 3, scenarios, list("aabbcc"))
    assert ideal.reliability_gap is not None
    assert silent.reliability_gap is not None
    assert (ideal.reliability_gap.value, silent.reliability_gap.value) == (1.0, 0.0)
    assert evaluate([RIGHT], [Scenario.ORACLE], ["a"]).reliability_gap is None


def test_intervals_pair_the_scenarios_by_sample() -> None:
    """Where both scenarios always do the same, every resample has a gap of exactly zero: the eight samples
    differ in nothing, and the interval says how many of those not seen may."""
    outcomes = [NONE, NONE, RIGHT, RIGHT, NONE, NONE, WRONG, WRONG] * 2
    scenarios = [Scenario.ORACLE, Scenario.ADVERSARIAL] * 8
    gap = evaluate(outcomes, scenarios, list("aabbccddeeffgghh")).reliability_gap
    assert gap is not None
    unseen = stats.binomtest(0, 8).proportion_ci(method="wilson").high
    assert (gap.n, gap.groups) == (8, 8)
    assert (gap.value, gap.low, gap.high) == pytest.approx((0, -unseen, unseen))


def test_a_difference_counts_the_samples_under_both_scenarios_and_their_groups_beside_them() -> None:
    """Six groups of four samples; one sample lacks an outcome under one of the two scenarios, and two that
    make up a seventh group were only asked under the other."""
    both = [(f"g{n // 4}", f"s{n}", s) for n in range(24) for s in (Scenario.ORACLE, Scenario.ADVERSARIAL)]
    rows = [*both, ("g6", "s24", Scenario.ORACLE), ("g6", "s25", Scenario.ORACLE)]
    outcomes: list[Outcome | None] = [
        NONE if s is Scenario.ADVERSARIAL and int(sample[1:]) % 3 else RIGHT for _, sample, s in rows
    ]
    outcomes[5] = None
    groups, samples, scenarios = ([row[at] for row in rows] for at in range(3))
    gap = evaluate(outcomes, scenarios, groups, samples=samples, draws=50).reliability_gap
    assert gap is not None
    assert (gap.n, gap.groups) == (23, 6)
    with pytest.raises(InputError):
        evaluate(outcomes, scenarios, groups, samples=samples[1:])


def test_a_rate_on_which_all_samples_agree_is_not_certain() -> None:
    found = evaluate([RIGHT] * 12, [Scenario.ORACLE] * 12, list("aabbccddeeff")).scenarios[Scenario.ORACLE]
    never = stats.binomtest(0, 6).proportion_ci(method="wilson").high
    assert (found.hallucination.low, found.hallucination.high) == pytest.approx((0.0, never))
    assert (found.accuracy.low, found.accuracy.high) == pytest.approx((1 - never, 1.0))


def test_agreement_of_rules_and_judge() -> None:
    found = agreement([RIGHT, WRONG, NONE, None], [RIGHT, NONE, NONE, RIGHT])
    assert (found.n, found.share) == (3, pytest.approx(2 / 3))
    # Chance: (1/3)(1/3) + (1/3)(0) + (1/3)(2/3) = 1/3.
    assert found.kappa == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    assert found.table[WRONG, NONE] == 1
    assert math.isnan(agreement([None], [RIGHT]).share)


SAMPLES = (Sample("s-1", "Where?", None, ("Paris",), (Evidence("g"),), (Evidence("d"),)),)


def test_a_recorded_outcome_overrules_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write_jsonl(
        path,
        [
            {"example_id": "s-1-oracle", "text": "Rome"},
            {"sample_id": "s-1", "scenario": "adversarial", "text": "Rome", "outcome": "correct"},
        ],
    )
    first, second = load_responses(path, SAMPLES)
    assert (first.scenario, first.outcome, first.judged) == (Scenario.ORACLE, WRONG, None)
    assert (second.rules, second.outcome) == (WRONG, RIGHT)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"example_id": "z-oracle", "text": "x"}, "line 1.*'z'"),
        ({"sample_id": ["s-1"], "scenario": "oracle", "text": "x"}, r"line 1.*\['s-1'\]"),
        ({"example_id": "s-1-both", "text": "x"}, "line 1.*'both'"),
        ({"example_id": "s-1-oracle", "text": "x", "outcome": "right"}, "line 1.*'right'"),
        ({"example_id": "s-1-oracle", "text": None}, "line 1.*must be a text"),
    ],
)
def test_faulty_responses_name_file_and_line(tmp_path: Path, line: dict[str, object], message: str) -> None:
    path = tmp_path / "r.jsonl"
    write_jsonl(path, [line])
    with pytest.raises(InputError, match=message):
        load_responses(path, SAMPLES)
