"""All numbers of a DeflectionBench run: rates by scenario and kind, detectors, attention."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from probekit.benchmarks.deflection import Outcome, Scenario
from probekit.captures import GROUPS
from probekit.detectors.heads.base import NotFittableError
from probekit.evaluation.deflection_detectors import Selected, compare_detectors, cross_validated
from probekit.evaluation.deflection_store import DeflectionTrace
from probekit.metrics.deflection import DeflectionResult, evaluate
from probekit.metrics.deflection_responses import DeflectionResponse
from probekit.metrics.estimates import DRAWS, Estimate, mean

ALL = "all"


@dataclass(frozen=True)
class DeflectionSummary:
    """What a run found.

    Attributes:
        results: rates of all samples under `ALL`, then by kind where there are several.
        forced: rates of the forced answers, in the same way.
        forced_apart: whether they were asked apart; otherwise the wording offers no declining and the
            forced answers are the free ones.
        detectors: by scenario, all of them under `ALL`; empty without a traced pass.
        attention: by scenario, where the first token's query looks, by key group.
        notes: why something is missing.
        samples: how many there are.
    """

    results: Mapping[str, DeflectionResult]
    forced: Mapping[str, DeflectionResult]
    forced_apart: bool
    detectors: Mapping[str, tuple[Selected, ...]]
    attention: Mapping[str, Mapping[str, Estimate]]
    notes: tuple[str, ...]
    samples: int
    replay: float = field(default=math.nan)

    def record(self) -> dict[str, Any]:
        """The numbers as JSON holds them."""
        return asdict(self)


def summarise(
    free: Sequence[DeflectionResponse],
    forced: Sequence[DeflectionResponse],
    trace: DeflectionTrace | None,
    *,
    forced_apart: bool,
    draws: int = DRAWS,
    seed: int = 0,
) -> DeflectionSummary:
    """Put the numbers of a run together.

    Args:
        free: answers with declining on offer.
        forced: answers to the same prompts in the same order, without it.
        trace: evidence of the forced answers, in their order.
    """
    groups = [response.sample.sample_id for response in free]
    outcomes = [response.outcome for response in free]
    right = np.array([response.outcome is Outcome.CORRECT for response in forced])
    detectors: dict[str, tuple[Selected, ...]] = {}
    attention: dict[str, Mapping[str, Estimate]] = {}
    notes: list[str] = []
    if trace is not None:
        confidences = trace.confidences()
        trained = []
        for name, states in trace.states.items():
            try:
                confidences[name] = -cross_validated(states, ~right, groups, seed=seed)
                trained.append(name)
            except NotFittableError as error:
                notes.append(f"{name}: {error.what}")
        for part in (ALL, *Scenario):
            held = [i for i, r in enumerate(free) if part in (ALL, r.scenario)]
            if held:
                detectors[str(part)] = compare_detectors(
                    [outcomes[i] for i in held],
                    right[held],
                    {name: values[held] for name, values in confidences.items()},
                    [groups[i] for i in held],
                    trained=trained,
                    draws=draws,
                    seed=seed,
                )
        if trace.attention is None:
            notes.append("attention: the model has layers without attention rows over the text")
        else:
            for scenario in Scenario:
                held = [i for i, r in enumerate(free) if r.scenario is scenario]
                attention[str(scenario)] = {
                    name: mean(trace.attention[held, at], [groups[i] for i in held], draws=draws, seed=seed)
                    for at, name in enumerate(GROUPS)
                }
    return DeflectionSummary(
        _by_kind(free, draws, seed),
        _by_kind(forced, draws, seed),
        forced_apart,
        detectors,
        attention,
        tuple(notes),
        len(set(groups)),
        math.nan if trace is None else trace.replay,
    )


def _by_kind(responses: Sequence[DeflectionResponse], draws: int, seed: int) -> dict[str, DeflectionResult]:
    kinds = list(dict.fromkeys(response.sample.kind for response in responses))
    found = {}
    for kind in (ALL, *(kinds if len(kinds) > 1 else ())):
        held = [r for r in responses if kind in (ALL, r.sample.kind)]
        found[kind or "(no kind)"] = evaluate(
            [r.outcome for r in held],
            [r.scenario for r in held],
            [r.sample.sample_id for r in held],
            draws=draws,
            seed=seed,
        )
    return found
