"""Mixing budgets for readers: their order, their unit, and how many examples they are."""

from __future__ import annotations

from collections.abc import Mapping

from probekit.evaluation.records import Evaluation
from probekit.report.tables import MIXES, mixes

MEANING = (
    "Mix: non-assertive mentions that join the training examples as not hallucinated. A number is per cent "
    "of the hallucinated training examples; natural is their share in captions as they come; max, all."
)
"""What a mixing budget is."""
UNIT = "mix: non-assertive training examples, % of hallucinated ones"
"""Label of an axis of budgets."""


def shown(mix: str) -> str:
    """A budget with its unit: ``10 %``; names stay as they are."""
    return f"{mix} %" if mix.isdigit() else mix


def budgets(evaluation: Evaluation) -> dict[str, str]:
    """Labels of the mixing budgets, fewest non-assertive training examples first where they are known:
    the natural share may lie anywhere among the fixed ones."""
    known = [mix for mix in mixes(evaluation) if mix in MIXES]
    drawn: Mapping[str, Mapping[str, Mapping[str, int]]] = evaluation.counts.get("budgets", {})
    sizes = {
        mix: sum(seed["non_assertive"] for seed in drawn[mix].values()) / len(drawn[mix])
        for mix in known
        if drawn.get(mix)
    }
    if set(sizes) != set(known):
        return {mix: shown(mix) for mix in known}
    return {mix: f"{shown(mix)}\n{sizes[mix]:.0f}" for mix in sorted(known, key=lambda mix: sizes[mix])}
