"""Which samples and distractors stay: filtering by what a set of gating models can answer. SPEC 6."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from probekit.benchmarks.deflection import Outcome
from probekit.errors import InputError

ParametricRule = Literal["none_correct", "all_incorrect"]
"""``none_correct``: no gating model is right without evidence, so a model that declines passes (the
paper's sentence). ``all_incorrect``: each one must be judged incorrect (a second reading)."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether something stays, and why not."""

    keep: bool
    reason: str = ""


def gate_parametric(outcomes: Mapping[str, Outcome], rule: ParametricRule = "none_correct") -> Kept:
    """Stage I: a sample stays if the gating models cannot answer it from memory.

    Args:
        outcomes: gating model -> its outcome without evidence.
    """
    if not outcomes:
        raise InputError("no gating model answered")
    right = [model for model, outcome in outcomes.items() if outcome is Outcome.CORRECT]
    if right:
        return Kept(False, f"answered from memory by {', '.join(right)}")
    if rule == "all_incorrect":
        declined = [model for model, outcome in outcomes.items() if outcome is not Outcome.INCORRECT]
        if declined:
            return Kept(False, f"declined by {', '.join(declined)}")
    return Kept(True)


def gate_answerable(outcomes: Mapping[str, Outcome]) -> Kept:
    """Stage III, samples: one that every gating model fails with gold evidence is dropped."""
    if not outcomes:
        raise InputError("no gating model answered")
    if not any(outcome is Outcome.CORRECT for outcome in outcomes.values()):
        return Kept(False, "no gating model answers it with the gold evidence")
    return Kept(True)


def gate_distractors(outcomes: Sequence[Mapping[str, Outcome]]) -> tuple[Kept, ...]:
    """Stage III, distractors: one that lets any gating model answer correctly is dropped.

    Args:
        outcomes: for each distractor, gating model -> its outcome given that distractor alone.
    """
    kept = []
    for by_model in outcomes:
        right = [model for model, outcome in by_model.items() if outcome is Outcome.CORRECT]
        kept.append(Kept(not right, f"gives the answer away to {', '.join(right)}" if right else ""))
    return tuple(kept)
