"""The Tri-Layer study of one model: answers under every condition, one traced pass, evidence kept.

What the pass gives is written as evidence (divergences per position, scores of every text), so that
LAD, VNS and CS can be computed again offline under other choices (`rows_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from probekit.benchmarks.conditions import (
    Condition,
    blind_image,
    choose_conflict,
    noise_image,
    objects_named,
)
from probekit.benchmarks.example import Example
from probekit.errors import InputError
from probekit.files import Json, digest, read_jsonl, write_json, write_jsonl
from probekit.jobs import ModelSpec
from probekit.pipeline.answer import answer_all
from probekit.pipeline.tracing import LateModel
from probekit.pipeline.tri_layer_trace import Effort, cost_of, trace
from probekit.scores.anchors import DEFAULT, AnchorSet, load_anchors


@dataclass(frozen=True)
class Study:
    """Where a study lives and what it asks.

    Attributes:
        out: its folder.
        root: folder from which the examples' image paths start.
        examples: the questions, under the full condition.
        objects: objects of each image of the pool, by image id; none means no conflict condition.
        synonyms: word -> category, for the choice of conflict images.
        anchors: anchor set per replaced image.
        seed: of noise images and conflict choices.
    """

    out: Path
    root: Path
    examples: tuple[Example, ...]
    objects: Mapping[str, Sequence[str]]
    synonyms: Mapping[str, str]
    anchors: Mapping[str, AnchorSet]
    seed: int = 0

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions asked for."""
        return tuple(c for c in Condition if c is not Condition.CONFLICT or self.objects)

    def root_of(self, condition: Condition) -> Path:
        """Folder from which image paths start under a condition."""
        return self.out / "images" if condition in (Condition.BLIND, Condition.NOISE) else self.root

    def answers(self, condition: Condition) -> Path:
        """The answers under a condition."""
        return self.out / f"answers-{condition}.jsonl"


def prepare(
    examples: Sequence[Example],
    root: Path,
    out: Path,
    *,
    objects: Mapping[str, Sequence[str]] | None = None,
    synonyms: Mapping[str, str] | None = None,
    anchors: Mapping[str, str | Path] | None = None,
    seed: int = 0,
) -> Study:
    """Write the replaced pictures and the questions of every condition; a rerun writes them again, equal.

    Raises:
        InputError: no example, or an example without a picture.
    """
    if not examples:
        raise InputError("no questions")
    sets = {name: load_anchors(which) for name, which in {**DEFAULT, **(anchors or {})}.items()}
    study = Study(out, root, tuple(examples), objects or {}, synonyms or {}, sets, seed)
    folder = out / "images"
    folder.mkdir(parents=True, exist_ok=True)
    blind_image().save(folder / "blind.png")
    files = {e.image_id: e.image for e in examples}
    choices: list[Json] = []
    lines: dict[Condition, list[Json]] = {c: [] for c in study.conditions}
    for example in examples:
        if example.image is None:
            raise InputError("no picture", where=f"example {example.example_id}")
        line = {
            "example_id": example.example_id,
            "image_id": example.image_id,
            "prompt": example.question,
            "reference": [example.reference] if isinstance(example.reference, str) else example.reference,
        }
        lines[Condition.FULL].append({**line, "image": example.image})
        lines[Condition.BLIND].append({**line, "image": "blind.png"})
        noise = f"noise-{_safe(example.example_id)}.png"
        noise_image(example.example_id, seed=seed).save(folder / noise)
        lines[Condition.NOISE].append({**line, "image": noise})
        if study.objects:
            words = {word for held in study.objects.values() for word in held} | set(study.synonyms)
            asked = objects_named(example.question, words)
            pool = {key: held for key, held in study.objects.items() if key in files}
            chosen = choose_conflict(
                example.example_id, example.image_id, asked, pool, synonyms=study.synonyms, seed=seed
            )
            shown = list(study.objects.get(chosen.image_id or "", ()))
            choices.append(
                {"example_id": example.example_id, "asked": list(asked), "shown": shown, **asdict(chosen)}
            )
            if chosen.image_id is not None:
                lines[Condition.CONFLICT].append({**line, "image": files[chosen.image_id]})
    for condition, asked_lines in lines.items():
        write_jsonl(out / f"questions-{condition}.jsonl", asked_lines)
    write_jsonl(out / "conflicts.jsonl", choices)
    return study


def run(
    study: Study,
    model: ModelSpec | LateModel,
    *,
    max_new_tokens: int = 64,
    batch: int = 16,
    effort: Effort | None = None,
) -> Path:
    """Answer under every condition, trace, and write ``evidence.jsonl``; a rerun goes on.

    Args:
        study: what is asked.
        model: who is asked.
        max_new_tokens: longest answer.
        batch: questions answered at once.
        effort: of the traced pass.

    Returns:
        The evidence file: one line an example.
    """
    model = LateModel(model) if isinstance(model, ModelSpec) else model
    spec = model.spec
    for condition in study.conditions:
        asked = [line for _, line in read_jsonl(study.out / f"questions-{condition}.jsonl")]
        if asked:
            answer_all(
                model,
                asked,
                digest([spec.digest(), asked, max_new_tokens]),
                study.root_of(condition),
                study.answers(condition),
                max_new_tokens=max_new_tokens,
                batch=batch,
            )
    path = trace(study, model, effort or Effort())
    cost = cost_of(study.out)
    write_json(
        study.out / "summary.json",
        {
            "model": spec.name,
            "anchors": {name: held.digest for name, held in study.anchors.items()},
            "texts": cost.texts,
            "tokens_computed": cost.computed,
            "tokens_distinct": cost.distinct,
            "tokens_of_a_plain_loop": cost.loop,
            "ratio": cost.ratio,
        },
    )
    return path


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name)
