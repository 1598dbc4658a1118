"""What a Ghost run found: rates from the texts, quantities and detectors from the store, a line an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from probekit.evaluation.ghost_detectors import (
    DetectorResult,
    detector_scores,
    judge_detectors,
)
from probekit.evaluation.ghost_evidence import GhostRows, QuantityResult, analyse
from probekit.evaluation.ghost_store import LEFT_OUT, GhostTrace, load_trace
from probekit.files import Json
from probekit.metrics.estimates import DRAWS
from probekit.metrics.rates import GhostResponse, GhostResult, Policy, evaluate, verdict, with_rule_scores
from probekit.metrics.rates_verdict import UNLABELLED

RECORDED, WORDING = "recorded scores", "wording, no judge"
"""Where H-Scores come from."""


@dataclass(frozen=True)
class GhostSummary:
    """All that page, tables and terminal show of one run.

    Attributes:
        rates: H-Rate and H-Score by group.
        score_source: `RECORDED`, `WORDING`, or both with their counts.
        quantities: by group, then quantity.
        layers: mean image mass of each layer at each tone; ``None`` where attention rows are missing.
        tones: levels, in order.
        blocks: blocks behind the image mass, inclusive.
        detectors: by group, then detector.
        trained: heads that were used, by detector.
        left_out: detectors that were not applied, and why.
        unserved: captures that the model's family has not, and why.
        missing: answers without a value, by quantity.
        counts: responses, those without a verdict (empty or not decodable), presence answers with neither
            label, and those not traced.
    """

    rates: GhostResult
    score_source: str
    quantities: Mapping[str, Mapping[str, QuantityResult]]
    layers: Float[np.ndarray, "tone layer"] | None
    tones: tuple[int, ...]
    blocks: tuple[int, int]
    detectors: Mapping[str, Mapping[str, DetectorResult]]
    trained: Mapping[str, str]
    left_out: Mapping[str, str]
    unserved: Mapping[str, str]
    missing: Mapping[str, int]
    counts: Mapping[str, int]

    def record(self) -> dict[str, Any]:
        """The same as JSON values."""
        found = asdict(self)
        found["layers"] = None if self.layers is None else self.layers.tolist()
        return found


def summarise(
    folder: Path,
    responses: Sequence[GhostResponse],
    *,
    policy: Policy | None = None,
    detectors: Sequence[str] | None = None,
    heads: Path | None = None,
    mix: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[GhostSummary, list[Json]]:
    """Summarise a traced run; also a line an answer.

    Args:
        folder: of the run, with its stores.
        responses: what the model answered.
        policy: choices of the H-Rate rules.
        detectors, heads, mix: see `probekit.evaluation.ghost_detectors.detector_scores`.
    """
    scored, by_wording = with_rule_scores(responses)
    verdicts = [verdict(r.text, r.image, policy) for r in responses]
    rows = GhostRows(
        tuple(r.image.image_id for r in responses),
        tuple(r.tone for r in responses),
        tuple(r.image.category for r in responses),
        np.array([math.nan if v.hallucinated is None else float(v.hallucinated) for v in verdicts]),
    )
    examples = [f"{r.image.image_id}-tone{r.tone}" for r in responses]
    trace = load_trace(folder, examples)
    scores = detector_scores(folder, examples, trace, detectors=detectors, heads=heads, mix=mix)
    summary = GhostSummary(
        rates=evaluate(scored, policy, draws=draws, seed=seed),
        score_source=_source(by_wording, sum(r.score is not None for r in responses)),
        quantities=analyse(rows, trace.values, draws=draws, seed=seed),
        layers=_layers(trace, rows),
        tones=rows.tones,
        blocks=trace.blocks,
        detectors=judge_detectors(rows, scores.scores, draws=draws, seed=seed),
        trained=scores.trained,
        left_out=scores.left_out,
        unserved=dict(trace.header.extra.get(LEFT_OUT, {})),
        missing={name: int(np.isnan(column).sum()) for name, column in trace.values.items()},
        counts={
            "responses": len(responses),
            "without_verdict": int(np.isnan(rows.verdict).sum()),
            "without_label": sum(v.rule in UNLABELLED for v in verdicts),
            "not_traced": int((~trace.traced).sum()),
        },
    )
    lines = [
        {
            "example_id": example,
            "image_id": r.image.image_id,
            "image": r.image.image,
            "category": str(r.image.category),
            "tone": r.tone,
            "target": r.image.target,
            "text": r.text,
            "hallucinated": found.hallucinated,
            "rule": found.rule,
            "score": level.score,
            **{name: float(column[n]) for name, column in trace.values.items()},
            "detectors": {name: float(column[n]) for name, column in scores.scores.items()},
        }
        for n, (example, r, found, level) in enumerate(
            zip(examples, responses, verdicts, scored, strict=True)
        )
    ]
    return summary, lines


def _source(by_wording: int, recorded: int) -> str:
    if by_wording and recorded:
        return f"{RECORDED} for {recorded}, {WORDING} for {by_wording}"
    return RECORDED if recorded else WORDING


def _layers(trace: GhostTrace, rows: GhostRows) -> Float[np.ndarray, "tone layer"] | None:
    if trace.layers is None:
        return None
    found = np.full((len(rows.tones), trace.layers.shape[1]), math.nan)
    tone = np.array(rows.tone)
    for n, level in enumerate(rows.tones):
        here = trace.layers[(tone == level) & trace.traced]
        if len(here):
            found[n] = here.mean(axis=0)
    return found
