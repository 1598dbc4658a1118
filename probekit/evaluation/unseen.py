"""Leave one subtype out: does a probe learn a kind of non-claim from the others? NAME-Bench Table 6."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from probekit.detectors.base import Detector
from probekit.evaluation.budgets import Mix, fit_rows
from probekit.evaluation.pooled import Pooled
from probekit.evaluation.protocol import Protocol
from probekit.evaluation.refit import RowsOf, mix_recipe, refit
from probekit.evaluation.setting import Setting
from probekit.evaluation.splits import Split
from probekit.labels import NON_ASSERTIVE

BUDGET: Mix = "30"


@dataclass(frozen=True)
class Unseen:
    """One detector and one subtype.

    Attributes:
        detector: its name.
        subtype: the subtype that is flagged or not.
        seen: its FPR when the fit draws from all subtypes.
        unseen: its FPR when the same number is drawn from the other three.
    """

    detector: str
    subtype: str
    seen: Pooled
    unseen: Pooled


def leave_one_out(setting: Setting, detector: Detector, protocol: Protocol) -> list[Unseen]:
    """FPR of each subtype, seen and unseen, at a budget of 30 % of the fit hallucinations."""
    everyone = setting.population
    names = [str(name) for name in NON_ASSERTIVE]
    recipes = [mix_recipe(setting, BUDGET), *((f"without {name}", _without(setting, name)) for name in names)]
    seen, *unseen = refit(detector, setting.table(detector), setting.splits, recipes)
    return [
        Unseen(
            detector.name,
            name,
            protocol.share(seen, np.asarray(everyone.subtype == name)),
            protocol.share(without, np.asarray(everyone.subtype == name)),
        )
        for name, without in zip(names, unseen, strict=True)
    ]


def _without(setting: Setting, subtype: str) -> RowsOf:
    everyone = setting.population

    def rows_of(split: Split) -> Int[np.ndarray, " fit"]:
        images = split.rows("fit", everyone.image)
        full = fit_rows(images, everyone.label, BUDGET, split.seed, setting.natural_share)
        number = int((everyone.subtype[full] != "").sum())
        allowed = np.asarray(everyone.subtype != subtype)
        return fit_rows(
            images, everyone.label, BUDGET, split.seed, setting.natural_share, allowed=allowed, size=number
        )

    return rows_of
