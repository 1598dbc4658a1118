"""One model's answers to DeflectionBench prompts, free to decline, for gating: no pass, no rates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from probekit.benchmarks.deflection import LEAST_DISTRACTORS, Scenario, load_samples
from probekit.benchmarks.deflection_wording import Wording
from probekit.benchmarks.deflection_world import IMAGES, WORDING
from probekit.errors import InputError
from probekit.files import distinct
from probekit.jobs import ModelSpec
from probekit.pipeline.deflection_answers import answer_prompts, check_prompts, prompts_of
from probekit.pipeline.deflection_questions import least_of
from probekit.pipeline.tracing import LateModel


def beside(samples: Path, images: Path | None, wording: Path | None) -> tuple[Path, Path | None]:
    """Folder of the pictures and file of the sentences; what is not named lies beside the samples."""
    own = samples.parent / WORDING
    return images or samples.parent / IMAGES, wording or (own if own.exists() else None)


def answer_samples(
    model: ModelSpec,
    samples: Path,
    out: Path,
    *,
    images: Path | None = None,
    wording: Path | None = None,
    scenarios: Sequence[Scenario] = tuple(Scenario),
    alone: bool = False,
    least_distractors: int = LEAST_DISTRACTORS,
    max_new_tokens: int = 32,
    batch: int = 16,
    seed: int = 0,
) -> int:
    """Write a line an answer, which `probekit.pipeline.deflection_gate.gate` reads; a rerun goes on.

    Args:
        scenarios: under which every sample is asked.
        alone: also with each distractor as its only evidence (stage III).
        least_distractors: fewer are refused where a scenario shows distractors together.

    Returns:
        How many answers there are.

    Raises:
        InputError: nothing is asked, a sample lacks what a scenario shows, or the file is another run's.
    """
    if not scenarios and not alone:
        raise InputError("nothing to ask", hint="Name a scenario, or ask for single distractors.")
    folder, sentences = beside(samples, images, wording)
    for made in (out, out.with_suffix(".json")):
        distinct(made, samples, sentences)
    held = load_samples(samples, least_distractors=least_of(scenarios, alone=alone, least=least_distractors))
    words = Wording() if sentences is None else Wording.load(sentences)
    prompts = prompts_of(held, folder, words, seed=seed, forced=False, scenarios=scenarios, alone=alone)
    late = LateModel(model)
    if not out.exists():
        check_prompts(late, prompts)
    answer_prompts(late, prompts, out, max_new_tokens=max_new_tokens, batch=batch)
    return len(prompts)
