"""The audit of a yes/no benchmark: every readout, what each one covers, and what follows from the choice.

Nothing here believes one readout: each is tried, those that did not see the answers are refused with the
reason, and all that depends on a choice is computed from one named reference readout.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from probekit.errors import InputError
from probekit.evaluation.effect_maps import EffectMap, effect_map
from probekit.evaluation.effects import EffectSizes, compare
from probekit.evaluation.image_attention import image_attention, scaled_blocks
from probekit.evaluation.pope_inputs import PopeInputs
from probekit.evaluation.pope_readouts import ReadoutResult, try_readouts
from probekit.metrics.estimates import DRAWS
from probekit.metrics.pope_flow import (
    FirstToken,
    Group,
    correct,
    first_tokens,
    outcome_groups,
    outcomes,
    running_yes_rate,
)
from probekit.metrics.pope_transitions import Transitions, transitions
from probekit.readouts import Readings
from probekit.readouts.distribution import entropy
from probekit.scores.correction_tuning import TunedCorrection, calibration_images, tune
from probekit.scores.corrections import CORRECTIONS, Evidence

REFERENCES: tuple[str, ...] = ("dynamic_single", "dynamic_mass", "string_parse")
"""The reference is the first of these that covers enough of the answers."""

PAIRS: tuple[tuple[str, str], ...] = (("correct", "wrong"), ("tp", "fp"), ("tn", "fn"))
"""Groups whose attention and logit gap are compared, first minus second."""


@dataclass(frozen=True)
class PopeAudit:
    """All findings about one file of questions.

    Attributes:
        source: which files they come from, with digests and counts.
        readouts: by name.
        reference: name of the readout that everything below rests on.
        transitions: from the reference to every other readout with scores.
        running: running yes-rate by readout.
        first_tokens: what opened the answers, the most frequent first; empty when not known.
        token_texts: text of those tokens, where the tokenizer is known.
        attention: mean image attention of each question over the blocks below; ``None`` without it.
        blocks: inclusive block range of ``attention``.
        gaps: size of the reference's logit gap by outcome.
        attention_groups: image attention by outcome.
        attention_effects: effect sizes of image attention, by pair of groups.
        gap_effects: effect sizes of the size of the logit gap, by pair of groups.
        attention_map: correct against wrong answers in every layer and head.
        corrections: tuned on some pictures and measured on the others.
        skipped: corrections without the evidence they need, with the reason.
        outcomes: outcome of each question under the reference.
    """

    source: Mapping[str, object]
    readouts: Mapping[str, ReadoutResult]
    reference: str
    transitions: tuple[Transitions, ...] = ()
    running: Mapping[str, Float[np.ndarray, "question"]] = field(default_factory=dict)
    first_tokens: tuple[FirstToken, ...] = ()
    token_texts: Mapping[int, str] = field(default_factory=dict)
    attention: Float[np.ndarray, "question"] | None = None
    blocks: tuple[int, int] | None = None
    gaps: Mapping[str, Group] = field(default_factory=dict)
    attention_groups: Mapping[str, Group] = field(default_factory=dict)
    attention_effects: Mapping[str, EffectSizes] = field(default_factory=dict)
    gap_effects: Mapping[str, EffectSizes] = field(default_factory=dict)
    attention_map: EffectMap | None = None
    corrections: tuple[TunedCorrection, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    outcomes: tuple[str, ...] = ()


def audit(
    inputs: PopeInputs,
    *,
    allow_uncovered: Collection[str] = (),
    calibration_share: float = 0.3,
    draws: int = DRAWS,
    seed: int = 0,
) -> PopeAudit:
    """Try every readout the inputs allow and work out what depends on the choice.

    Args:
        allow_uncovered: names of readouts whose scores are wanted below a coverage of 0.99 as well.
        calibration_share: share of pictures on which corrections are tuned.
        draws: bootstrap draws behind each interval.
        seed: of the bootstrap and of the calibration pictures.

    Raises:
        InputError: a name in ``allow_uncovered`` is no readout here, or too few pictures to split.
    """
    labels, images = inputs.labels, inputs.images
    results = try_readouts(inputs, allow_uncovered, draws=draws, seed=seed)
    reference = next(name for name in REFERENCES if name in results and not results[name].refused)
    readings = results[reference].readings
    assert readings is not None
    decisions = readings.decisions
    shown = {name: r.readings.decisions for name, r in results.items() if r.scores and r.readings}
    gap = None if readings.gap is None else np.abs(readings.gap)
    attention = None if inputs.attention is None else image_attention(inputs.attention)
    right = correct(labels, decisions)
    groups = outcomes(labels, decisions)

    def effects(values: Float[np.ndarray, "question"] | None) -> dict[str, EffectSizes]:
        if values is None:
            return {}
        return {
            f"{first} - {second}": _compare(values, right, groups, images, first, second, draws, seed)
            for first, second in PAIRS
        }

    opened = _first_ids(inputs)
    counts = () if opened is None else first_tokens(labels[opened >= 0], opened[opened >= 0])
    tuned, skipped = _corrections(inputs, readings, attention, calibration_share, draws, seed)
    decided = right >= 0
    return PopeAudit(
        source=_source(inputs),
        readouts=results,
        reference=reference,
        transitions=tuple(
            transitions(labels, decisions, other, (reference, name))
            for name, other in shown.items()
            if name != reference
        ),
        running={name: running_yes_rate(other) for name, other in shown.items()},
        first_tokens=counts,
        token_texts={}
        if inputs.tokenizer is None
        else {first.token: inputs.tokenizer.decode([first.token]) for first in counts},
        attention=attention,
        blocks=None if inputs.attention is None else scaled_blocks(inputs.attention.shape[1]),
        gaps={} if gap is None else outcome_groups(labels, decisions, gap),
        attention_groups={} if attention is None else outcome_groups(labels, decisions, attention),
        attention_effects=effects(attention),
        gap_effects=effects(gap),
        attention_map=None
        if inputs.attention is None
        else effect_map(inputs.attention[decided], right[decided] == 1),
        corrections=tuned,
        skipped=skipped,
        outcomes=tuple(groups.tolist()),
    )


def _compare(
    values: Float[np.ndarray, "question"],
    right: np.ndarray,
    groups: np.ndarray,
    images: list[str],
    first: str,
    second: str,
    draws: int,
    seed: int,
) -> EffectSizes:
    in_first = right == 1 if first == "correct" else groups == first
    in_second = right == 0 if second == "wrong" else groups == second
    rows = in_first | in_second
    kept = [image for image, row in zip(images, rows, strict=True) if row]
    return compare(values[rows].astype(np.float64), in_first[rows], kept, draws=draws, seed=seed)


def _first_ids(inputs: PopeInputs) -> np.ndarray | None:
    """The first generated id of each answer, -1 where it is not known; from the logits without ids."""
    ids = inputs.answers.token_ids
    if any(i is not None for i in ids):
        return np.array([i[0] if i else -1 for i in ids], dtype=np.int64)
    if inputs.logits is None:
        return None
    missing = np.isnan(inputs.logits).any(axis=1)
    first = np.full(len(inputs.logits), -1, dtype=np.int64)
    first[~missing] = inputs.logits[~missing].argmax(axis=1)
    return first


def _corrections(
    inputs: PopeInputs,
    readings: Readings,
    attention: Float[np.ndarray, "question"] | None,
    share: float,
    draws: int,
    seed: int,
) -> tuple[tuple[TunedCorrection, ...], dict[str, str]]:
    if readings.gap is None:
        return (), dict.fromkeys(CORRECTIONS, "the reference readout has no gap to correct")
    spread = None if inputs.logits is None else entropy(inputs.logits)
    evidence = Evidence(readings.gap, spread, attention, inputs.certainty)
    calibration = calibration_images(inputs.images, share, seed)
    tuned, skipped = [], {}
    for kind in CORRECTIONS:
        try:
            tuned.append(
                tune(kind, evidence, inputs.labels, inputs.images, calibration, draws=draws, seed=seed)
            )
        except InputError as error:
            skipped[kind] = error.what
    return tuple(tuned), skipped


def _source(inputs: PopeInputs) -> dict[str, object]:
    return {
        "questions": inputs.questions.source(),
        "answers": {"file": inputs.answers.path, "sha256": inputs.answers.sha256},
        "tokenizer": None if inputs.tokenizer is None else inputs.tokenizer.name,
        "prompt_end": inputs.context,
    }
