"""Rows of the Tri-Layer study from its evidence, offline: other choices need no other pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from probekit.files import Json, read_jsonl
from probekit.metrics.answers import is_refusal
from probekit.scores.choices import Choices
from probekit.scores.cs import cs
from probekit.scores.lad import lad
from probekit.scores.responses import blind_hallucination, conflict_shortcut, correct
from probekit.scores.tri_layer import TriLayerRow
from probekit.scores.vns import vns


def rows_of(
    folder: Path, model: str, task: str = "all", choices: Choices | None = None
) -> tuple[TriLayerRow, ...]:
    """One row an example from ``evidence.jsonl`` and the answers beside it.

    Args:
        folder: what `probekit.pipeline.tri_layer.run` filled.
        choices: fraction, LAD variant and CS answer; those that the pass itself fixes (anchors, longest
            answer) are the folder's own.
    """
    chosen = choices or Choices()
    answers = {
        c: {str(line["example_id"]): line for _, line in read_jsonl(folder / f"answers-{c}.jsonl")}
        for c in ("full", "blind", "noise", "conflict")
        if (folder / f"answers-{c}.jsonl").exists()
    }
    conflicts: dict[str, Json] = {
        str(line["example_id"]): line for _, line in read_jsonl(folder / "conflicts.jsonl")
    }
    rows = []
    for _, evidence in read_jsonl(folder / "evidence.jsonl", required=("example_id", "kl", "scores")):
        key = str(evidence["example_id"])
        lines = {c: held[key] for c, held in answers.items() if key in held}
        rows.append(_row(model, task, key, evidence, lines, conflicts.get(key, {}), chosen))
    return tuple(rows)


def _row(
    model: str,
    task: str,
    key: str,
    evidence: Json,
    lines: Mapping[str, Json],
    conflict: Json,
    choices: Choices,
) -> TriLayerRow:
    scores, kl = evidence["scores"], evidence["kl"]
    texts = {c: str(line["text"]) for c, line in lines.items()}

    def divergence(condition: str) -> float:
        values = np.array(kl.get(condition, []), dtype=np.float64)
        return vns(values, fraction=choices.fraction)

    def perception(condition: str) -> float:
        other, full = (anchor_scores(scores, condition, shown) for shown in (condition, "full"))
        return lad(other, full, choices.lad) if other.size and other.size == full.size else math.nan

    def competition(condition: str, whose: str) -> float:
        anchors = anchor_scores(scores, condition, condition)
        response = scores.get(f"{'own' if whose == 'blind' else 'full'}@{condition}")
        return math.nan if response is None or not anchors.size else cs(float(response), anchors)

    references: Sequence[str] = lines.get("full", {}).get("reference") or ()
    blind, noise, other = texts.get("blind"), texts.get("noise"), texts.get("conflict")
    shortcut = None
    if other is not None:
        asked, shown = conflict.get("asked", ()), conflict.get("shown", ())
        shortcut = conflict_shortcut(other, asked, shown, texts.get("full")).value
    return TriLayerRow(
        model,
        task,
        key,
        str(lines.get("full", {}).get("image_id", key)),
        perception("blind"),
        divergence("blind"),
        competition("blind", choices.gen),
        perception("noise"),
        divergence("noise"),
        competition("noise", choices.gen),
        divergence("conflict"),
        competition("blind", "full"),
        correct(texts.get("full", ""), references).value if references else None,
        None if blind is None else blind_hallucination(blind).value,
        None if noise is None else blind_hallucination(noise).value,
        shortcut,
        None if blind is None else is_refusal(blind),
    )


def anchor_scores(scores: Mapping[str, float | None], which: str, shown: str) -> np.ndarray:
    """Scores of one set's anchors under one condition, in the set's order."""
    found: list[float] = []
    while (name := f"{which}.{len(found)}@{shown}") in scores:
        value = scores[name]
        found.append(math.nan if value is None else float(value))
    return np.array(found, dtype=np.float64)
