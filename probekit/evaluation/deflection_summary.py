"""All numbers of a DeflectionBench run: rates by scenario and kind, detectors, attention."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from probekit.benchmarks.deflection import Outcome, Scenario
from probekit.captures import GROUPS
from probekit.detectors.heads.base import NotFittableError
from probekit.evaluation.deflection_detectors import Selected, compare_detectors, cross_validated
from probekit.evaluation.deflection_store import LENGTH, DeflectionTrace
from probekit.metrics.deflection import DeflectionResult, agreement, evaluate
from probekit.metrics.deflection_responses import DeflectionResponse
from probekit.metrics.estimates import DRAWS, Estimate, mean

ALL = "all"


@dataclass(frozen=True)
class Whose:
    """Who gave the outcomes of some answers.

    Attributes:
        rules: answers that only the rules have judged.
        judges: answers by the judge that overrules the rules.
        share, kappa: agreement of the rules with the judges on those; NaN without any.
    """

    rules: int
    judges: Mapping[str, int]
    share: float
    kappa: float

    @classmethod
    def of(cls, responses: Sequence[DeflectionResponse]) -> Whose:
        """Counted."""
        judged = [response for response in responses if response.judged is not None]
        both = agreement([r.rules for r in judged], [r.judged for r in judged])
        return cls(
            len(responses) - len(judged), dict(Counter(r.judge for r in judged)), both.share, both.kappa
        )

    def sentence(self) -> str:
        """In words."""
        if not self.judges:
            return f"Outcomes by the rules ({self.rules:,} answers)."
        by = ", ".join(f"{name or 'a recorded judge'} ({count:,})" for name, count in self.judges.items())
        rest = f", the rules where it gave none ({self.rules:,})" if self.rules else ""
        kappa = "" if math.isnan(self.kappa) else f", kappa {self.kappa:.3f}"
        return f"Outcomes by {by}{rest}. Rules and judge agree on {100 * self.share:.1f} %{kappa}."


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
        groups: groups of samples with a picture in common, which intervals resample and folds keep together.
        whose: whose the outcomes are, of the answers and of the forced ones.
    """

    results: Mapping[str, DeflectionResult]
    forced: Mapping[str, DeflectionResult]
    forced_apart: bool
    detectors: Mapping[str, tuple[Selected, ...]]
    attention: Mapping[str, Mapping[str, Estimate]]
    notes: tuple[str, ...]
    samples: int
    replay: float = field(default=math.nan)
    groups: int = 0
    whose: Mapping[str, Whose] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """The numbers as JSON holds them."""
        return asdict(self)


def summarise(
    free: Sequence[DeflectionResponse],
    forced: Sequence[DeflectionResponse],
    trace: DeflectionTrace | None,
    *,
    forced_apart: bool,
    clusters: Mapping[str, str] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> DeflectionSummary:
    """Put the numbers of a run together.

    Args:
        free: answers with declining on offer.
        forced: answers to the same prompts in the same order, without it.
        trace: evidence of the forced answers, in their order.
        clusters: the group of each sample; each by itself when absent.
    """
    of = clusters or {}
    groups = [of.get(response.sample.sample_id, response.sample.sample_id) for response in free]
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
                    baselines=(LENGTH,),
                    draws=draws,
                    seed=seed,
                )
        notes += [
            f"{one.name}: {one.left_out} answers lack it and are left out of its row"
            for one in detectors.get(ALL, ())
            if one.left_out
        ]
        if trace.attention is None:
            notes.append("attention: the model has layers without attention rows over the text")
        else:
            for scenario in Scenario:
                held = [i for i, r in enumerate(free) if r.scenario is scenario]
                if not held:
                    continue
                attention[str(scenario)] = {
                    name: mean(trace.attention[held, at], [groups[i] for i in held], draws=draws, seed=seed)
                    for at, name in enumerate(GROUPS)
                }
    return DeflectionSummary(
        _by_kind(free, groups, draws, seed),
        _by_kind(forced, groups, draws, seed),
        forced_apart,
        detectors,
        attention,
        tuple(notes),
        len({response.sample.sample_id for response in free}),
        math.nan if trace is None else trace.replay,
        len(set(groups)),
        {"free": Whose.of(free), "forced": Whose.of(forced)},
    )


def _by_kind(
    responses: Sequence[DeflectionResponse], groups: Sequence[str], draws: int, seed: int
) -> dict[str, DeflectionResult]:
    kinds = list(dict.fromkeys(response.sample.kind for response in responses))
    found = {}
    for kind in (ALL, *(kinds if len(kinds) > 1 else ())):
        held = [(r, g) for r, g in zip(responses, groups, strict=True) if kind in (ALL, r.sample.kind)]
        found[kind or "(no kind)"] = evaluate(
            [r.outcome for r, _ in held],
            [r.scenario for r, _ in held],
            [group for _, group in held],
            samples=[r.sample.sample_id for r, _ in held],
            draws=draws,
            seed=seed,
        )
    return found
