"""Numbers printed by Ghost-100: what follows from its tables, and what cannot."""

import json
import math
from pathlib import Path

import pytest

from probekit.benchmarks.ghost import GhostCategory, GhostImage, Manifest, questions
from probekit.benchmarks.ghost_validate import stage2, stage3
from probekit.metrics.rates_consistency import (
    check,
    largest_sd,
    least_average,
    least_sd,
    load_printed,
)
from probekit.metrics.rates_presence import presence_verdict
from probekit.metrics.rates_tones import population_sd

SHARED = Path(__file__).resolve().parents[3] / "shared"
PASSES = dict(zip(GhostCategory, (97, 99, 83, 94, 100, 79, 87, 78), strict=True))
"""Section 4.4: images of each category that pass stage 2."""

MANIFEST = Manifest(
    Path(),
    tuple(
        GhostImage(f"{category}_{i}.png", category, "the name" if "text" in category else "a pen")
        for category in GhostCategory
        for i in range(100)
    ),
)


def test_stage_2_total() -> None:
    """97 + 99 + 83 + 94 + 100 + 79 + 87 + 78 = 717 = 89.6 % of 800."""
    verdicts = {
        f"{category}_{i}": {"q1": True, "q2": i < PASSES[category]}
        for category in GhostCategory
        for i in range(100)
    }
    found = stage2(MANIFEST, verdicts)
    assert (found.total, found.n, round(100 * found.total / found.n, 1)) == (717, 800, 89.6)
    assert {c: round(100 * r) for c, r in found.rate.items()} == PASSES
    assert sum(rate > 0.80 for rate in found.rate.values()) == 6, "the text says five"


def test_stage_3_recall_is_not_the_printed_one() -> None:
    """78/83 = 94.0 %, 70/87 = 80.5 %, the rest 100 %: 695/717 = 96.9 %, mean 96.8 %; 96.1 % is printed."""
    true, assigned = [], []
    right = {**PASSES, GhostCategory.TEXT_BLANK: 78, GhostCategory.SCENE_SCHEMA: 70}
    for category, count in PASSES.items():
        wrong = "text_blank" if category is GhostCategory.SCENE_SCHEMA else "scene_schema"
        true += [category] * count
        assigned += [str(category)] * right[category] + [wrong] * (count - right[category])
    found = stage3(true, assigned, {str(c): c for c in GhostCategory})
    assert round(100 * found.recall[GhostCategory.TEXT_BLANK], 1) == 94.0
    assert round(100 * found.recall[GhostCategory.SCENE_SCHEMA], 1) == 80.5
    assert (found.n, round(100 * found.overall, 1), round(100 * found.macro, 1)) == (717, 96.9, 96.8)


def test_responses_per_model() -> None:
    """800 images x 5 tones = 4,000."""
    assert sum(1 for _ in questions(MANIFEST)) == 4000


@pytest.mark.parametrize(
    ("known", "average", "printed", "population", "sample"),
    [
        ((23.12, 41.75), 29.22, 6.53, 6.4497, 7.2110),  # Qwen2.5-VL H-Rate
        ((21.38, 37.62), 27.00, 10.28, 5.5263, 6.1786),  # Qwen3-VL H-Rate
        ((38.62, 63.75), 52.18, 7.76, 7.9882, 8.9311),  # DeepSeek H-Rate: below either minimum
        ((1.50, 13.50, 0.12), 2.05, 5.56, 5.9222, 6.6212),  # Gemma-4 H-Rate: below either minimum
        ((2.80, 3.33, 3.29), 3.08, 0.21, 0.2006, 0.2243),  # DeepSeek H-Score
        ((1.05, 1.43, 1.00), 1.23, 0.18, 0.1717, 0.1919),  # Gemma-4 H-Score
        ((2.39, 2.85), 2.52, 0.19, 0.1668, 0.1865),  # Qwen2.5-VL H-Score
        ((2.01, 2.73), 2.27, 0.29, 0.2419, 0.2704),  # Qwen3-VL H-Score
    ],
)
def test_least_sd_of_quoted_tones(
    known: tuple[float, ...], average: float, printed: float, population: float, sample: float
) -> None:
    """The unquoted tones at their own mean give the least spread."""
    assert least_sd(known, average, 5) == pytest.approx(population, abs=5e-4)
    assert least_sd(known, average, 5, ddof=1) == pytest.approx(sample, abs=5e-4)
    if printed in (6.53, 0.21, 0.18):
        # These three rows allow ddof = 0 and not ddof = 1: the convention of Table 2.
        assert population <= printed + 0.005 < sample


def test_the_librarys_spread_follows_that_convention() -> None:
    tones = [23.12, 27.0767, 27.0767, 27.0767, 41.75]
    assert population_sd(tones) == pytest.approx(6.4497, abs=5e-4)


def test_proven_impossibilities() -> None:
    """SPEC 8, Ghost-100 2 to 4."""
    assert least_average((1.50, 13.50, 0.12), 5) == pytest.approx(3.024)
    # Five values in [14.12, 14.62]: two at one end, three at the other, .5 x sqrt(.24) = .245.
    assert largest_sd(14.12, 14.62, 5) == pytest.approx(0.5 * math.sqrt(0.24))
    assert largest_sd(14.12, 14.62, 5, ddof=1) == pytest.approx(0.274, abs=5e-4)


def test_the_consistency_command_finds_what_the_paper_contradicts() -> None:
    found = {(f.subject, f.claim) for f in check(load_printed()) if not f.consistent}
    assert found == {
        ("DeepSeek-VL-7B h_rate", "population SD 7.76"),
        ("Gemma-4-E4B-IT h_rate", "average 2.05"),
        ("Gemma-4-E4B-IT h_rate", "population SD 5.56"),
        ("InternVL2.5-8B h_rate", "population SD 2.20"),
        ("InternVL2.5-8B h_rate", "average 3.42 in the text"),
        ("DeepSeek-VL-7B h_rate", "average 61.80 in the text"),
        ("InternVL2.5-8B h_rate", "said to have the lowest average"),
        ("Gemma-4-E4B-IT h_score", "said to have the lowest average"),
        ("H-Score", "described as severity once hallucination (a level from 3 on) occurs"),
        ("stage 2", "5 categories above 80%"),
        ("stage 3", "overall recall 96.1%"),
    }


def test_the_h_score_columns_pass_every_bound() -> None:
    """SPEC 8, Ghost-100 9: the tone values, ranges and averages of H-Score agree with each other."""
    bounds = [f for f in check(load_printed()) if "h_score" in f.subject and "lowest" not in f.claim]
    assert len(bounds) >= 10
    assert all(f.consistent for f in bounds)


def test_presence_parser() -> None:
    """T19: the negative label with "is present" in its evidence; both labels; a bare "No."."""
    negative = "Final: ABSENT; Confidence: 95; Evidence: no equipment is present in the image."
    assert presence_verdict(negative).hallucinated is False
    assert presence_verdict("Final: PRESENT/ABSENT; Confidence: 100").hallucinated is True
    assert presence_verdict("No.").hallucinated is False


CHECKED = {
    "ghost.stage2.total",
    "ghost.stage3.recall",
    "ghost.stage3.perclass",
    "ghost.responses",
    "ghost.sd.ddof",
    "ghost.gemma4.impossible",
    "ghost.internvl25.impossible",
    "ghost.deepseek.impossible",
    "ghost.text_vs_table",
}


def test_no_golden_number_of_this_paper_is_left_out() -> None:
    path = SHARED / "docs" / "golden_numbers.json"
    if not path.exists():
        pytest.skip("the golden numbers are not beside the checkout")
    ids = {entry["id"] for entry in json.loads(path.read_text())["entries"]}
    assert {i for i in ids if i.startswith("ghost.")} <= CHECKED
