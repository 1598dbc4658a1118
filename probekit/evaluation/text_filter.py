"""A filter that reads the text alone: what it marks as no claim is never flagged. SPEC 1.4, Appendix E.

A class-balanced logistic regression on the text-only state tells non-assertive mentions from the other
two classes, fitted on the natural share of them, with its decision at 0.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from probekit.detectors.base import Detector
from probekit.detectors.heads.logistic import Logistic
from probekit.detectors.table import HALLUCINATED, NON_ASSERTIVE
from probekit.detectors.text_only import TEXT_ONLY
from probekit.evaluation.pooled import Pooled
from probekit.evaluation.protocol import Protocol, Scored
from probekit.evaluation.refit import mix_recipe, refit
from probekit.evaluation.setting import Setting
from probekit.labels import NON_ASSERTIVE as SUBTYPES

DECISION = 0.5


@dataclass(frozen=True)
class TextFilter:
    """What the filter marks.

    Attributes:
        marked: by seed, the rows that are taken for non-claims; unscored rows are not marked.
        missing: seeds whose filter could not be fitted, and why.
        caught: by subtype and ``all``, the share of non-assertive test mentions that is marked.
        removed: share of hallucinated test mentions that is marked by mistake.
    """

    marked: Mapping[int, Bool[np.ndarray, " row"]]
    missing: Mapping[int, str]
    caught: Mapping[str, Pooled]
    removed: Pooled

    def keep(self, scored: Scored) -> Scored:
        """The same scores for the seeds that have a filter."""
        kept = {seed: value for seed, value in scored.scores.items() if seed in self.marked}
        missing = {**scored.missing, **self.missing}
        return Scored(scored.detector, scored.variant, scored.mix, kept, missing, scored.baseline)


def text_filter(setting: Setting, protocol: Protocol, detector: Detector = TEXT_ONLY) -> TextFilter:
    """Fit the filter on each split and measure it on the test set.

    Raises:
        UnservedError: the store lacks the pass without the image.
    """
    everyone = setting.population
    target = (everyone.label == NON_ASSERTIVE).astype(np.int64)
    recipe = mix_recipe(setting, "natural")
    head = Logistic(balanced=True)
    (scored,) = refit(detector, setting.table(detector), setting.splits, [recipe], head, target)
    with np.errstate(invalid="ignore"):
        marked = {seed: scores > DECISION for seed, scores in scored.scores.items()}

    def share(chosen: np.ndarray) -> Pooled:
        return protocol.marked_share(marked, chosen)

    caught = {"all": share(everyone.label == NON_ASSERTIVE)}
    caught |= {str(name): share(np.asarray(everyone.subtype == str(name))) for name in SUBTYPES}
    return TextFilter(marked, scored.missing, caught, share(everyone.label == HALLUCINATED))
