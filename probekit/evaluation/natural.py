"""How often captions name what they do not claim, and claim what is not there. NAME-Bench Table 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from probekit.detectors.table import CONCRETE, HALLUCINATED, NON_ASSERTIVE, Population
from probekit.evaluation.measures import REPLICATES, Resamples
from probekit.evaluation.pooled import Pooled
from probekit.labels import NON_ASSERTIVE as SUBTYPES
from probekit.labels import LabelSet, Usage
from probekit.metrics.estimates import share_interval


def natural_rates(population: Population, replicates: int = REPLICATES) -> Mapping[str, Pooled]:
    """Rates over all labelled mentions with intervals that resample images.

    Meaningful only where captions come as the model writes them, on images drawn at random.

    Returns:
        ``non_assertive_share``: non-assertive among all mentions; ``hallucination_rate``: hallucinated
        among existential ones; ``share_SUBTYPE``: each subtype among all mentions.
    """
    resamples = Resamples.of(population.image, replicates)
    codes = resamples.codes(population.image)

    def rate(hits: np.ndarray, among: np.ndarray) -> Pooled:
        rows = np.flatnonzero(among)
        if len(rows) == 0:
            return Pooled(float("nan"), float("nan"), float("nan"), 0)
        share, images = float(hits[rows].mean()), len(np.unique(codes[rows]))
        drawn = resamples.share(codes[rows], hits[rows])
        return Pooled(share, *share_interval(share, drawn.tolist(), images), len(rows), images)

    label = population.label
    everyone = np.ones(len(population), dtype=bool)
    existential = (label == CONCRETE) | (label == HALLUCINATED)
    return {
        "non_assertive_share": rate(label == NON_ASSERTIVE, everyone),
        "hallucination_rate": rate(label == HALLUCINATED, existential),
        **{f"share_{name}": rate(np.asarray(population.subtype == str(name)), everyone) for name in SUBTYPES},
    }


def hedges_as_claims(labels: LabelSet) -> LabelSet:
    """The opposite convention of NAME-Bench 5.3: a hedged mention counts as existential."""
    return LabelSet.of(
        replace(row, usage=Usage.EXISTENTIAL) if row.usage is Usage.HEDGED else row for row in labels
    )


def chair_non_assertive_share(share: float, rate: float, on_non_assertive: float, recall: float) -> float:
    """Part of CHAIR's hallucinations that claim nothing. SPEC 3.1.

    Args:
        share: natural share of non-assertive mentions, s.
        rate: hallucinations among existential mentions, h.
        on_non_assertive: share of non-assertive mentions that CHAIR counts, c_N.
        recall: share of hallucinated mentions that CHAIR counts, c_H.
    """
    wrong = share * on_non_assertive
    return wrong / (wrong + (1 - share) * rate * recall)
