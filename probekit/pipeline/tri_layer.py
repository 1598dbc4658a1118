"""The Tri-Layer study of one model: answers under every condition, one traced pass, evidence kept.

What the pass gives is written as evidence (divergences per position, scores of every text), so that
LAD, VNS and CS can be computed again offline under other choices (`rows_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from probekit.benchmarks.conditions import (
    Condition,
    blind_image,
    choose_conflict,
    noise_image,
    objects_named,
)
from probekit.benchmarks.example import Example
from probekit.errors import ContractError, InputError
from probekit.files import Json, JsonlAppender, digest, inside, read_jsonl, write_json, write_jsonl
from probekit.jobs import ModelSpec
from probekit.pipeline.answer import answer_all
from probekit.pipeline.tracing import LateModel
from probekit.progress import progress
from probekit.rows import RowKey
from probekit.scores.anchors import DEFAULT, AnchorSet, load_anchors
from probekit.scores.kl import kl_per_position
from probekit.scores.lad import sequence_score

if TYPE_CHECKING:
    from probekit.families import Vlm
    from probekit.forward.trace import Tracer
    from probekit.forward.work import Forced


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


def run(study: Study, spec: ModelSpec, *, max_new_tokens: int = 64, batch: int = 16) -> Path:
    """Answer under every condition, trace, and write ``evidence.jsonl``; a rerun goes on.

    Returns:
        The evidence file: one line an example.
    """
    model = LateModel(spec)
    for condition in study.conditions:
        asked = [line for _, line in read_jsonl(study.out / f"questions-{condition}.jsonl")]
        if asked:
            answer_all(
                model,
                asked,
                digest([spec.digest(), asked, max_new_tokens]),
                _root(study, condition),
                _answers(study, condition),
                max_new_tokens=max_new_tokens,
                batch=batch,
            )
    return _trace(study, model)


def _trace(study: Study, model: LateModel) -> Path:
    answers = {
        c: {str(line["example_id"]): line for _, line in read_jsonl(_answers(study, c))}
        for c in study.conditions
        if _answers(study, c).exists()
    }
    path = study.out / "evidence.jsonl"
    with JsonlAppender(path) as lines:
        done = {str(line["example_id"]) for line in lines.done}
        left = [e for e in study.examples if e.example_id not in done]
        if not left:
            return path
        from probekit.forward.trace import Tracer

        vlm, prompter = model.get()
        tracer = Tracer(vlm, prompter, (), keep_tokens=True)
        texts = loop = 0
        with progress("Tracing", len(done) + len(left), "examples", len(done)) as advance:
            for example in left:
                work = _texts(study, vlm, example, answers)
                found = _run(tracer, list(work.values()))
                texts += len(work)
                loop += sum(one.tokens for one in found)
                lines.append([_evidence(example, dict(zip(work, found, strict=True)), vlm, study)])
                advance(1)
    write_json(
        study.out / "summary.json",
        {
            "model": vlm.name,
            "template_hash": prompter.template_hash,
            "anchors": {name: held.digest for name, held in study.anchors.items()},
            "texts": texts,
            "tokens_computed": tracer.computed,
            "tokens_of_a_plain_loop": loop,
            "ratio": loop / tracer.computed if tracer.computed else None,
        },
    )
    return path


@dataclass(frozen=True)
class _Read:
    """One traced text: log-probability of each token, normed state at each query, tokens with the prompt."""

    logp: np.ndarray
    final: np.ndarray
    tokens: int


def _run(tracer: Tracer, texts: Sequence[Forced]) -> list[_Read]:
    """Trace texts, one pass for each picture, so that a prompt is computed once."""
    groups: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        groups.setdefault(text.image_key, []).append(place)
    found: dict[int, _Read] = {}
    for places in groups.values():
        traced = tracer.run([texts[place] for place in places])
        if traced.tokens is None or traced.final is None:
            raise ContractError("the pass kept no tokens")
        for number, place in enumerate(places):
            found[place] = _Read(
                traced.tokens[number][:, 0].float().numpy(),
                traced.final[number].float().numpy(),
                int(traced.prompt_tokens[number]) + len(texts[place].continuation),
            )
    return [found[place] for place in range(len(texts))]


def _texts(
    study: Study, vlm: Vlm, example: Example, answers: Mapping[Condition, Mapping[str, Json]]
) -> dict[str, Forced]:
    """Every text forced for one example, by name: ``full@COND`` is the full answer under a condition,
    ``own@COND`` the answer given under it, ``SET.n@COND`` an anchor."""
    from probekit.families import open_image
    from probekit.forward.work import Forced, Target

    full = answers[Condition.FULL].get(example.example_id)
    ids = tuple(full["token_ids"]) if full else ()
    found: dict[str, Forced] = {}
    for condition in study.conditions if ids else ():
        line = answers.get(condition, {}).get(example.example_id)
        if line is None:
            continue
        image = inside(_root(study, condition), line["image"])
        replaced = [condition] if condition in study.anchors else []
        wanted: dict[str, tuple[int, ...]] = {f"full@{condition}": ids}
        if replaced and line["token_ids"]:
            wanted[f"own@{condition}"] = tuple(line["token_ids"])
        for which in study.anchors if condition is Condition.FULL else replaced:
            for n, anchor in enumerate(study.anchors[which].anchors):
                wanted[f"{which}.{n}@{condition}"] = anchor_ids(vlm, anchor, ids)
        for label, tokens in wanted.items():
            target = Target(RowKey(f"{example.example_id}/{label}"), 0, 0)
            opened: Callable[[], Image.Image] = partial(open_image, image, sample=example.example_id)
            key = f"{condition}:{line['image']}"
            found[label] = Forced(example.example_id, opened, key, example.question, tokens, (target,))
    return found


def anchor_ids(vlm: Vlm, anchor: str, like: Sequence[int]) -> tuple[int, ...]:
    """An anchor's tokens as the model would write it after its header. SPEC 4.2.

    Args:
        like: tokens of an answer the model gave; the anchor begins with a blank where that one does.

    Raises:
        ContractError: the tokens do not decode to the anchor.
    """
    tokenizer = vlm.tokenizer

    def begins(token: int) -> bool:
        return str(tokenizer.convert_ids_to_tokens([token])[0])[:1] in ("\u0120", "\u2581", " ")

    forms = [tuple(tokenizer.encode(text, add_special_tokens=False)) for text in (anchor, f" {anchor}")]
    chosen = next((ids for ids in forms if begins(ids[0]) == begins(like[0])), forms[0])
    if tokenizer.decode(list(chosen)).strip() != anchor:
        raise ContractError(f"the anchor {anchor!r} does not survive the tokenizer", where=vlm.name)
    return chosen


def _evidence(example: Example, found: Mapping[str, _Read], vlm: Vlm, study: Study) -> Json:
    """What one example's texts say, in plain numbers."""
    import torch

    def logits(read: _Read) -> np.ndarray:
        states = torch.from_numpy(read.final).to(vlm.device)
        with torch.no_grad():
            return np.asarray(vlm.logits(states).float().cpu().numpy())

    divergence: dict[str, list[float]] = {}
    if "full@full" in found:
        reference = logits(found["full@full"])
        divergence = {
            str(c): kl_per_position(reference, logits(found[f"full@{c}"])).tolist()
            for c in study.conditions
            if c is not Condition.FULL and f"full@{c}" in found
        }
    scores = {name: sequence_score(read.logp) for name, read in found.items()}
    return {"example_id": example.example_id, "kl": divergence, "scores": scores}


def _root(study: Study, condition: Condition) -> Path:
    return study.out / "images" if condition in (Condition.BLIND, Condition.NOISE) else study.root


def _answers(study: Study, condition: Condition) -> Path:
    return study.out / f"answers-{condition}.jsonl"


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name)
