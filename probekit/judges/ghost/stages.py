"""The three stages in one run: what is left is said first, then asked, and recorded stage by stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from probekit.benchmarks.ghost import GhostImage, Manifest
from probekit.benchmarks.ghost_records import load_compliance
from probekit.benchmarks.ghost_validate import ROUNDS, stage2
from probekit.errors import InputError
from probekit.files import Json, write_json, write_jsonl
from probekit.judges.base import Judge, Question
from probekit.judges.choose import Choice, Kind, opened
from probekit.judges.estimate import Consent
from probekit.judges.ghost import clusters, compliance, quality
from probekit.judges.ghost.scenarios import Scenarios
from probekit.judges.replay import Replay
from probekit.progress import progress

STAGES = (1, 2, 3)
ANSWER_TOKENS = 40
"""Expected in one answer, over the stages."""
TEMPERATURE = 1.0
"""Of an endpoint in stage 1: the paper's five askings are independent draws."""


@dataclass(frozen=True)
class Records:
    """Files of recorded verdicts, one a stage, in the form that `probekit.benchmarks.ghost_records` reads.

    Attributes:
        quality, compliance, assignments: ``None`` for a stage that was not asked.
        clusters: stage 3's mapping from cluster to category.
    """

    quality: Path | None = None
    compliance: Path | None = None
    assignments: Path | None = None
    clusters: Path | None = None


def ask_stages(
    choice: Choice,
    manifest: Manifest,
    folder: Path,
    scenarios: Scenarios,
    *,
    stages: Sequence[int] = STAGES,
    seed: int = 0,
    temperature: float = TEMPERATURE,
    complied: Path | None = None,
    consent: Consent | None = None,
) -> Records:
    """Ask a judge that sees pictures, and write its verdicts into ``folder``.

    Every answer is kept in ``folder/answers.jsonl`` as it comes; the same call goes on where it stopped and
    pays nothing twice. That file is also a record for ``--judge recorded``.

    Args:
        choice: who is asked; its temperature is that of stages 2 and 3.
        stages: which to ask.
        seed: of the order of pictures and groups in stage 3.
        temperature: of an endpoint in stage 1. A local model answers greedily in all stages.
        complied: recorded verdicts of stage 2, when it is not asked here. Stage 3 is about the pictures
            that passed stage 2, and about all when nothing is known of it.
        consent: told what is left to be asked before anything is.

    Raises:
        InputError: a picture is missing, or the judge cannot be asked.
    """
    if not stages or not set(stages) <= set(STAGES):
        raise InputError(f"stages {', '.join(map(str, stages))}", hint="Known: 1, 2, 3.")
    folder.mkdir(parents=True, exist_ok=True)
    held = Records(
        folder / "quality.jsonl" if 1 in stages else None,
        folder / "compliance.jsonl" if 2 in stages else None,
        folder / "assignments.jsonl" if 3 in stages else None,
        folder / "clusters.json" if 3 in stages else None,
    )
    with _judges(choice, folder / "answers.jsonl", temperature) as (first, other):
        if consent is not None:
            consent(other, _left(first, other, manifest, scenarios, stages, seed, complied), ANSWER_TOKENS)
        if held.quality is not None:
            with progress("Stage 1", ROUNDS * len(manifest.images), "questions") as advance:
                write_jsonl(held.quality, quality.ask(first, manifest, scenarios, advance))
        if held.compliance is not None:
            with progress("Stage 2", len(manifest.images), "questions") as advance:
                write_jsonl(held.compliance, compliance.ask(other, manifest, scenarios, advance))
        if held.assignments is not None and held.clusters is not None:
            # What a cluster stands for is on disk before the first picture is sorted.
            write_json(held.clusters, {str(c.number): str(c.category) for c in scenarios.clusters})
            images = _passing(manifest, held.compliance or complied)
            with progress("Stage 3", len(images), "questions") as advance:
                lines = clusters.ask(other, manifest, images, scenarios, seed, advance)
                write_jsonl(held.assignments, lines)
    return held


@contextmanager
def _judges(choice: Choice, answers: Path, temperature: float) -> Iterator[tuple[Judge, Judge]]:
    """The judge of stage 1 and that of the others, one and the same unless an endpoint draws in stage 1."""
    with ExitStack() as stack:
        other, _ = stack.enter_context(opened(choice, answers))
        first = other
        if choice.kind is Kind.OPENAI and temperature != choice.temperature:
            first, _ = stack.enter_context(opened(replace(choice, temperature=temperature), answers))
        yield first, other


def _left(
    first: Judge,
    other: Judge,
    manifest: Manifest,
    scenarios: Scenarios,
    stages: Sequence[int],
    seed: int,
    complied: Path | None,
) -> list[Question]:
    """At most what must be asked: which pictures fail stage 2 is not known before it was asked."""
    drawn, sure = Replay(first), Replay(other)
    if 1 in stages:
        quality.ask(drawn, manifest, scenarios)
    images = _passing(manifest, complied)
    if 2 in stages:
        lines = compliance.ask(sure, manifest, scenarios)
        images = manifest.images if sure.left else _passing_lines(manifest, lines)
    if 3 in stages:
        clusters.ask(sure, manifest, images, scenarios, seed)
    return [*drawn.left, *sure.left]


def _passing(manifest: Manifest, verdicts: Path | None) -> tuple[GhostImage, ...]:
    if verdicts is None:
        return manifest.images
    return _kept(manifest, load_compliance(verdicts, manifest))


def _passing_lines(manifest: Manifest, lines: Sequence[Json]) -> tuple[GhostImage, ...]:
    return _kept(manifest, {line["image_id"]: line for line in lines if "unread" not in line})


def _kept(manifest: Manifest, verdicts: Mapping[str, Json]) -> tuple[GhostImage, ...]:
    passes = stage2(manifest, verdicts).passes
    return tuple(image for image in manifest.images if passes.get(image.image_id, False))
