"""DeflectionBench's prompts answered: every sample under every scenario, free to decline and forced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from probekit.benchmarks.deflection import ALONE, Posed, Sample, Scenario, pose, pose_alone
from probekit.benchmarks.deflection_wording import Wording
from probekit.errors import InputError
from probekit.files import Json, JsonlAppender, digest, inside, read_jsonl, sha256, write_json
from probekit.pipeline.answer import named, same_run
from probekit.pipeline.same_pictures import same_pictures
from probekit.pipeline.tracing import LateModel
from probekit.progress import progress
from probekit.rows import RowKey

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True)
class Prompt:
    """One sample under one scenario, ready to be asked.

    Attributes:
        distractor: the number of the only distractor shown, in stage III.
    """

    sample: Sample
    posed: Posed
    images: Path
    distractor: int | None = None

    @property
    def example_id(self) -> str:
        """Unique among the prompts."""
        return self.posed.example.example_id

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the pictures lie, in the order of their places."""
        where = f"sample {self.sample.sample_id}"
        return tuple(inside(self.images, name, where=where) for name in self.posed.images)

    @property
    def shown(self) -> tuple[partial[Image.Image], ...] | None:
        """What opens the pictures; ``None`` without any."""
        from probekit.families import open_image

        name = self.sample.sample_id
        return tuple(partial(open_image, path, sample=name) for path in self.paths) or None

    @property
    def image_key(self) -> str:
        """Identity of the pictures and their order."""
        return "\n".join(map(str, self.paths))


def prompts_of(
    samples: Sequence[Sample],
    images: Path,
    wording: Wording,
    *,
    seed: int,
    forced: bool,
    scenarios: Sequence[Scenario] = tuple(Scenario),
    alone: bool = False,
) -> tuple[Prompt, ...]:
    """Every sample under every scenario; prompts with pictures first, so that batches never mix them.

    Args:
        scenarios: those to be asked.
        alone: also every distractor by itself (stage III).

    Raises:
        InputError: a scenario needs evidence that a sample lacks, or a picture is missing; the sample is
            named.
    """
    found = [
        Prompt(sample, pose(sample, scenario, seed=seed, wording=wording, forced=forced), images)
        for sample in samples
        for scenario in scenarios
    ]
    if alone:
        found += [
            Prompt(sample, pose_alone(sample, number, seed=seed, wording=wording), images, number)
            for sample in samples
            for number in range(len(sample.distractors))
        ]
    for prompt in found:
        for path in prompt.paths:
            if not path.is_file():
                raise InputError(
                    f"no picture {path}",
                    where=f"sample {prompt.sample.sample_id}",
                    hint="Check --images and the file names.",
                )
    return tuple(sorted(found, key=lambda prompt: not prompt.posed.images))


def check_prompts(model: LateModel, prompts: Sequence[Prompt]) -> None:
    """Look at the words of every prompt before any is asked.

    Raises:
        InputError: a text holds the mark of a picture; the sample is named.
    """
    _, prompter = model.get()
    for prompt in prompts:
        with named(prompt.sample.sample_id):
            prompter.text(prompt.posed.example.messages, len(prompt.posed.images))


def answer_prompts(
    model: LateModel,
    prompts: Sequence[Prompt],
    out: Path,
    *,
    max_new_tokens: int,
    batch: int,
    choose: bool = False,
) -> Path:
    """Greedy answers with their token ids, a line a prompt; a rerun goes on where a kill stopped it.

    Batches are cut from all prompts, whatever is answered already, so that a rerun gives the same bytes.

    Args:
        choose: where a sample has choices, the likeliest of them is the answer: by the log-probability of
            its tokens after the prompt, the end of the text not counted.

    Raises:
        InputError: the answers there belong to other prompts or another model, or one of their pictures has
            been replaced since; a picture cannot be read, or a prompt does not fit the model's context; the
            sample is named.
    """
    identity = digest(
        [model.spec.digest(), [_asked(prompt) for prompt in prompts], max_new_tokens, batch, choose]
    )
    header = same_run(out, identity)
    with JsonlAppender(out, alone=True) as lines:
        done = {str(line.get("example_id")) for line in lines.done}
        for folder in {prompt.images for prompt in prompts}:
            same_pictures(lines.done, folder, out)
        if len(done) < len(prompts):
            model.get()  # a model that is not there must not leave its name
        write_json(header, {"digest": identity, "model": model.spec.name, "max_new_tokens": max_new_tokens})
        with progress("Answering", len(prompts), "prompts", len(done)) as advance:
            for group in _batches(prompts, batch):
                if missing := [prompt.example_id for prompt in group if prompt.example_id not in done]:
                    answered = _answers(model, group, max_new_tokens, choose=choose)
                    lines.append(line for line in answered if line["example_id"] not in done)
                    advance(len(missing))
    return out


def read_answers(path: Path, prompts: Sequence[Prompt]) -> dict[str, Json]:
    """Lines of `answer_prompts` by their example.

    Raises:
        InputError: an answer is missing.
    """
    lines = {str(line["example_id"]): line for _, line in read_jsonl(path, ("example_id", "token_ids"))}
    for prompt in prompts:
        if prompt.example_id not in lines:
            raise InputError(f"no answer to {prompt.example_id}", where=str(path))
    return lines


def _batches(prompts: Sequence[Prompt], batch: int) -> Iterator[Sequence[Prompt]]:
    for pictured in (True, False):
        held = [prompt for prompt in prompts if bool(prompt.posed.images) is pictured]
        for start in range(0, len(held), batch):
            yield held[start : start + batch]


def _answers(model: LateModel, group: Sequence[Prompt], max_new_tokens: int, *, choose: bool) -> list[Json]:
    found: dict[str, Json] = {}
    chosen = [prompt for prompt in group if choose and prompt.sample.choices]
    if chosen:
        found |= {line["example_id"]: line for line in chosen_answers(model, chosen)}
    if written := [prompt for prompt in group if not (choose and prompt.sample.choices)]:
        found |= {line["example_id"]: line for line in _written(model, written, max_new_tokens)}
    return [
        {**found[prompt.example_id], "image_sha256": [sha256(path) for path in prompt.paths]}
        for prompt in group
    ]


def chosen_answers(model: LateModel, prompts: Sequence[Prompt]) -> list[Json]:
    """The likeliest of each sample's choices, all choices of a prompt in one prefix tree."""
    from probekit.captures import STATISTICS, TokenStatistics
    from probekit.forward.trace import Tracer
    from probekit.forward.work import Forced, Target

    vlm, prompter = model.get()
    texts, owners = [], []
    for place, prompt in enumerate(prompts):
        for number, choice in enumerate(prompt.sample.choices):
            with named(prompt.sample.sample_id):
                ids = prompter.continuation(prompt.posed.example.messages, choice)
            target = Target(RowKey(prompt.example_id, number), 0, len(ids) - 1)
            texts.append(
                Forced(
                    prompt.example_id,
                    prompt.shown,
                    prompt.image_key,
                    prompt.posed.example.messages,
                    ids,
                    (target,),
                )
            )
            owners.append(place)
    traced = Tracer(vlm, prompter, (TokenStatistics(),)).run(texts)
    scores = traced.arrays[TokenStatistics()][:, STATISTICS.index("span_logp")].tolist()
    lines = []
    for place, prompt in enumerate(prompts):
        held = [number for number, owner in enumerate(owners) if owner == place]
        best = max(held, key=lambda number: scores[number])
        lines.append(
            {
                **_asked(prompt),
                "token_ids": list(texts[best].continuation),
                "text": prompt.sample.choices[best - held[0]],
                "prompt_tokens": int(traced.prompt_tokens[best]),
                "finished": True,
                "choices": dict(zip(prompt.sample.choices, (scores[n] for n in held), strict=True)),
            }
        )
    return lines


def _written(model: LateModel, group: Sequence[Prompt], max_new_tokens: int) -> list[Json]:
    from probekit.forward.generate import Generator, Question

    vlm, prompter = model.get()
    check_prompts(model, group)
    questions = [
        Question(
            prompt.example_id,
            prompt.sample.sample_id,
            prompt.shown,
            prompt.posed.example.messages,
            prompt.image_key,
        )
        for prompt in group
    ]
    return [
        {
            **_asked(prompt),
            "token_ids": list(found.token_ids),
            "text": found.text.strip(),
            "prompt_tokens": found.prompt_tokens,
            "finished": found.finished,
        }
        for prompt, found in zip(group, Generator(vlm, prompter, max_new_tokens).run(questions), strict=True)
    ]


def _asked(prompt: Prompt) -> Json:
    from probekit.families.conversation import chat

    alone = prompt.distractor is not None
    return {
        "example_id": prompt.example_id,
        "sample_id": prompt.sample.sample_id,
        **({ALONE: prompt.distractor} if alone else {"scenario": str(prompt.posed.scenario)}),
        "images": list(prompt.posed.images),
        "messages": chat(prompt.posed.example.messages),
        "gold_at": list(prompt.posed.gold_at),
    }
