"""Prompts of DeflectionBench as a file, for models that are asked elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from probekit.benchmarks.deflection import LEAST_DISTRACTORS, Posed, Sample, Scenario, load_samples, pose
from probekit.benchmarks.deflection_wording import Wording
from probekit.families.conversation import chat
from probekit.files import Json, distinct, write_jsonl
from probekit.pipeline.deflection_gate import ALONE


def write_questions(
    samples: Path, out: Path, *, seed: int = 0, wording: Path | None = None, alone: bool = False
) -> int:
    """Write a line a prompt: ids, pictures in the order of their places, the chat, the last turn's text.

    Args:
        alone: each distractor by itself instead of the four scenarios, for stage III.

    Returns:
        How many there are.
    """
    distinct(out, samples, wording)
    words = Wording() if wording is None else Wording.load(wording)
    held = load_samples(samples, least_distractors=1 if alone else LEAST_DISTRACTORS)
    ask = _each_distractor if alone else _each_scenario
    lines = [line for sample in held for line in ask(sample, seed, words)]
    write_jsonl(out, lines)
    return len(lines)


def _each_scenario(sample: Sample, seed: int, wording: Wording) -> Iterator[Json]:
    for scenario in Scenario:
        posed = pose(sample, scenario, seed=seed, wording=wording)
        yield {
            "example_id": posed.example.example_id,
            "sample_id": sample.sample_id,
            "scenario": str(scenario),
            **_shown(posed),
        }


def _each_distractor(sample: Sample, seed: int, wording: Wording) -> Iterator[Json]:
    for number, piece in enumerate(sample.distractors):
        one = replace(sample, distractors=(piece,))
        posed = pose(one, Scenario.ADVERSARIAL, seed=seed, wording=wording)
        name = f"{sample.sample_id}-{ALONE}{number}"
        yield {"example_id": name, "sample_id": sample.sample_id, ALONE: number, **_shown(posed)}


def _shown(posed: Posed) -> Json:
    return {
        "images": list(posed.images),
        "messages": chat(posed.example.messages),
        "prompt": posed.example.question,
        "gold_at": list(posed.gold_at),
    }
