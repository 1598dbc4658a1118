"""A POPE audit as plain values, for a JSON file that needs nothing of probekit to be read."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from probekit.evaluation.effect_maps import benjamini_hochberg, holm
from probekit.evaluation.effects import EffectSizes
from probekit.evaluation.pope_audit import PopeAudit
from probekit.evaluation.pope_readouts import ReadoutResult
from probekit.files import write_json
from probekit.metrics.pope import PopeScores


def save_audit(audit: PopeAudit, path: Path) -> None:
    """Write `audit_record` as JSON; a missing number is null."""
    write_json(path, audit_record(audit))


def audit_record(audit: PopeAudit) -> dict[str, Any]:
    """Everything a report says about the audit, in plain values."""
    return {
        "source": dict(audit.source),
        "reference": audit.reference,
        "readouts": {name: _readout(result) for name, result in audit.readouts.items()},
        "transitions": [
            {**asdict(moved), "phi": moved.phi, "rho_n": moved.rho_n} for moved in audit.transitions
        ],
        "first_tokens": [
            {**asdict(first), "text": audit.token_texts.get(first.token)} for first in audit.first_tokens
        ],
        "logit_gap": {name: asdict(group) for name, group in audit.gaps.items()},
        "attention": None
        if audit.attention is None
        else {
            "blocks": list(audit.blocks or ()),
            "groups": {name: asdict(group) for name, group in audit.attention_groups.items()},
            "effects": _effects(audit.attention_effects),
            "map": _map(audit),
        },
        "logit_gap_effects": _effects(audit.gap_effects),
        "corrections": [tuned.record() for tuned in audit.corrections],
        "corrections_skipped": dict(audit.skipped),
    }


def scores_record(scores: PopeScores) -> dict[str, Any]:
    """Counts and estimates of one list of decisions."""
    return {
        "counts": {**asdict(scores.confusion), "n": scores.confusion.n},
        "images": scores.images,
        "label_yes_ratio": scores.confusion.label_yes_ratio,
        **{name: asdict(estimate) for name, estimate in scores.estimates().items()},
    }


def effect_record(effect: EffectSizes) -> dict[str, Any]:
    """Effect sizes and tests of one pair of groups."""
    return {**asdict(effect), "rank_biserial": effect.rank.rank_biserial}


def _readout(result: ReadoutResult) -> dict[str, Any]:
    return {
        "coverage": result.coverage,
        "refused": result.refused or None,
        "note": "" if result.readings is None else result.readings.note,
        "left_out": list(result.left_out),
        "scores": None if result.scores is None else scores_record(result.scores),
    }


def _effects(effects: Mapping[str, EffectSizes]) -> dict[str, Any]:
    return {name: effect_record(effect) for name, effect in effects.items()}


def _map(audit: PopeAudit) -> dict[str, Any] | None:
    found = audit.attention_map
    if found is None:
        return None
    return {
        "tests": found.tests,
        "d_pooled": found.d_pooled.tolist(),
        "auc": found.auc.tolist(),
        "p_rank": found.p_rank.tolist(),
        "p_rank_holm": holm(found.p_rank).tolist(),
        "p_rank_benjamini_hochberg": benjamini_hochberg(found.p_rank).tolist(),
    }
