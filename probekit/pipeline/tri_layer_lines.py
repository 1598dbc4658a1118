"""A line a sample, every variant of every score as its own field, from a study's evidence; no model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from probekit.benchmarks.conditions import Condition
from probekit.files import Json, read_jsonl, write_jsonl
from probekit.metrics.answers import is_refusal
from probekit.pipeline.tri_layer import Study
from probekit.pipeline.tri_layer_rows import anchor_scores, rows_of
from probekit.pipeline.tri_layer_trace import EVIDENCE
from probekit.scores.choices import Choices
from probekit.scores.cs import cs
from probekit.scores.lad import lad
from probekit.scores.taxonomy import classify
from probekit.scores.tri_layer import TriLayerRow, save_rows

LINES, ROWS = "tri_layer.jsonl", "tri_layer.csv"


@dataclass(frozen=True)
class Samples:
    """What is known of a study's samples.

    Attributes:
        rows: default scores and labels, as tables take them.
        lines: the same with every variant, texts and digests, as the file holds them.
        choices: what the default scores were computed with.
    """

    rows: tuple[TriLayerRow, ...]
    lines: tuple[Json, ...]
    choices: Choices


def write_samples(
    study: Study,
    model: str,
    *,
    fraction: float,
    max_new_tokens: int,
    tasks: Mapping[str, str],
    priors: Mapping[str, str],
) -> Samples:
    """Compute every score and write ``tri_layer.jsonl`` and ``tri_layer.csv``.

    Args:
        tasks, priors: by sample, see `probekit.pipeline.tri_layer_questions.Questions`.
    """
    digests = {name: anchors.digest for name, anchors in study.anchors.items()}
    choices = Choices(fraction=fraction, max_new_tokens=max_new_tokens, anchors=digests)
    rows = tuple(
        replace(row, task=tasks.get(row.sample_id, row.task))
        for row in rows_of(study.out, model, choices=choices)
    )
    evidence = {str(line["example_id"]): line for _, line in read_jsonl(study.out / EVIDENCE)}
    answers = _answers(study)
    conflicts = {str(line["example_id"]): line for _, line in read_jsonl(study.out / "conflicts.jsonl")}
    lines = tuple(
        _line(
            row,
            evidence[row.sample_id],
            answers[row.sample_id],
            conflicts.get(row.sample_id, {}),
            priors.get(row.sample_id),
            choices,
        )
        for row in rows
    )
    write_jsonl(study.out / LINES, lines)
    save_rows(study.out / ROWS, rows)
    return Samples(rows, lines, choices)


def _answers(study: Study) -> dict[str, dict[str, Json]]:
    found: dict[str, dict[str, Json]] = {example.example_id: {} for example in study.examples}
    for condition in study.conditions:
        if study.answers(condition).exists():
            for _, line in read_jsonl(study.answers(condition)):
                found[str(line["example_id"])][str(condition)] = line
    return found


def _line(
    row: TriLayerRow,
    evidence: Json,
    answers: Mapping[str, Json],
    conflict: Json,
    prior: str | None,
    choices: Choices,
) -> Json:
    scores = evidence["scores"]

    def perception(shown: Condition, variant: str) -> float:
        which = Condition.BLIND if shown is Condition.CONFLICT else shown
        other, full = anchor_scores(scores, which, shown), anchor_scores(scores, which, Condition.FULL)
        if not other.size or other.size != full.size:
            return math.nan
        return lad(other, full, "best" if variant == "best" else "eq1")

    def competition(shown: Condition, name: str) -> float:
        anchors, response = anchor_scores(scores, shown, shown), scores.get(f"{name}@{shown}")
        return math.nan if response is None or not anchors.size else cs(float(response), anchors)

    noise = answers.get(Condition.NOISE, {}).get("text")
    computed = {
        "lad": perception(Condition.BLIND, "eq1"),
        "lad_best": perception(Condition.BLIND, "best"),
        "lad_noise": perception(Condition.NOISE, "eq1"),
        "lad_noise_best": perception(Condition.NOISE, "best"),
        "lad_conflict": perception(Condition.CONFLICT, "eq1"),
        "vns": row.vns,
        "vns_noise": row.vns_noise,
        "vns_conflict": row.vns_conflict,
        "cs": competition(Condition.BLIND, "own"),
        "cs_full": competition(Condition.BLIND, "full"),
        "cs_noise": competition(Condition.NOISE, "own"),
        "cs_noise_full": competition(Condition.NOISE, "full"),
    }
    return {
        "sample_id": row.sample_id,
        "image_id": row.image_id,
        "model": row.model,
        "task": row.task,
        "prior": prior,
        "prompt": answers["full"]["prompt"],
        "reference": answers["full"]["reference"],
        "answers": {condition: line["text"] for condition, line in answers.items()},
        "conflict_image": conflict.get("image_id"),
        "conflict_reason": conflict.get("reason"),
        **computed,
        "category": row.category(),
        "category_cs_full": classify(row.lad, row.vns, row.cs_full),
        "category_noise": classify(row.lad_noise, row.vns_noise, row.cs_noise),
        "correct": row.correct,
        "refused": row.refused,
        "refused_noise": None if noise is None else is_refusal(noise),
        "sc_blind": row.sc_blind,
        "sc_noise": row.sc_noise,
        "sc_conflict": row.sc_conflict,
        "kl": evidence["kl"],
        "scores": scores,
        "anchors": dict(choices.anchors),
        "choices": choices.digest,
    }
