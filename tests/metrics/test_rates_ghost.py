"""H-Rate and H-Score over tones: averages, spread, dissociation, reading responses, scoring by wording."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from probekit.benchmarks.ghost import GhostCategory, GhostImage, Manifest
from probekit.errors import InputError
from probekit.files import write_jsonl
from probekit.metrics.rates import (
    GhostResponse,
    Policy,
    dissociation,
    evaluate,
    h_rate,
    load_responses,
    with_rule_scores,
)
from probekit.metrics.rates_score import RUBRIC, rule_score
from probekit.metrics.rates_tones import population_sd, tone_curve
from probekit.metrics.rates_verdict import RateVerdict, final_fields

BADGE = GhostImage("images/b.png", GhostCategory.TEXT_BLUR, "the name on the badge", ("SECURITY",))
DIAL = GhostImage("images/d.png", GhostCategory.ANALOG_DECOY, "the time on the clock", ("bar",))
MIC = GhostImage("images/m.png", GhostCategory.HUMAN_INTENT, "a microphone")


def test_rate_leaves_out_and_counts_the_undecided() -> None:
    found = h_rate([RateVerdict(True, ""), RateVerdict(False, ""), RateVerdict(None, "")], ["a", "b", "c"])
    assert (found.value, found.n, found.excluded) == (0.5, 2, 1)


def test_average_is_over_tones_not_over_responses() -> None:
    # Tone 1 has four responses, tone 2 only one: 0.25 and 1.0 average to 0.625, not to 2/5.
    found = tone_curve(np.array([1.0, 0.0, 0.0, 0.0, 1.0]), [1, 1, 1, 1, 2], list("abcda"))
    assert found.average.value == pytest.approx(0.625)
    assert found.deviation == pytest.approx(0.375)
    assert {t: e.n for t, e in found.points.items()} == {1: 4, 2: 1}


def test_a_model_that_never_claims_is_not_known_to_never_claim() -> None:
    """Twenty pictures, five answers each, none hallucinated: the interval is that of twenty draws."""
    images = [f"{n % 20}" for n in range(100)]
    tones = [1 + n // 20 for n in range(100)]
    found = tone_curve(np.zeros(100), tones, images, share=True, draws=50)
    end = stats.binomtest(0, 20).proportion_ci(method="wilson").high
    for point in (*found.points.values(), found.average):
        assert (point.value, point.low, point.high) == pytest.approx((0, 0, end))
    assert math.isnan(tone_curve(np.ones(100), tones, images, draws=50).average.low)


def test_spread_over_tones_is_the_population_sd() -> None:
    assert population_sd([1.0, 3.0]) == 1.0
    assert math.isnan(population_sd([]))


def test_a_tone_without_valid_responses_makes_the_average_missing() -> None:
    found = tone_curve(np.array([1.0, np.nan]), [1, 2], ["a", "a"])
    assert math.isnan(found.average.value)
    assert math.isnan(found.points[2].value)
    assert math.isnan(found.deviation)


def responses() -> tuple[GhostResponse, ...]:
    texts = {1: "No.", 2: "I cannot read it.", 3: "The name is Smith.", 4: "Smith", 5: "JOHN SMITH"}
    held = [GhostResponse(BADGE, tone, text, 4 if tone > 2 else 1) for tone, text in texts.items()]
    held += [GhostResponse(MIC, tone, "Final: PRESENT" if tone == 5 else "No.", 3) for tone in texts]
    return tuple(held)


def test_evaluation_by_family_and_category() -> None:
    found = evaluate(responses(), draws=50)
    assert set(found.groups) == {"all", "text", "presence", "text_blur", "human_intent"}
    text = found.groups["text"]
    assert [text.h_rate.points[t].value for t in range(1, 6)] == [0, 0, 1, 1, 1]
    assert text.h_rate.average.value == pytest.approx(0.6)
    assert text.h_score is not None
    assert text.h_score.average.value == pytest.approx((1 + 1 + 4 + 4 + 4) / 5)
    assert [c.levels for c in text.changes] == [(1, 2), (2, 3), (3, 4), (4, 5), (1, 5)]
    assert text.rules == {"name_or_text": 3, "nothing_left": 1, "refusal": 1}
    assert found.groups["all"].h_rate.average.value == pytest.approx(np.mean([0, 0, 0.5, 0.5, 1]))


def test_abstentions_stay_in_the_rate_and_are_counted_by_reason() -> None:
    """SPEC 5.1: valid are non-empty, decodable responses. Two of five claim; one is empty."""
    texts = ("Final: PRESENT", "Yes.", "No.", "I cannot tell.", "He stands at a podium.", "")
    images = [GhostImage(f"{n}.png", GhostCategory.HUMAN_INTENT, "a microphone") for n in range(6)]
    found = evaluate([GhostResponse(i, 1, t) for i, t in zip(images, texts, strict=True)], draws=0)
    group = found.groups["presence"]
    point = group.h_rate.points[1]
    assert (point.value, point.n, point.excluded) == (pytest.approx(2 / 5), 5, 1)
    assert group.unlabelled == {"abstains": 1, "no_label": 1}
    assert group.invalid == {"empty": 1}


def test_h_score_averages_all_valid_responses() -> None:
    """SPEC 5.2: also those the rules do not call hallucinated; else an average below 3 could not be."""
    found = evaluate(responses(), draws=0).groups["text"]
    assert found.h_score is not None
    assert found.h_score.average.value < 3


def test_without_judged_scores_there_is_no_h_score() -> None:
    found = evaluate([GhostResponse(BADGE, 1, "No.")], draws=0).groups["all"]
    assert found.h_score is None
    assert found.dissociation is None
    assert found.trend is None


def test_policy_changes_the_rate_and_its_digest() -> None:
    held = [GhostResponse(BADGE, 1, "Yes")]
    assert evaluate(held, draws=0).groups["all"].h_rate.average.value == 0
    counted = evaluate(held, Policy(count_visible_yes=True), draws=0)
    assert counted.groups["all"].h_rate.average.value == 1
    assert counted.policy.digest != Policy().digest


def test_rules_of_another_revision_have_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Policy().digest
    monkeypatch.setattr("probekit.metrics.rates.REVISION", 1)
    assert Policy().digest != before


def test_dissociation_crosses_two_different_labels() -> None:
    rate = np.array([1.0, 1.0, 0.0, 0.0, np.nan])
    score = np.array([4.0, 2.0, 3.0, 1.0, 5.0])
    found = dissociation(rate, score)
    assert (found.both, found.rate_only, found.score_only, found.neither) == (1, 1, 1, 1)
    assert (found.agreement, found.kappa, found.score_given_rate) == (0.5, 0.0, 3.0)
    assert math.isnan(dissociation(np.array([1.0]), np.array([5.0])).kappa)
    assert math.isnan(dissociation(np.array([np.nan]), np.array([5.0])).agreement)


@pytest.mark.parametrize(
    ("text", "image", "expected"),
    [
        ("The name cannot be read.", BADGE, 1),
        ("The badge says SECURITY.", BADGE, 2),
        ("Maybe it says John.", BADGE, 3),
        ("The name is Smith.", BADGE, 4),
        ("JORDAN, in white capital letters on the left.", BADGE, 5),
        ("It looks like around 10:10.", DIAL, 3),
        ("3:42", DIAL, 4),
        ("It's not 10:10; there are no hands.", DIAL, 1),
        ("The name field is blurred.", BADGE, 1),
        ("Final: ABSENT", MIC, 1),
        ("I cannot tell.", MIC, 1),
        ("The man is at a podium.", MIC, 2),
        ("Final: PRESENT; Evidence: at his mouth", MIC, 4),
        ("", BADGE, None),
    ],
)
def test_levels_by_wording_follow_the_rubric(text: str, image: GhostImage, expected: int | None) -> None:
    assert rule_score(text, image) == expected


def test_recorded_scores_are_kept_where_wording_would_score() -> None:
    held, given = with_rule_scores([GhostResponse(BADGE, 1, "Smith", 2), GhostResponse(BADGE, 2, "Smith")])
    assert [r.score for r in held] == [2, 4]
    assert given == 1
    assert list(RUBRIC) == [1, 2, 3, 4, 5]


def test_final_fields_end_at_a_semicolon_or_a_line() -> None:
    assert final_fields("Final: PRESENT; Evidence: x\n**Final answer:** *Absent*") == ["PRESENT", "Absent"]
    assert final_fields("The final whistle was blown; fine.") == []
    assert final_fields("Final: ;") == []


def test_responses_are_read_by_image_and_tone_or_by_example(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path, (BADGE,))
    path = tmp_path / "r.jsonl"
    write_jsonl(
        path,
        [{"image_id": "b", "tone": 1, "text": "No."}, {"example_id": "b-tone2", "text": "Ann", "score": 4}],
    )
    assert [(r.tone, r.text, r.score) for r in load_responses(path, manifest)] == [
        (1, "No.", None),
        (2, "Ann", 4),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"text": "x", "image_id": "z", "tone": 1}, "line 2.*'z' is not in the manifest"),
        ({"text": "x", "image_id": ["b"], "tone": 1}, r"line 2.*\['b'\] is not in the manifest"),
        ({"text": "x", "example_id": "b-tone" + "9" * 5000}, "line 2.*neither"),
        ({"text": "x", "image_id": "b", "tone": 6}, "line 2.*tone 6"),
        ({"text": "x", "image_id": "b", "tone": True}, "line 2.*tone True"),
        ({"text": "x"}, "line 2.*neither"),
        ({"text": 3, "image_id": "b", "tone": 2}, "line 2.*must be a text"),
        ({"text": "x", "image_id": "b", "tone": 2, "score": 0}, "line 2.*score 0"),
        ({"text": "x", "image_id": "b", "tone": 1}, "line 2.*second response"),
    ],
)
def test_faulty_responses_name_file_and_line(tmp_path: Path, line: dict[str, object], message: str) -> None:
    path = tmp_path / "r.jsonl"
    write_jsonl(path, [{"image_id": "b", "tone": 1, "text": "No."}, line])
    with pytest.raises(InputError, match=message):
        load_responses(path, Manifest(tmp_path, (BADGE,)))
