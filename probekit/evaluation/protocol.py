"""The NAME-Bench protocol on scores: thresholds, shares, AUROC, intervals. Knows no detector by name.

SPEC 3.4. AUROC compares concrete with hallucinated mentions and matches the positions of those two;
shares compare three classes and match all three, as in the paper's two uses of a matched subset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool

from probekit.detectors.table import CONCRETE, HALLUCINATED, NON_ASSERTIVE, Population
from probekit.errors import ContractError
from probekit.evaluation.matching import REPEATS, matched
from probekit.evaluation.measures import REPLICATES, Resamples, auroc
from probekit.evaluation.pooled import Pooled, SeedEstimate, mean
from probekit.evaluation.records import Measure, Record
from probekit.evaluation.records import Population as Where
from probekit.evaluation.splits import Split
from probekit.evaluation.thresholds import TARGET, Threshold
from probekit.labels import NON_ASSERTIVE as SUBTYPES

Cleared = Mapping[int, np.ndarray]
"""By seed, a mask over the rows of the population."""


@dataclass(frozen=True)
class Scored:
    """Scores of one detector at one mixing budget.

    Attributes:
        detector: its name.
        variant: digest of its parameters.
        mix: budget of the fit set.
        scores: by seed, one score per row of the population; NaN where the row cannot be scored.
        missing: seeds without scores, and why.
        baseline: a control; it may be constant.
    """

    detector: str
    variant: str
    mix: str
    scores: Mapping[int, np.ndarray]
    missing: Mapping[int, str] = field(default_factory=dict)
    baseline: bool = False


@dataclass(frozen=True)
class Judged:
    """What the protocol makes of one `Scored`.

    Attributes:
        records: estimates with intervals.
        thresholds: by seed.
        seeds: each estimate by seed, for ranges.
        not_available: estimates that cannot be made, and why.
    """

    records: tuple[Record, ...]
    thresholds: Mapping[int, Threshold]
    seeds: tuple[Mapping[str, Any], ...]
    not_available: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, eq=False)
class Protocol:
    """Fixed for all detectors of an evaluation: rows, splits, matched subsets, bootstrap draws.

    Attributes:
        population: labelled mentions.
        splits: one per seed.
        target: share of calibration concrete mentions that the threshold flags.
        replicates: bootstrap resamples of the images.
    """

    population: Population
    splits: Sequence[Split]
    target: float = TARGET
    replicates: int = REPLICATES

    @cached_property
    def resamples(self) -> Resamples:
        """Draws of the images, shared by all detectors and seeds."""
        return Resamples.of(self.population.image, self.replicates)

    @cached_property
    def codes(self) -> np.ndarray:
        """Image of each row as a column of `resamples`."""
        return self.resamples.codes(self.population.image)

    @cached_property
    def calibration(self) -> Mapping[int, np.ndarray]:
        """Calibration rows by seed."""
        return {s.seed: s.rows("calibration", self.population.image) for s in self.splits}

    @cached_property
    def test(self) -> Mapping[int, np.ndarray]:
        """Test rows by seed."""
        return {s.seed: s.rows("test", self.population.image) for s in self.splits}

    @cached_property
    def pairs(self) -> Mapping[int, Sequence[np.ndarray]]:
        """Test rows by seed with concrete and hallucinated mentions matched for position."""
        return self._matched((CONCRETE, HALLUCINATED))

    @cached_property
    def triples(self) -> Mapping[int, Sequence[np.ndarray]]:
        """Test rows by seed with all three classes matched for position."""
        return self._matched((CONCRETE, HALLUCINATED, NON_ASSERTIVE))

    def _matched(self, classes: Sequence[int]) -> dict[int, list[np.ndarray]]:
        sets = {}
        for seed, rows in self.test.items():
            placed = rows[self.population.position[rows] >= 0]
            place, label = self.population.position[placed], self.population.label[placed]
            sets[seed] = [placed[matched(place, label, classes, draw)] for draw in range(REPEATS)]
        return sets

    def judge(self, scored: Scored, cleared: Cleared | None = None) -> Judged:
        """Thresholds, estimates and intervals of one detector at one mix.

        Args:
            scored: the scores.
            cleared: by seed, rows that a filter in front of the detector never lets it flag; thresholds
                are set on the remaining calibration rows.

        Raises:
            ContractError: the detector gives every mention of several images the same score.
        """
        thresholds: dict[int, Threshold] = {}
        gathered: dict[tuple[Measure, Where, str], dict[int, list[SeedEstimate]]] = {}
        for seed, scores in scored.scores.items():
            if not scored.baseline:
                self._require_variation(scored, scores)
            held = None if cleared is None else cleared[seed]
            thresholds[seed] = self.threshold(seed, scores, held)
            sets: tuple[tuple[Where, Sequence[np.ndarray], Sequence[np.ndarray]], ...] = (
                ("all", [self.test[seed]], [self.test[seed]]),
                ("position_matched", self.pairs[seed], self.triples[seed]),
            )
            for where, for_auroc, for_shares in sets:
                place = gathered.setdefault(("auroc", where, "all"), {})
                place[seed] = [self._auroc(scores, rows) for rows in for_auroc]
                for measure, subtype, chosen in self._shares():
                    place = gathered.setdefault((measure, where, subtype), {})
                    place[seed] = [
                        self._share(scores, rows[chosen[rows]], thresholds[seed], held) for rows in for_shares
                    ]
        return self._summary(scored, thresholds, gathered)

    def threshold(self, seed: int, scores: np.ndarray, cleared: np.ndarray | None = None) -> Threshold:
        """Set on the seed's calibration concrete rows that are scored and not cleared."""
        rows = self.calibration[seed]
        rows = rows[(self.population.label[rows] == CONCRETE) & np.isfinite(scores[rows])]
        if cleared is not None:
            rows = rows[~cleared[rows]]
        return Threshold.of(scores[rows], self.target)

    def share(self, scored: Scored, chosen: Bool[np.ndarray, " row"]) -> Pooled:
        """Share of the chosen test rows that are flagged at each seed's own threshold."""
        found = {}
        for seed, scores in scored.scores.items():
            rows = self.test[seed][chosen[self.test[seed]]]
            found[seed] = [self._share(scores, rows, self.threshold(seed, scores))]
        return Pooled.of(found)

    def marked_share(self, marked: Cleared, chosen: Bool[np.ndarray, " row"]) -> Pooled:
        """Share of the chosen test rows that a mask per seed marks."""
        found = {}
        for seed, mask in marked.items():
            rows = self.test[seed][chosen[self.test[seed]]]
            value = float(mask[rows].mean()) if len(rows) else float("nan")
            codes = self.codes[rows]
            found[seed] = [SeedEstimate(value, self.resamples.share(codes, mask[rows]), len(rows), (codes,))]
        return Pooled.of(found)

    def separation(
        self, scored: Scored, positive: Bool[np.ndarray, " row"], negative: Bool[np.ndarray, " row"]
    ) -> Pooled:
        """AUROC of two sets of test rows, whatever their classes."""
        return Pooled.of(
            {
                seed: [self._auroc(scores, self.test[seed], positive, negative)]
                for seed, scores in scored.scores.items()
            }
        )

    def _require_variation(self, scored: Scored, scores: np.ndarray) -> None:
        finite = np.isfinite(scores)
        if len(np.unique(self.codes[finite])) > 1 and np.ptp(scores[finite]) == 0:
            raise ContractError(
                f"{scored.detector} gives all {int(finite.sum())} mentions the score {scores[finite][0]:.6g}",
                where=f"mix {scored.mix}",
                hint="What it reads carries nothing here: look at its captures in the store.",
            )

    def _shares(self) -> list[tuple[Measure, str, np.ndarray]]:
        label, subtype = self.population.label, self.population.subtype
        return [
            ("tpr", "all", label == HALLUCINATED),
            ("fpr_concrete", "all", label == CONCRETE),
            ("fpr_non_assertive", "all", label == NON_ASSERTIVE),
            *(("fpr_non_assertive", str(name), subtype == str(name)) for name in SUBTYPES),
        ]

    def _auroc(
        self,
        scores: np.ndarray,
        rows: np.ndarray,
        positive: np.ndarray | None = None,
        negative: np.ndarray | None = None,
    ) -> SeedEstimate:
        label = self.population.label
        positive = label == HALLUCINATED if positive is None else positive
        negative = label == CONCRETE if negative is None else negative
        rows = rows[np.isfinite(scores[rows]) & (positive | negative)[rows]]
        target = positive[rows]
        codes = self.codes[rows]
        sides = (codes[target], codes[~target])
        if target.all() or not target.any():
            return SeedEstimate(float("nan"), np.full(self.replicates, np.nan), len(rows), sides)
        replicates = self.resamples.auroc(codes, scores[rows], target)
        return SeedEstimate(auroc(scores[rows], target), replicates, len(rows), sides)

    def _share(
        self,
        scores: np.ndarray,
        rows: np.ndarray,
        threshold: Threshold,
        cleared: np.ndarray | None = None,
    ) -> SeedEstimate:
        rows = rows[np.isfinite(scores[rows])]
        if len(rows) == 0 or not np.isfinite(threshold.value):
            empty = np.full(self.replicates, np.nan)
            return SeedEstimate(float("nan"), empty, len(rows), (self.codes[rows],))
        flagged = threshold.flag(scores[rows])
        if cleared is not None:
            flagged &= ~cleared[rows]
        replicates = self.resamples.share(self.codes[rows], flagged)
        return SeedEstimate(float(flagged.mean()), replicates, len(rows), (self.codes[rows],))

    def _summary(
        self,
        scored: Scored,
        thresholds: Mapping[int, Threshold],
        gathered: Mapping[tuple[Measure, Where, str], Mapping[int, Sequence[SeedEstimate]]],
    ) -> Judged:
        who = {"detector": scored.detector, "variant": scored.variant, "mix": scored.mix}
        absent = [{**who, "seed": seed, "reason": reason} for seed, reason in scored.missing.items()]
        records, ranges = [], []
        for (measure, where, subtype), by_seed in gathered.items():
            what = {"measure": measure, "population": where, "subtype": subtype}
            values = {seed: mean([e.value for e in found]) for seed, found in by_seed.items()}
            absent += [
                {**who, **what, "seed": seed, "reason": _why(measure, thresholds[seed])}
                for seed, value in values.items()
                if np.isnan(value)
            ]
            pooled = Pooled.of(by_seed)
            records.append(
                Record(
                    scored.detector,
                    scored.variant,
                    scored.mix,
                    measure,
                    where,
                    subtype,
                    pooled.value,
                    pooled.low,
                    pooled.high,
                    pooled.n,
                    pooled.images,
                )
            )
            ranges.append({**who, **what, "values": {str(s): float(v) for s, v in values.items()}})
        return Judged(tuple(records), thresholds, tuple(ranges), tuple(absent))


def _why(measure: Measure, threshold: Threshold) -> str:
    if measure == "auroc":
        return "the test set lacks a class"
    return "no calibration concrete mention" if threshold.n == 0 else "no such test mention"
