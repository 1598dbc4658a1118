"""Stages I and III: which samples and distractors stay, by recorded responses of any set of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from probekit.benchmarks.deflection import Outcome, Sample, Scenario, load_samples
from probekit.benchmarks.deflection_gating import (
    Kept,
    ParametricRule,
    gate_answerable,
    gate_distractors,
    gate_parametric,
)
from probekit.errors import InputError
from probekit.files import Json, distinct, read_jsonl, write_jsonl
from probekit.metrics.deflection_responses import load_responses

DROPPED = "dropped.jsonl"


@dataclass(frozen=True)
class Gated:
    """How many samples stayed, and what was dropped and why.

    Attributes:
        kept: samples that stay.
        samples: dropped samples, with the stage and the reason.
        distractors: dropped distractors of samples that stay.
        stages: which stages had responses to go by.
    """

    kept: int
    samples: tuple[Json, ...]
    distractors: tuple[Json, ...]
    stages: tuple[str, ...]


def gate(
    samples: Path,
    responses: Sequence[Path],
    out: Path,
    *,
    rule: ParametricRule = "none_correct",
    least_distractors: int = 5,
) -> Gated:
    """Write the samples that stay, and ``dropped.jsonl`` beside them; never over samples or responses.

    Each file of responses is one model's. Responses under parametric serve stage I, those under oracle stage
    III; lines of ``sample_id``, ``distractor`` (its number) and ``text`` say what each distractor alone lets
    the model answer. A recorded ``outcome`` overrules the rules.

    Raises:
        InputError: two files share a name, a model's responses to a stage are incomplete (file and sample are
            named), or there are none at all.
    """
    for written in (out, out.with_name(DROPPED)):
        distinct(written, samples, *responses)
    if out.name == DROPPED:
        raise InputError(
            f"{DROPPED} is the file of what is dropped", where=str(out), hint="Give another --out."
        )
    held = load_samples(samples, least_distractors=0)
    by_model = {path.stem: path for path in responses}
    if len(by_model) < len(responses):
        raise InputError("two files of responses share a name", hint="A file's name is its model's.")
    stages = {
        scenario: _stage(by_model, held, scenario) for scenario in (Scenario.PARAMETRIC, Scenario.ORACLE)
    }
    alone = {model: _alone(path, held) for model, path in by_model.items()}
    given = {model: found for model, found in alone.items() if found}
    if not any(stages.values()) and not given:
        raise InputError("no response under parametric or oracle, nor to a distractor alone")
    lines = {str(line["id"]): line for _, line in read_jsonl(samples)}
    kept: list[Json] = []
    dropped: list[Json] = []
    pieces: list[Json] = []
    for sample in held:
        name = sample.sample_id
        verdict, stage = _verdict(name, stages, rule)
        line = dict(lines[name])
        if verdict.keep and given:
            outcomes = [
                {model: _given(found, by_model[model], name, n) for model, found in given.items()}
                for n in range(len(sample.distractors))
            ]
            found = gate_distractors(outcomes)
            pieces += [
                {"id": name, "distractor": n, "reason": one.reason}
                for n, one in enumerate(found)
                if not one.keep
            ]
            stay = [
                piece for piece, one in zip(line.get("distractors") or [], found, strict=True) if one.keep
            ]
            line["distractors"] = stay
            if len(stay) < least_distractors:
                verdict = Kept(False, f"{len(stay)} distractors are left, {least_distractors} are needed")
                stage = "III, distractors"
        if verdict.keep:
            kept.append(line)
        else:
            dropped.append({"id": name, "stage": stage, "reason": verdict.reason})
    write_jsonl(out, kept)
    write_jsonl(out.with_name(DROPPED), [*dropped, *pieces])
    used = [f"{name} ({len(found)} models)" for name, found in (
        ("I, parametric", stages[Scenario.PARAMETRIC]), ("III, oracle", stages[Scenario.ORACLE]),
        ("III, distractors", given)) if found]  # fmt: skip
    return Gated(len(kept), tuple(dropped), tuple(pieces), tuple(used))


def _verdict(
    sample: str, stages: Mapping[Scenario, Mapping[str, Mapping[str, Outcome]]], rule: ParametricRule
) -> tuple[Kept, str]:
    first = {model: found[sample] for model, found in stages[Scenario.PARAMETRIC].items()}
    if first and not (kept := gate_parametric(first, rule)).keep:
        return kept, "I, parametric"
    third = {model: found[sample] for model, found in stages[Scenario.ORACLE].items()}
    if third and not (kept := gate_answerable(third)).keep:
        return kept, "III, oracle"
    return Kept(True), ""


def _stage(
    by_model: Mapping[str, Path], samples: Sequence[Sample], scenario: Scenario
) -> dict[str, dict[str, Outcome]]:
    """Outcome of every sample under one scenario, of each model that answered under it."""
    found: dict[str, dict[str, Outcome]] = {}
    for model, path in by_model.items():
        held = load_responses(path, samples)
        outcomes = {r.sample.sample_id: r.outcome for r in held if r.scenario is scenario}
        if outcomes:
            if missing := [s.sample_id for s in samples if s.sample_id not in outcomes]:
                raise InputError(f"no response to {missing[0]} under {scenario}", where=str(path))
            found[model] = outcomes
    return found


def _alone(path: Path, samples: Sequence[Sample]) -> dict[tuple[str, int], Outcome]:
    held = load_responses(path, samples, alone=True)
    return {(r.sample.sample_id, r.distractor): r.outcome for r in held if r.distractor is not None}


def _given(found: Mapping[tuple[str, int], Outcome], path: Path, sample: str, number: int) -> Outcome:
    if (sample, number) not in found:
        raise InputError(f"no response to distractor {number} of {sample} alone", where=str(path))
    return found[sample, number]
