"""How tone moves what the pass measured: curves, trends, changes within an image, links to the verdict.

Rows are answers, images are the unit of sampling. NaN is a missing value: excluded and counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from probekit.benchmarks.ghost import Family, GhostCategory
from probekit.errors import InputError
from probekit.evaluation.measures import weighted_auroc
from probekit.metrics.estimates import (
    DRAWS,
    FEWEST,
    Estimate,
    group_index,
    mean,
    percentile_interval,
    ratio,
    resamples,
)
from probekit.metrics.rates_tones import ToneCurve, tone_curve
from probekit.metrics.rates_trend import Trend, page_trend

ALL = "all"
"""Name of the group of all answers."""


@dataclass(frozen=True)
class GhostRows:
    """Who the rows are and what the rules said of them.

    Attributes:
        image: image id.
        tone: tone level.
        category: of the image.
        verdict: 1 hallucinated, 0 not, NaN without a verdict.
    """

    image: tuple[str, ...]
    tone: tuple[int, ...]
    category: tuple[GhostCategory, ...]
    verdict: Float[np.ndarray, " answer"]

    def __post_init__(self) -> None:
        if not len(self.image) == len(self.tone) == len(self.category) == len(self.verdict):
            raise InputError("columns of a Ghost run differ in length")
        if len(set(zip(self.image, self.tone, strict=True))) != len(self.image):
            raise InputError("an image has two answers at one tone")

    def __len__(self) -> int:
        return len(self.image)

    @property
    def tones(self) -> tuple[int, ...]:
        """Levels present, in order."""
        return tuple(sorted(set(self.tone)))

    def groups(self) -> dict[str, Bool[np.ndarray, " answer"]]:
        """Everything, families where there are several, then categories."""
        found = {ALL: np.ones(len(self), dtype=bool)}
        families = [c.family for c in self.category]
        for family in Family:
            held = np.array([f is family for f in families])
            if held.any() and not held.all():
                found[str(family)] = held
        for category in GhostCategory:
            held = np.array([c is category for c in self.category])
            if held.any() and not held.all():
                found[str(category)] = held
        return found

    def take(self, rows: Bool[np.ndarray, " answer"]) -> GhostRows:
        """The rows of a mask."""
        at = np.flatnonzero(rows)
        return GhostRows(
            tuple(self.image[n] for n in at),
            tuple(self.tone[n] for n in at),
            tuple(self.category[n] for n in at),
            self.verdict[rows],
        )

    def by_image(self, values: Float[np.ndarray, " answer"]) -> Float[np.ndarray, "image tone"]:
        """A value of every image (in order of first appearance) at every tone; NaN where there is none."""
        index, count = group_index(self.image)
        table = np.full((count, len(self.tones)), math.nan)
        table[index, np.searchsorted(self.tones, self.tone)] = values
        return table


@dataclass(frozen=True)
class FlipContrast:
    """Images that give in under pressure against images that hold out.

    Neither kind hallucinates at the first tone: ``flipped`` ones do at some later tone, ``held`` ones at
    none. They were asked in the same words, so wording alone does not tell them apart.

    Attributes:
        flipped: mean change of the quantity from the first tone to the mean of all later ones, images
            that flip.
        held: the same, images that do not.
        difference: the first minus the second; like the next two NaN below `FEWEST` images of a kind.
        start: quantity at the first tone, flipped minus held.
        auroc: probability that the change of an image that flips is above that of one that does not.
        n: images of each kind.
        excluded: images of either kind without the quantity at every tone.
    """

    flipped: Estimate
    held: Estimate
    difference: Estimate
    start: Estimate
    auroc: Estimate
    n: tuple[int, int]
    excluded: int


@dataclass(frozen=True)
class Association:
    """How a quantity goes with the verdict within images.

    Attributes:
        flagged: mean of the quantity over hallucinated answers.
        cleared: mean over the others.
        concordance: over pairs of two answers to one image, one hallucinated and one not: how often the
            hallucinated one has the larger value, ties half. 0.5 is no link. Wording differs within a
            pair, so a quantity that only follows the wording shows here as well.
        adjusted: correlation of quantity and verdict when the mean of each image and of each tone is
            taken from both (images with every tone only): what neither picture nor wording explains.
        flip: see `FlipContrast`.
    """

    flagged: Estimate
    cleared: Estimate
    concordance: Estimate
    adjusted: Estimate
    flip: FlipContrast


@dataclass(frozen=True)
class QuantityResult:
    """One quantity in one group.

    Attributes:
        curve: mean at every tone, with intervals.
        trend: Page's test for a rise; ``None`` below two tones. A fall has a negative z.
        p_two_sided: of the same test, for a rise or a fall; NaN when nothing varies.
        change: last tone minus first, image by image.
        association: with the verdict.
    """

    curve: ToneCurve
    trend: Trend | None
    p_two_sided: float
    change: Estimate
    association: Association


def analyse(
    answers: GhostRows,
    values: Mapping[str, Float[np.ndarray, " answer"]],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, dict[str, QuantityResult]]:
    """Every quantity in every group of categories: ``result[group][quantity]``.

    Args:
        values: one column a quantity. A column without any value is left out.
    """
    found: dict[str, dict[str, QuantityResult]] = {}
    for group, rows in answers.groups().items():
        part = answers.take(rows)
        found[group] = {
            name: quantity(part, column[rows], draws=draws, seed=seed)
            for name, column in values.items()
            if not np.isnan(column).all()
        }
    return found


def quantity(
    answers: GhostRows, values: Float[np.ndarray, " answer"], *, draws: int = DRAWS, seed: int = 0
) -> QuantityResult:
    """Follow one quantity over tone."""
    table = answers.by_image(values)
    trend = page_trend(table) if table.shape[1] > 1 else None
    change = table[:, -1] - table[:, 0]
    images = [str(n) for n in range(len(change))]
    return QuantityResult(
        tone_curve(values, answers.tone, answers.image, draws=draws, seed=seed),
        trend,
        math.nan if trend is None else trend.p_two_sided,
        mean(change, images, draws=draws, seed=seed),
        association(answers, values, draws=draws, seed=seed),
    )


def association(
    answers: GhostRows, values: Float[np.ndarray, " answer"], *, draws: int = DRAWS, seed: int = 0
) -> Association:
    """Link a quantity to the verdict, see `Association`."""
    said = answers.verdict == 1
    flagged = np.where(said, values, np.nan)
    cleared = np.where(answers.verdict == 0, values, np.nan)
    table, verdict = answers.by_image(values), answers.by_image(answers.verdict)

    def average(column: Float[np.ndarray, " answer"], of: Bool[np.ndarray, " answer"]) -> Estimate:
        kept = np.flatnonzero(of)
        return mean(column[kept], [answers.image[n] for n in kept], draws=draws, seed=seed)

    return Association(
        average(flagged, said),
        average(cleared, answers.verdict == 0),
        _concordance(table, verdict, draws, seed),
        _adjusted(table, verdict, draws, seed),
        _flip(table, verdict, draws, seed),
    )


def _concordance(
    table: Float[np.ndarray, "image tone"], verdict: Float[np.ndarray, "image tone"], draws: int, seed: int
) -> Estimate:
    """Wins among pairs of one hallucinated and one other answer of an image; ``n`` counts images.

    Without an interval below `FEWEST` images that have such pairs.
    """
    there = ~np.isnan(table)
    wins, pairs = np.zeros(len(table)), np.zeros(len(table))
    for one in range(table.shape[1]):
        for other in range(table.shape[1]):
            both = there[:, one] & there[:, other] & (verdict[:, one] == 1) & (verdict[:, other] == 0)
            above, equal = table[:, one] > table[:, other], table[:, one] == table[:, other]
            wins += both * (above + 0.5 * equal)
            pairs += both
    return ratio(wins, pairs, [str(n) for n in range(len(table))], draws=draws, seed=seed)


def _adjusted(
    table: Float[np.ndarray, "image tone"], verdict: Float[np.ndarray, "image tone"], draws: int, seed: int
) -> Estimate:
    """Correlation of the two after both lost the mean of each image and of each tone; ``n`` counts images."""
    whole = ~(np.isnan(table) | np.isnan(verdict)).any(axis=1)
    x, y = (t[whole] - t[whole].mean(axis=1, keepdims=True) for t in (table, verdict))
    # an image's own mean does not depend on the draw; those of the tones do
    products = np.stack([(x * y).sum(axis=1), (x * x).sum(axis=1), (y * y).sum(axis=1)], axis=1)

    def correlate(weight: Float[np.ndarray, "draw image"]) -> Float[np.ndarray, " draw"]:
        total = weight.sum(axis=1, keepdims=True)
        of_x, of_y = weight @ x / total, weight @ y / total
        sums = weight @ products / total
        covariance = sums[:, 0] - (of_x * of_y).sum(axis=1)
        spread_x, spread_y = sums[:, 1] - (of_x**2).sum(axis=1), sums[:, 2] - (of_y**2).sum(axis=1)
        # what is left of a column without variation is rounding
        spread_x[spread_x <= 1e-12 * np.maximum(sums[:, 1], 1e-300)] = np.nan
        spread_y[spread_y <= 1e-12 * np.maximum(sums[:, 2], 1e-300)] = np.nan
        return np.asarray(covariance / np.sqrt(spread_x * spread_y))

    n = int(whole.sum())
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0, len(table))
    value = float(correlate(np.ones((1, n)))[0])
    drawn: list[float] = []
    if n >= FEWEST and draws > 0:
        for weight in resamples(n, draws, seed):
            drawn += list(correlate(weight.astype(np.float64)))
    return Estimate(value, *percentile_interval(drawn), n, len(table) - n, n)


def _flip(
    table: Float[np.ndarray, "image tone"], verdict: Float[np.ndarray, "image tone"], draws: int, seed: int
) -> FlipContrast:
    sober, later = verdict[:, 0] == 0, verdict[:, 1:]
    # a missing verdict may hide a hallucination: such an image flips by another tone, or is neither
    flipped, held = sober & (later == 1).any(axis=1), sober & (later == 0).all(axis=1)
    if table.shape[1] < 2:
        flipped = held = np.zeros(len(table), dtype=bool)
    change = (table[:, 1:].mean(axis=1) if table.shape[1] > 1 else np.nan) - table[:, 0]
    known = ~np.isnan(change)
    kept = np.flatnonzero((flipped | held) & known)
    is_flipped, moved, first = flipped[kept], change[kept], table[kept, 0]
    images = [str(n) for n in kept]

    def average(column: Float[np.ndarray, " image"], of: Bool[np.ndarray, " image"]) -> Estimate:
        at = np.flatnonzero(of)
        return mean(column[at], [images[n] for n in at], draws=draws, seed=seed)

    def across(compute: Callable[[Float[np.ndarray, "draw image"]], np.ndarray]) -> Estimate:
        if min(is_flipped.sum(), (~is_flipped).sum()) < FEWEST:
            return Estimate(math.nan, math.nan, math.nan, len(kept), groups=len(kept))
        value = float(compute(np.ones((1, len(kept))))[0])
        drawn: list[float] = []
        if len(kept) > 1 and draws > 0 and not math.isnan(value):
            for weight in resamples(len(kept), draws, seed):
                drawn += list(compute(weight.astype(np.float64)))
        return Estimate(value, *percentile_interval(drawn), len(kept), groups=len(kept))

    def apart(column: Float[np.ndarray, " image"]) -> Estimate:
        def compute(weight: Float[np.ndarray, "draw image"]) -> np.ndarray:
            ones, others = weight * is_flipped, weight * ~is_flipped
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(ones @ column / ones.sum(axis=1) - others @ column / others.sum(axis=1))

        return across(compute)

    return FlipContrast(
        average(moved, is_flipped),
        average(moved, ~is_flipped),
        apart(moved),
        apart(first),
        across(lambda weight: weighted_auroc(moved, is_flipped, weight)),
        (int(is_flipped.sum()), int((~is_flipped).sum())),
        int(((flipped | held) & ~known).sum()),
    )
