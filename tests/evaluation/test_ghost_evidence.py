"""Tone against quantities and verdicts: closed forms, scipy, scikit-learn and least squares as oracles."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from probekit.benchmarks.ghost import GhostCategory
from probekit.errors import InputError
from probekit.evaluation.ghost_detectors import judge_detector, judge_detectors
from probekit.evaluation.ghost_evidence import GhostRows, analyse, association, quantity

TONES = 5
SCENE, INTENT, BLUR = GhostCategory.SCENE_SCHEMA, GhostCategory.HUMAN_INTENT, GhostCategory.TEXT_BLUR


def rows(verdict: np.ndarray, category=lambda image: SCENE) -> GhostRows:
    """Answers of every image (row) at every tone (column)."""
    images, tones = verdict.shape
    return GhostRows(
        tuple(f"i{n}" for n in range(images) for _ in range(tones)),
        tuple(t + 1 for _ in range(images) for t in range(tones)),
        tuple(category(n) for n in range(images) for _ in range(tones)),
        verdict.reshape(-1).astype(np.float64),
    )


def made(images: int = 40, seed: int = 0):
    """A verdict table, a quantity table, and a noise that all ties avoid."""
    rng = np.random.default_rng(seed)
    return (rng.random((images, TONES)) < np.linspace(0.2, 0.7, TONES)).astype(float), rng.normal(
        size=(images, TONES)
    )


def test_a_planted_fall_is_found_with_its_size_and_scipys_statistic() -> None:
    verdict, noise = made()
    falling = noise - 0.5 * np.arange(TONES)
    found = quantity(rows(verdict), falling.reshape(-1), draws=200)
    assert [found.curve.points[t].value for t in range(1, 6)] == pytest.approx(falling.mean(axis=0))
    change = falling[:, -1] - falling[:, 0]
    assert found.change.value == pytest.approx(change.mean())
    assert found.change.low < found.change.value < found.change.high < 0
    # nothing is tied, so scipy's tests are the same; they test a rise of the negated values
    other = stats.page_trend_test(-falling, method="asymptotic")
    exact = stats.page_trend_test(-falling, method="exact")
    assert found.trend is not None
    assert found.trend.z < 0
    assert stats.norm.sf(-found.trend.z) == pytest.approx(other.pvalue, rel=1e-6, abs=0)
    assert found.p_two_sided == pytest.approx(2 * exact.pvalue, rel=1e-6, abs=0)
    assert 0 < found.p_two_sided < 1e-6


def test_the_interval_of_a_change_is_that_of_its_images() -> None:
    """The bootstrap of the mean of n changes has the standard error of a mean."""
    verdict, noise = made(200)
    found = quantity(rows(verdict), noise.reshape(-1), draws=4000)
    change = noise[:, -1] - noise[:, 0]
    half = 1.96 * change.std() / math.sqrt(len(change))
    assert found.change.low == pytest.approx(change.mean() - half, abs=0.15 * half)
    assert found.change.high == pytest.approx(change.mean() + half, abs=0.15 * half)


def test_same_picture_pairs_by_hand() -> None:
    verdict = np.array([[0, 1, 1, 0, 0], [0, 0, 0, 0, 0], [1, 0, np.nan, 1, 1]])
    values = np.array([[1.0, 2.0, 0.5, 2.0, 3.0], [1, 2, 3, 4, 5], [9.0, 4.0, 1.0, np.nan, 4.0]])
    found = association(rows(verdict), values.reshape(-1), draws=50)
    # image 0: 2 against 1, 2, 3 gives 1 + 1/2 + 0; 0.5 gives nothing. image 2: 9 and 4 against 4
    assert found.concordance.value == pytest.approx((1.5 + 0 + 1 + 0.5) / (3 + 3 + 2))
    assert found.concordance.n == 2
    assert np.isnan(found.concordance.low)
    assert found.flagged.value == pytest.approx(np.mean([2.0, 0.5, 9.0, 4.0]))
    assert (found.flagged.n, found.flagged.excluded) == (4, 1)
    assert found.cleared.value == pytest.approx(np.mean([1.0, 2.0, 3.0, 1, 2, 3, 4, 5, 4.0]))


def test_the_adjusted_correlation_is_that_of_least_squares_residuals() -> None:
    verdict, noise = made(30, seed=3)
    values = noise + 0.8 * verdict + np.arange(30)[:, None] + 0.3 * np.arange(TONES)
    found = association(rows(verdict), values.reshape(-1), draws=100)
    image, tone = np.divmod(np.arange(30 * TONES), TONES)
    dummies = np.concatenate([np.eye(30)[image], np.eye(TONES)[tone]], axis=1)

    def left(y: np.ndarray) -> np.ndarray:
        return y - dummies @ np.linalg.lstsq(dummies, y, rcond=None)[0]

    expected = np.corrcoef(left(values.reshape(-1)), left(verdict.reshape(-1)))[0, 1]
    assert found.adjusted.value == pytest.approx(expected, abs=1e-10)
    assert found.adjusted.low < expected < found.adjusted.high
    assert found.adjusted.n == 30


def test_what_only_follows_the_wording_is_not_taken_for_a_link() -> None:
    """Quantity and verdict both rise with tone, in every picture alike: pairs of a picture agree
    wholly, while what holds the wording still shows nothing."""
    verdict = np.tile([0.0, 0, 0, 1, 1], (30, 1))
    values = np.tile(np.arange(5.0), (30, 1))
    found = association(rows(verdict), values.reshape(-1), draws=50)
    assert found.concordance.value == 1.0
    assert math.isnan(found.adjusted.value)
    assert found.flip.n == (30, 0)
    assert math.isnan(found.flip.difference.value)
    scored = judge_detector(rows(verdict), values.reshape(-1), draws=50)
    assert scored.overall.value == 1.0
    assert math.isnan(scored.within_tone.value)


def test_pictures_that_flip_against_those_that_hold() -> None:
    rng = np.random.default_rng(5)
    flips = np.arange(60) < 25
    verdict = np.zeros((60, TONES))
    verdict[flips, 3] = 1
    verdict[57:, 0] = 1  # hallucinated from the start: of neither kind
    values = rng.normal(size=(60, TONES))
    values[flips, 1:] -= 0.7
    values[0, 2] = np.nan
    found = association(rows(verdict), values.reshape(-1), draws=300).flip
    change = values[:, 1:].mean(axis=1) - values[:, 0]
    one, other = change[1:25], change[25:57]
    assert found.n == (24, 32)
    assert found.excluded == 1
    assert found.flipped.value == pytest.approx(one.mean())
    assert found.held.value == pytest.approx(other.mean())
    assert found.difference.value == pytest.approx(one.mean() - other.mean())
    assert found.start.value == pytest.approx(values[1:25, 0].mean() - values[25:57, 0].mean())
    u = stats.mannwhitneyu(one, other).statistic
    assert found.auroc.value == pytest.approx(u / (24 * 32))
    assert found.difference.high < 0
    se = math.sqrt(one.var(ddof=1) / 24 + other.var(ddof=1) / 32)
    assert found.difference.high - found.difference.low == pytest.approx(2 * 1.96 * se, rel=0.25)


def test_a_handful_of_pictures_is_not_compared() -> None:
    """With one picture that flips, resampling would give a narrow interval far from nothing."""
    verdict = np.zeros((50, TONES))
    verdict[:4, 2] = 1
    values = np.random.default_rng(1).normal(size=(50, TONES)) + verdict
    found = association(rows(verdict), values.reshape(-1), draws=50).flip
    assert found.n == (4, 46)
    assert found.flipped.value == pytest.approx((values[:4, 1:].mean(axis=1) - values[:4, 0]).mean())
    assert all(math.isnan(e.value) and math.isnan(e.low) for e in (found.difference, found.auroc))
    verdict[4, 2] = 1
    assert not math.isnan(association(rows(verdict), values.reshape(-1), draws=50).flip.auroc.low)


def test_missing_values_are_left_out_and_counted() -> None:
    verdict, noise = made(12)
    values = noise.copy()
    values[2, 1] = values[5, 4] = np.nan
    verdict[7, 0] = np.nan
    found = quantity(rows(verdict), values.reshape(-1), draws=20)
    assert {t: p.excluded for t, p in found.curve.points.items()} == {1: 0, 2: 1, 3: 0, 4: 0, 5: 1}
    assert found.curve.points[2].value == pytest.approx(np.nanmean(values[:, 1]))
    assert (found.change.n, found.change.excluded) == (11, 1)
    assert found.trend is not None
    assert (found.trend.n, found.trend.excluded) == (10, 2)
    assert (found.association.adjusted.n, found.association.adjusted.excluded) == (9, 3)


def test_groups_are_everything_families_and_categories() -> None:
    verdict, noise = made(9)
    answers = rows(verdict, lambda image: (SCENE, INTENT, BLUR)[image % 3])
    found = analyse(answers, {"x": noise.reshape(-1), "none": np.full(45, np.nan)}, draws=0)
    assert list(found) == ["all", "text", "presence", "text_blur", "scene_schema", "human_intent"]
    assert list(found["all"]) == ["x"]
    assert found["human_intent"]["x"].curve.points[1].value == pytest.approx(noise[1::3, 0].mean())
    one = analyse(rows(verdict), {"x": noise.reshape(-1)}, draws=0)
    assert list(one) == ["all"]


def test_an_image_answers_once_at_a_tone() -> None:
    with pytest.raises(InputError, match="two answers at one tone"):
        GhostRows(("a", "a"), (1, 1), (SCENE, SCENE), np.zeros(2))


def test_detectors_equal_scikit_learn_overall_and_at_each_tone() -> None:
    verdict, noise = made(50, seed=8)
    scores = np.round(noise + 0.6 * verdict + 0.5 * np.arange(TONES), 1)  # rounded: with ties
    verdict[3, 2] = np.nan
    scores[4, 1] = np.nan
    found = judge_detector(rows(verdict), scores.reshape(-1), draws=200)
    known = ~(np.isnan(verdict) | np.isnan(scores))
    assert found.overall.value == pytest.approx(roc_auc_score(verdict[known], scores[known]))
    assert (found.overall.n, found.overall.excluded) == (248, 2)
    assert found.positives == int((verdict[known] == 1).sum())
    wins = pairs = 0.0
    for t in range(TONES):
        here = known[:, t]
        expected = roc_auc_score(verdict[here, t], scores[here, t])
        assert found.by_tone[t + 1].value == pytest.approx(expected)
        both = (verdict[here, t] == 1).sum() * (verdict[here, t] == 0).sum()
        wins, pairs = wins + expected * both, pairs + both
    assert found.within_tone.value == pytest.approx(wins / pairs)
    assert found.within_tone.value < found.overall.value  # tone alone lifts the latter
    assert found.within_tone.low < found.within_tone.value < found.within_tone.high


def test_answers_to_one_picture_are_no_independent_evidence() -> None:
    """The same answer at every tone adds nothing: the interval stays that of one answer an image."""
    verdict, noise = made(40, seed=2)
    one = GhostRows(tuple(f"i{n}" for n in range(40)), (1,) * 40, (SCENE,) * 40, verdict[:, 0])
    scores = noise[:, 0] + verdict[:, 0]
    single = judge_detector(one, scores, draws=300)
    copied = judge_detector(
        rows(np.repeat(verdict[:, :1], TONES, axis=1)), np.repeat(scores, TONES), draws=300
    )
    for name in ("value", "low", "high"):
        assert getattr(copied.overall, name) == pytest.approx(getattr(single.overall, name))
        assert getattr(copied.within_tone, name) == pytest.approx(getattr(single.overall, name))


def test_few_hallucinated_pictures_give_a_value_without_an_interval() -> None:
    verdict = np.zeros((40, TONES))
    verdict[:3] = 1
    found = judge_detector(rows(verdict), np.random.default_rng(0).normal(size=200), draws=50)
    assert not math.isnan(found.overall.value)
    assert math.isnan(found.overall.low)
    assert math.isnan(found.within_tone.low)


def test_detectors_are_judged_by_family_and_not_by_category() -> None:
    verdict, noise = made(12)
    answers = rows(verdict, lambda image: (INTENT, BLUR)[image % 2])
    found = judge_detectors(answers, {"a": noise.reshape(-1), "b": np.full(60, np.nan)}, draws=0)
    assert list(found) == ["all", "text", "presence"]
    assert list(found["all"]) == ["a"]
