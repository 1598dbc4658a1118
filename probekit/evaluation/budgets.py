"""How many non-assertive mentions join the fit set as negatives, and which. SPEC 3.4; NAME-Bench 5."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from jaxtyping import Int

from probekit.detectors.table import CONCRETE, HALLUCINATED, NON_ASSERTIVE

Mix = Literal["none", "natural", "10", "30", "100", "max"]
MIXES: tuple[Mix, ...] = get_args(Mix)


def budget(mix: Mix, concrete: int, hallucinated: int, available: int, natural_share: float) -> int:
    """Non-assertive fit examples of a mix, never more than there are.

    Args:
        mix: ``none``; ``natural``, so many that their share of the fit set is ``natural_share``; ``10``,
            ``30``, ``100`` percent of the fit hallucinations; ``max``, all.
        concrete: concrete fit examples.
        hallucinated: hallucinated fit examples.
        available: non-assertive examples of the fit images.
        natural_share: s, the share of non-assertive mentions in captions as they come.
    """
    if mix == "none":
        wanted = 0
    elif mix == "max":
        wanted = available
    elif mix == "natural":
        if not np.isfinite(natural_share):
            return 0
        if natural_share >= 1:
            return available
        wanted = round(min(natural_share / (1 - natural_share) * (concrete + hallucinated), available))
    else:
        wanted = round(int(mix) / 100 * hallucinated)
    return min(wanted, available)


def fit_rows(
    fit: Int[np.ndarray, " fit"],
    label: Int[np.ndarray, " row"],
    mix: Mix,
    seed: int,
    natural_share: float,
    allowed: np.ndarray | None = None,
    size: int | None = None,
) -> Int[np.ndarray, " chosen"]:
    """Rows to fit on: all concrete and hallucinated ones, and a prefix of the non-assertive ones.

    The non-assertive rows of a seed stand in one random order and every budget takes a prefix, so that a
    larger budget holds the smaller one.

    Args:
        fit: rows of the fit images.
        label: class codes of all rows.
        mix: the budget.
        seed: of the order.
        natural_share: s of the natural budget.
        allowed: mask over all rows; non-assertive rows outside it are passed over.
        size: this many non-assertive rows in place of what the mix says, for unseen-subtype draws.
    """
    classes = label[fit]
    own = fit[classes != NON_ASSERTIVE]
    others = fit[classes == NON_ASSERTIVE]
    order = others[np.random.default_rng([seed, 41]).permutation(len(others))]
    if allowed is not None:
        order = order[allowed[order]]
    counts = int((classes == CONCRETE).sum()), int((classes == HALLUCINATED).sum())
    number = budget(mix, *counts, len(order), natural_share) if size is None else min(size, len(order))
    return np.sort(np.concatenate([own, order[:number]]))
