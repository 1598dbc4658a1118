"""What a Tri-Layer study found, with intervals: answers, scores, taxonomy, refusals, contrasts, selection."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from probekit.evaluation.measures import weighted_auroc
from probekit.metrics.estimates import DRAWS, FEWEST, Estimate, mean, statistic
from probekit.scores.selective import Selective
from probekit.scores.taxonomy import (
    PLACED,
    RefusalCheck,
    Setting,
    Shares,
    check_refusals,
    sensitivity,
    shares,
)
from probekit.scores.tri_layer import (
    Diagnosis,
    ResponseRates,
    TriLayerRow,
    correlation,
    diagnose,
    group_by,
    response_rates,
    selective_prediction,
)

SCORES = (
    "lad", "lad_best", "lad_noise", "lad_noise_best", "lad_conflict",
    "vns", "vns_noise", "vns_conflict",
    "cs", "cs_full", "cs_noise", "cs_noise_full",
)  # fmt: skip
PAIRS = (("lad", "lad_noise"), ("vns", "vns_noise"), ("vns", "vns_conflict"), ("sc_blind", "sc_noise"))
ALL = "all samples"
"""Name of the group of all samples."""
PRIOR = "right"
"""Questions whose answer the model's prior gives; the others need the picture."""


@dataclass(frozen=True)
class Contrast:
    """Whether a score is higher in one group than in another.

    Attributes:
        score: its name.
        first, second: the groups.
        auroc: probability that a value of the first is above one of the second, ties half.
        first_mean, second_mean: the groups' means; the same group has the same interval in every contrast.
        n: values in each; the AUROC's own ``n`` counts samples once where both groups are of the same ones.
    """

    score: str
    first: str
    second: str
    auroc: Estimate
    first_mean: Estimate
    second_mean: Estimate
    n: tuple[int, int]


@dataclass(frozen=True)
class TriLayerSummary:
    """All that tables, figures and the terminal show of one study.

    Attributes:
        rates: accuracy and shortcut rates, of all samples (`ALL`) and by task.
        means: mean of every score.
        diagnoses: taxonomy and accuracy by category, by task and for all.
        cs_full, noise: the taxonomy with CS of the full answer, and with the scores under noise.
        refusals: refusals in the text beside the taxonomy.
        sweep: taxonomy under other thresholds, the default first.
        selective: selective prediction by diagnosis.
        contrasts: LAD on black against another real picture; VNS by what the prior answers.
        correlations: Pearson's r and n of pairs of scores.
        conflicts: how many conflict pictures were chosen by which rule.
    """

    rates: Mapping[str, ResponseRates]
    means: Mapping[str, Estimate]
    diagnoses: Mapping[str, Diagnosis]
    cs_full: Shares
    noise: Shares
    refusals: RefusalCheck
    sweep: tuple[Setting, ...]
    selective: Selective
    contrasts: tuple[Contrast, ...]
    correlations: Mapping[str, tuple[float, int]]
    conflicts: Mapping[str, int]

    def record(self) -> dict[str, Any]:
        """The same as JSON values."""
        return asdict(self)

    @property
    def sweep_range(self) -> dict[str, tuple[float, float]]:
        """Least and largest share of each category over all thresholds."""
        return {
            str(c): (min(s.shares.share[c] for s in self.sweep), max(s.shares.share[c] for s in self.sweep))
            for c in PLACED
        }


def summarise(
    rows: Sequence[TriLayerRow], lines: Sequence[Mapping[str, Any]], *, draws: int = DRAWS, seed: int = 0
) -> TriLayerSummary:
    """Summarise a study.

    Args:
        rows: one a sample.
        lines: the same samples with every variant, as ``tri_layer.jsonl`` holds them.
    """
    images = [row.image_id for row in rows]
    tasks = group_by(rows, lambda row: row.task)
    groups = {ALL: list(rows), **(tasks if len(tasks) > 1 else {})}
    values = {name: _column(lines, name) for name in SCORES}
    categories = [row.category() for row in rows]
    return TriLayerSummary(
        rates={name: response_rates(part, draws=draws, seed=seed) for name, part in groups.items()},
        means={name: mean(column, images, draws=draws, seed=seed) for name, column in values.items()},
        diagnoses={name: diagnose(part) for name, part in groups.items()},
        cs_full=shares(line["category_cs_full"] for line in lines),
        noise=shares(line["category_noise"] for line in lines),
        refusals=check_refusals(categories, [row.refused for row in rows]),
        sweep=sensitivity([r.lad for r in rows], [r.vns for r in rows], [r.cs for r in rows]),
        selective=selective_prediction(rows, draws=draws, seed=seed),
        contrasts=_contrasts(lines, values, images, draws, seed),
        correlations={f"{a}, {b}": correlation(rows, a, b) for a, b in PAIRS},
        conflicts=Counter(str(line["conflict_reason"]) for line in lines),
    )


def _contrasts(
    lines: Sequence[Mapping[str, Any]],
    values: Mapping[str, Float[np.ndarray, " sample"]],
    images: Sequence[str],
    draws: int,
    seed: int,
) -> tuple[Contrast, ...]:
    found = []
    for score in ("lad", "lad_noise"):
        both = np.concatenate([values[score], values["lad_conflict"]])
        first = np.arange(len(both)) < len(lines)
        names = ("black" if score == "lad" else "noise", "another real picture")
        found.append(_contrast(score, names, both, first, [*images, *images], draws, seed, paired=True))
    priors = [line["prior"] for line in lines]
    if PRIOR in priors:
        easy = np.array([p == PRIOR for p in priors])
        for name in ("all others", *dict.fromkeys(p for p in priors if p not in (PRIOR, None))):
            other = ~easy if name == "all others" else np.array([p == name for p in priors])
            kept = easy | other
            chosen = [image for image, keep in zip(images, kept, strict=True) if keep]
            names = (f"prior: {name}" if name != "all others" else name, f"prior: {PRIOR}")
            found.append(_contrast("vns", names, values["vns"][kept], other[kept], chosen, draws, seed))
    return tuple(contrast for contrast in found if min(contrast.n) > 0)


def _contrast(
    score: str,
    names: tuple[str, str],
    values: Float[np.ndarray, " value"],
    first: Bool[np.ndarray, " value"],
    images: Sequence[str],
    draws: int,
    seed: int,
    *,
    paired: bool = False,
) -> Contrast:
    """Compare two sets of values.

    Args:
        paired: the second half of the values is of the same samples as the first, in their order.
    """
    there = ~np.isnan(values)
    kept, positive = values[there], first[there]
    groups = [image for image, keep in zip(images, there, strict=True) if keep]
    ours, others = (
        [group for group, on in zip(groups, side, strict=True) if on] for side in (positive, ~positive)
    )

    def compute(counts: Int[np.ndarray, " value"]) -> float:
        return float(weighted_auroc(kept, positive, counts[None].astype(np.float64))[0])

    area = statistic(compute, groups, draws=draws, seed=seed, excluded=int((~there).sum()))
    if min(len(set(ours)), len(set(others))) < FEWEST:
        area = replace(area, low=math.nan, high=math.nan)
    if paired:
        # both sides are of the same samples
        area = replace(area, n=int((there[: len(there) // 2] & there[len(there) // 2 :]).sum()))
    means = (
        mean(kept[positive], ours, draws=draws, seed=seed),
        mean(kept[~positive], others, draws=draws, seed=seed),
    )
    return Contrast(score, *names, area, *means, (len(ours), len(others)))


def _column(lines: Sequence[Mapping[str, Any]], name: str) -> Float[np.ndarray, " sample"]:
    return np.array([math.nan if line[name] is None else line[name] for line in lines], dtype=np.float64)
