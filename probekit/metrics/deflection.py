"""Correct, incorrect or not attempted: the three rates of each scenario, and what they imply."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int

from probekit.benchmarks.deflection import Outcome, Scenario
from probekit.errors import InputError
from probekit.metrics.estimates import DRAWS, Estimate, difference_interval, ratio, statistic


@dataclass(frozen=True)
class ScenarioRates:
    """The three rates of one scenario, which sum to one, and hallucination among attempts.

    Attributes:
        accuracy, deflection, hallucination: shares of the judged responses.
        given_attempt: hallucination / (accuracy + hallucination); NaN when nothing was attempted.
        n: judged responses.
        unjudged: responses without an outcome, left out.
    """

    accuracy: Estimate
    deflection: Estimate
    hallucination: Estimate
    given_attempt: Estimate
    n: int
    unjudged: int


@dataclass(frozen=True)
class DeflectionResult:
    """All scenarios of one model.

    Attributes:
        scenarios: the rates of each scenario that occurs.
        reliability_gap: deflection under adversarial minus deflection under oracle evidence, paired
            by sample group; ``n`` counts the samples judged under both. ``None`` unless both occur. A model
            that declines when it should and only then is at 1.
        evidence_gain: accuracy under oracle minus parametric evidence, paired in the same way.
        gold_gain: accuracy under realistic minus adversarial evidence: what the gold is worth where both
            prompts hold all distractors.
    """

    scenarios: Mapping[Scenario, ScenarioRates]
    reliability_gap: Estimate | None
    evidence_gain: Estimate | None
    gold_gain: Estimate | None


def evaluate(
    outcomes: Sequence[Outcome | None],
    scenarios: Sequence[Scenario],
    groups: Sequence[str],
    *,
    samples: Sequence[str] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> DeflectionResult:
    """Rates per scenario with intervals over resampled groups (the samples, or their images).

    Args:
        samples: the sample of each outcome, which the differences count; each group is one where absent.

    Raises:
        InputError: lengths differ.
    """
    names = groups if samples is None else samples
    if not len(outcomes) == len(scenarios) == len(groups) == len(names):
        raise InputError(
            f"{len(outcomes)} outcomes, {len(scenarios)} scenarios, {len(groups)} groups and {len(names)} "
            "samples"
        )
    found: dict[Scenario, ScenarioRates] = {}
    for scenario in Scenario:
        held = [i for i, s in enumerate(scenarios) if s is scenario]
        if held:
            found[scenario] = _rates([outcomes[i] for i in held], [groups[i] for i in held], draws, seed)

    def change(outcome: Outcome, first: Scenario, second: Scenario) -> Estimate | None:
        if first not in found or second not in found:
            return None
        return _change(outcomes, scenarios, (groups, names), (outcome, first, second), draws, seed)

    return DeflectionResult(
        found,
        change(Outcome.NOT_ATTEMPTED, Scenario.ADVERSARIAL, Scenario.ORACLE),
        change(Outcome.CORRECT, Scenario.ORACLE, Scenario.PARAMETRIC),
        change(Outcome.CORRECT, Scenario.REALISTIC, Scenario.ADVERSARIAL),
    )


@dataclass(frozen=True)
class Agreement:
    """Two labellings of the same responses, such as rules and a judge.

    Attributes:
        share: share of responses with the same outcome; NaN without any.
        kappa: Cohen's kappa; NaN when chance agreement is complete.
        table: (first, second) -> responses.
        n: responses both have labelled.
    """

    share: float
    kappa: float
    table: Mapping[tuple[Outcome, Outcome], int]
    n: int


def agreement(first: Sequence[Outcome | None], second: Sequence[Outcome | None]) -> Agreement:
    """Agreement of two labellings on the responses that both have labelled. SPEC 0.9."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    table = {(a, b): pairs.count((a, b)) for a in Outcome for b in Outcome}
    n = len(pairs)
    if n == 0:
        return Agreement(math.nan, math.nan, table, 0)
    share = sum(a is b for a, b in pairs) / n
    chance = sum(sum(a is o for a, _ in pairs) / n * (sum(b is o for _, b in pairs) / n) for o in Outcome)
    return Agreement(share, (share - chance) / (1 - chance) if chance < 1 else math.nan, table, n)


def _rates(outcomes: Sequence[Outcome | None], groups: Sequence[str], draws: int, seed: int) -> ScenarioRates:
    def of(outcome: Outcome, base: tuple[Outcome, ...]) -> Estimate:
        top = np.array([math.nan if o is None else float(o is outcome) for o in outcomes])
        bottom = np.array([math.nan if o is None else float(o in base) for o in outcomes])
        return ratio(top, bottom, groups, draws=draws, seed=seed)

    every = tuple(Outcome)
    n = sum(o is not None for o in outcomes)
    return ScenarioRates(
        of(Outcome.CORRECT, every),
        of(Outcome.NOT_ATTEMPTED, every),
        of(Outcome.INCORRECT, every),
        of(Outcome.INCORRECT, (Outcome.CORRECT, Outcome.INCORRECT)),
        n,
        len(outcomes) - n,
    )


def _change(
    outcomes: Sequence[Outcome | None],
    scenarios: Sequence[Scenario],
    units: tuple[Sequence[str], Sequence[str]],
    what: tuple[Outcome, Scenario, Scenario],
    draws: int,
    seed: int,
) -> Estimate:
    """Share of an outcome under one scenario minus its share under another, groups drawn with both.

    Args:
        units: the group and the sample of each outcome.
    """
    (groups, samples), (outcome, first, second) = units, what
    held = [
        i
        for i, (o, s) in enumerate(zip(outcomes, scenarios, strict=True))
        if o is not None and s in (first, second)
    ]
    one = np.array([scenarios[i] is first for i in held])
    counted = np.array([outcomes[i] is outcome for i in held])

    def change(counts: Int[np.ndarray, "row"]) -> float:
        shares = []
        for side in (one, ~one):
            base = float((counts * side).sum())
            shares.append(float((counts * (side & counted)).sum()) / base if base else math.nan)
        return shares[0] - shares[1]

    names = [groups[i] for i in held]
    of = {samples[i]: groups[i] for i in held}
    both = {samples[i] for i in held if scenarios[i] is first} & {
        samples[i] for i in held if scenarios[i] is second
    }
    drawn = statistic(change, names, draws=draws, seed=seed)
    found = replace(drawn, n=len(both), groups=len({of[sample] for sample in both}))
    if not math.isnan(found.low) or math.isnan(found.value) or draws == 0:
        return found
    behind = min(len({name for name, on in zip(names, side, strict=True) if on}) for side in (one, ~one))
    low, high = difference_interval(found.value, behind)
    return replace(found, low=low, high=high)
