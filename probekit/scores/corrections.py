"""Corrections at inference time: functions from stored evidence to a decision, tuned on other pictures.

Each is a frozen value with its parameters; ``decide`` takes what the store holds about each question and
gives decisions. The kinds are those of POPE-audit's Table 8 with two of its obvious relatives; the paper
does not print their formulas, so those here are ours. Only `YesBiasShift` and `CertaintyWeighting` with
``suppress_only=False`` can turn a no into a yes; the others take yes answers away.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int8

from probekit.benchmarks.yesno import NO, UNKNOWN, YES
from probekit.errors import UnservedError


@dataclass(frozen=True)
class Evidence:
    """What is stored about each question; a column that was not stored is ``None``, a missing value NaN.

    Attributes:
        gap: yes logit minus no logit at the first answer position.
        entropy: entropy (nats) of the next-token distribution there.
        attention: attention mass of the last prompt token on the image, in [0, 1].
        certainty: score of an external image-text model that the object is in the picture.
    """

    gap: Float[np.ndarray, "question"]
    entropy: Float[np.ndarray, "question"] | None = None
    attention: Float[np.ndarray, "question"] | None = None
    certainty: Float[np.ndarray, "question"] | None = None

    def __len__(self) -> int:
        return len(self.gap)

    def take(self, rows: Bool[np.ndarray, "question"]) -> "Evidence":
        """The evidence of some of the questions."""
        columns = (self.gap, self.entropy, self.attention, self.certainty)
        gap, *others = (None if column is None else column[rows] for column in columns)
        assert gap is not None
        return Evidence(gap, *others)


@runtime_checkable
class Correction(Protocol):
    """A decision rule over stored evidence."""

    @property
    def name(self) -> str:
        """The kind, as tables call it."""
        ...

    def decide(self, evidence: Evidence) -> Int8[np.ndarray, "question"]:
        """1 yes, 0 no, -1 where a needed value is missing.

        Raises:
            UnservedError: a column it needs was not stored.
        """
        ...


@dataclass(frozen=True)
class YesBiasShift:
    """Yes when the gap exceeds ``shift``; 0 is the uncorrected readout.

    Attributes:
        shift: in logits; positive suppresses yes.
    """

    shift: float = 0.0
    name: ClassVar[str] = "yes_bias_shift"

    def decide(self, evidence: Evidence) -> Int8[np.ndarray, "question"]:
        """Compare the gap with the shift; a tie is no."""
        return _decided(evidence.gap, evidence.gap > self.shift)

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple["YesBiasShift", ...]:
        """No shift, then the deciles of the gaps of the calibration pictures."""
        return (cls(), *(cls(value) for value in _quantiles(evidence.gap)))


@dataclass(frozen=True)
class MagnitudeGating:
    """A yes whose gap is below ``threshold`` becomes a no.

    On the gap alone this is a yes-bias shift that never helps a yes: it is here because it is published.

    Attributes:
        threshold: in logits, not negative.
    """

    threshold: float = 0.0
    name: ClassVar[str] = "magnitude_gating"

    def decide(self, evidence: Evidence) -> Int8[np.ndarray, "question"]:
        """Keep a yes only where its gap reaches the threshold."""
        return _gated(evidence.gap, np.abs(evidence.gap), evidence.gap >= self.threshold)

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple["MagnitudeGating", ...]:
        """Deciles of the gaps of the calibration pictures' yes answers."""
        return (cls(), *(cls(value) for value in _quantiles(evidence.gap[evidence.gap > 0])))


@dataclass(frozen=True)
class EntropyGating:
    """A yes whose next-token entropy exceeds ``threshold`` becomes a no.

    Attributes:
        threshold: in nats.
    """

    threshold: float = math.inf
    name: ClassVar[str] = "entropy_gating"

    def decide(self, evidence: Evidence) -> Int8[np.ndarray, "question"]:
        """Keep a yes only where the entropy stays at or below the threshold."""
        entropy = _column(evidence.entropy, "entropy", self.name)
        return _gated(evidence.gap, entropy, entropy <= self.threshold)

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple["EntropyGating", ...]:
        """Deciles of the entropies of the calibration pictures' yes answers."""
        entropy = _column(evidence.entropy, "entropy", cls.name)
        return (cls(), *(cls(value) for value in _quantiles(entropy[evidence.gap > 0])))


@dataclass(frozen=True)
class AttentionGating:
    """A yes given with little (or much) attention to the picture becomes a no.

    Attributes:
        threshold: attention mass in [0, 1]; NaN gates nothing.
        suppress: the side that loses its yes. ``low`` is what grounding suggests; POPE-audit finds
            that wrong answers attend more, so ``high`` is offered beside it.
    """

    threshold: float = math.nan
    suppress: Literal["low", "high"] = "low"
    name: ClassVar[str] = "attention_gating"

    def decide(self, evidence: Evidence) -> Int8[np.ndarray, "question"]:
        """Keep a yes only on the other side of the threshold, the threshold itself included."""
        attention = _column(evidence.attention, "attention", self.name)
        lost = attention < self.threshold if self.suppress == "low" else attention > self.threshold
        return _gated(evidence.gap, attention, ~lost)

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple["AttentionGating", ...]:
        """Deciles of the attention of the calibration pictures' yes answers, on either side."""
        attention = _column(evidence.attention, "attention", cls.name)
        cuts = _quantiles(attention[evidence.gap > 0])
        sides: tuple[Literal["low", "high"], ...] = ("low", "high")
        return (cls(), *(cls(value, side) for side in sides for value in cuts))


@dataclass(frozen=True)
class CertaintyWeighting:
    """The gap is moved by an external model's belief that the object is there.

    With z = (certainty - mean) / sd: gap - beta sigmoid(-z) when ``suppress_only``, so that a doubtful
    object costs its yes up to beta logits; gap + beta z otherwise.

    Attributes:
        beta: strength in logits; 0 is the uncorrected readout.
        mean: of the certainty over the calibration pictures.
        sd: of the certainty over the calibration pictures.
        suppress_only: only ever lower the gap.
    """

    beta: float = 0.0
    mean: float = 0.0
    sd: float = 1.0
    suppress_only: bool = True
    name: ClassVar[str] = "certainty_weighting"

    def decide(self, evidence: Evidence) -> Int8[np.ndarray, "question"]:
        """Compare the moved gap with zero; a tie is no."""
        certainty = _column(evidence.certainty, "certainty", self.name)
        z = (certainty - self.mean) / self.sd
        moved = -1.0 / (1.0 + np.exp(np.clip(z, -500, 500))) if self.suppress_only else z
        value = evidence.gap + self.beta * moved
        return _decided(value, value > 0)

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple["CertaintyWeighting", ...]:
        """The paper's strengths 1 and 1.5, and shares of the usual gap, in both forms; z from calibration."""
        certainty = _column(evidence.certainty, "certainty", cls.name)
        known = certainty[~np.isnan(certainty)]
        mean = float(known.mean()) if len(known) else 0.0
        sd = float(known.std()) if len(known) and known.std() > 0 else 1.0
        gaps = np.abs(evidence.gap[~np.isnan(evidence.gap)])
        usual = float(np.median(gaps)) if len(gaps) else 0.0
        strengths = (1.0, 1.5, *(share * usual for share in (0.25, 0.5, 1.0, 2.0)))
        return (
            cls(0.0, mean, sd),
            *(cls(beta, mean, sd, only) for only in (True, False) for beta in strengths),
        )


CORRECTIONS: Mapping[
    str,
    type[YesBiasShift | MagnitudeGating | EntropyGating | AttentionGating | CertaintyWeighting],
] = MappingProxyType(
    {
        kind.name: kind
        for kind in (YesBiasShift, CertaintyWeighting, EntropyGating, MagnitudeGating, AttentionGating)
    }
)
"""The kinds, by name."""

BASELINE = YesBiasShift(0.0)
"""The readout itself: yes when the gap is positive."""


def _decided(
    needed: Float[np.ndarray, "question"], yes: Bool[np.ndarray, "question"]
) -> Int8[np.ndarray, "question"]:
    decisions = np.where(yes, YES, NO).astype(np.int8)
    decisions[np.isnan(needed)] = UNKNOWN
    return decisions


def _gated(
    gap: Float[np.ndarray, "question"],
    needed: Float[np.ndarray, "question"],
    keep: Bool[np.ndarray, "question"],
) -> Int8[np.ndarray, "question"]:
    """A yes stays where ``keep``; a missing value decides only where it is needed, on a yes."""
    decisions = _decided(gap, (gap > 0) & keep)
    decisions[(gap > 0) & np.isnan(needed)] = UNKNOWN
    return decisions


def _column(
    values: Float[np.ndarray, "question"] | None, name: str, who: str
) -> Float[np.ndarray, "question"]:
    if values is None:
        raise UnservedError(
            f"the evidence has no column {name!r}",
            where=f"correction {who}",
            hint="Give the column, or leave this correction out.",
        )
    return values


def _quantiles(values: Float[np.ndarray, "question"], parts: int = 10) -> tuple[float, ...]:
    """Inner quantiles of the values that are there, distinct."""
    known = values[~np.isnan(values)]
    if not len(known):
        return ()
    return tuple(dict.fromkeys(float(v) for v in np.quantile(known, np.arange(1, parts) / parts)))


def image_mask(images: Sequence[str], chosen: Collection[str]) -> Bool[np.ndarray, "question"]:
    """Which questions are about one of the chosen pictures."""
    return np.fromiter((image in chosen for image in images), dtype=bool, count=len(images))
