"""Prompts of DeflectionBench as a file, for models that are asked elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from probekit.benchmarks.deflection import (
    ALONE,
    LEAST_DISTRACTORS,
    Posed,
    Sample,
    Scenario,
    load_samples,
    pose,
    pose_alone,
)
from probekit.benchmarks.deflection_wording import Wording
from probekit.families.conversation import chat
from probekit.files import Json, distinct, write_jsonl


def least_of(scenarios: Sequence[Scenario], *, alone: bool, least: int = LEAST_DISTRACTORS) -> int:
    """Distractors that each sample needs: ``least`` where they are shown together, one for each alone."""
    if any(scenario.distracts for scenario in scenarios):
        return least
    return min(1, least) if alone else 0


def write_questions(
    samples: Path,
    out: Path,
    *,
    seed: int = 0,
    wording: Path | None = None,
    scenarios: Sequence[Scenario] = tuple(Scenario),
    alone: bool = False,
) -> int:
    """Write a line a prompt: ids, pictures in the order of their places, the chat, the last turn's text.

    Args:
        scenarios: under which each sample is asked.
        alone: also each distractor by itself, for stage III.

    Returns:
        How many there are.

    Raises:
        InputError: a sample lacks what a scenario shows.
    """
    distinct(out, samples, wording)
    words = Wording() if wording is None else Wording.load(wording)
    held = load_samples(samples, least_distractors=least_of(scenarios, alone=alone))
    lines = [line for sample in held for line in _each_scenario(sample, scenarios, seed, words)]
    if alone:
        lines += [line for sample in held for line in _each_distractor(sample, seed, words)]
    write_jsonl(out, lines)
    return len(lines)


def _each_scenario(
    sample: Sample, scenarios: Sequence[Scenario], seed: int, wording: Wording
) -> Iterator[Json]:
    for scenario in scenarios:
        posed = pose(sample, scenario, seed=seed, wording=wording)
        yield {
            "example_id": posed.example.example_id,
            "sample_id": sample.sample_id,
            "scenario": str(scenario),
            **_shown(posed),
        }


def _each_distractor(sample: Sample, seed: int, wording: Wording) -> Iterator[Json]:
    for number in range(len(sample.distractors)):
        posed = pose_alone(sample, number, seed=seed, wording=wording)
        yield {
            "example_id": posed.example.example_id,
            "sample_id": sample.sample_id,
            ALONE: number,
            **_shown(posed),
        }


def _shown(posed: Posed) -> Json:
    return {
        "images": list(posed.images),
        "messages": chat(posed.example.messages),
        "prompt": posed.example.question,
        "gold_at": list(posed.gold_at),
    }
