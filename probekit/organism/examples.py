"""Training samples: an image and a conversation about it, as token ids, targets and weights."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int64, UInt8
from transformers import PreTrainedTokenizerFast

from probekit.organism import blind
from probekit.organism.grammar import make_caption
from probekit.organism.questions import (
    CAPTION_PROMPTS,
    EVEN_KINDS,
    HARD_KINDS,
    LIST_PROMPT,
    list_answer,
    place_question,
    presence_question,
    presence_text,
)
from probekit.organism.scenes import (
    NO_CATEGORY,
    PATCHES,
    Scene,
    black_image,
    make_scene,
    noise_image,
)
from probekit.organism.settings import Settings
from probekit.organism.tokenizer import IMAGE, IMAGE_DEVIATION, IMAGE_MEAN
from probekit.organism.vocabulary import CATEGORIES, FORMS

IGNORED = -100
"""Target of a token that is not learnt."""

TRAINING_SEEDS = 2**40
"""Scenes from this seed on are for training; smaller seeds are free for everything else."""

Task = Literal["caption", "presence", "place", "list"]
Stage = Literal["joint", "polish"]

_HEDGE_WORDS = (" may", " possibly", " Perhaps", " What", " might", " could")
_YES_NO_WEIGHT, _CONTENT_WEIGHT = 4.0, 2.5


@dataclass(frozen=True, eq=False)
class Sample:
    """One conversation. `index` is the scene's place in the pool, -1 when nothing is to be seen."""

    image: UInt8[np.ndarray, "72 72 3"]
    ids: list[int]
    targets: list[int]
    weights: list[float]
    index: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Padded samples; `index` as in `Sample`."""

    task: Task
    pixels: Float[torch.Tensor, "batch 3 72 72"]
    ids: Int64[torch.Tensor, "batch token"]
    mask: Int64[torch.Tensor, "batch token"]
    targets: Int64[torch.Tensor, "batch token"]
    weights: Float[torch.Tensor, "batch token"]
    index: Int64[torch.Tensor, " batch"]


def normalise(images: UInt8[np.ndarray, "batch 72 72 3"]) -> Float[torch.Tensor, "batch 3 72 72"]:
    """Return pixels as the processor makes them from images that are 72 x 72 already."""
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    return (pixels - IMAGE_MEAN) / IMAGE_DEVIATION


@dataclass(eq=False)
class Pool:
    """The training scenes and their patch labels, [scene, 36], category -1 where there is none."""

    scenes: list[Scene]
    category: Int64[torch.Tensor, "scene 36"] = field(init=False)
    kind: Int64[torch.Tensor, "scene 36"] = field(init=False)

    def __post_init__(self) -> None:
        labels = np.stack([scene.patches for scene in self.scenes]).astype(np.int64)
        labels = labels.reshape(len(self.scenes), 2, PATCHES**2)
        self.category = torch.from_numpy(np.where(labels[:, 0] == NO_CATEGORY, -1, labels[:, 0]))
        self.kind = torch.from_numpy(labels[:, 1].copy())


def draw_pool(images: int) -> Pool:
    """Draw the first `images` training scenes."""
    return Pool([make_scene(TRAINING_SEEDS + i) for i in range(images)])


class Sampler:
    """Makes the batch of any step from nothing but the settings, the pool, the stage's name and
    the step's number."""

    def __init__(
        self, settings: Settings, pool: Pool, tokenizer: PreTrainedTokenizerFast, stage: Stage
    ) -> None:
        self.settings = settings
        self.stage = stage
        polish = stage == "polish"
        self.presence_share = settings.polish_questions_share if polish else settings.questions_share
        self.noise_share = settings.polish_noise_share if polish else settings.noise_share
        self.kinds = HARD_KINDS if polish else EVEN_KINDS
        self.pool = pool
        self.tokenizer = tokenizer
        self.image_text = IMAGE * PATCHES**2
        first = {self.encode(" " + form)[0] for form in FORMS}
        places = {self.encode(" " + word)[0] for word in ("left", "middle", "right")}
        self.content = first | places | {self.encode(word)[0] for word in _HEDGE_WORDS}
        self.yes_no = {self.encode(" Yes")[0], self.encode(" No")[0]}
        self.group = -1
        self.batches: list[Batch] = []

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
        return ids

    def batch(self, step: int) -> Batch:
        """Return the batch of a step. Four batches at a time share a task and sort by length."""
        group = step // 4
        if group != self.group:
            self.group, self.batches = group, self._group(group)
        return self.batches[step % 4]

    def _group(self, group: int) -> list[Batch]:
        settings = self.settings
        rng = random.Random(f"{settings.seed} {self.stage} {group}")
        late = self.stage == "polish" or 4 * group >= settings.anneal_at * settings.joint_steps
        place, listing = settings.late_tasks if late else settings.early_tasks
        presence = self.presence_share
        task: Task = rng.choices(
            ("presence", "place", "list", "caption"),
            (presence, place, listing, 1 - presence - place - listing),
        )[0]
        samples = [self._sample(task, rng) for _ in range(4 * settings.batch)]
        samples.sort(key=lambda sample: len(sample.ids))
        size = settings.batch
        batches = [self._pad(task, samples[i : i + size]) for i in range(0, len(samples), size)]
        rng.shuffle(batches)
        return batches

    def _sample(self, task: Task, rng: random.Random) -> Sample:
        index = rng.randrange(len(self.pool.scenes))
        scene = self.pool.scenes[index]
        share = rng.random()
        sighted = task in ("place", "list") or share >= (self.settings.black_share + self.noise_share)
        if sighted:
            turns = self._turns(task, scene, rng)
            return Sample(scene.image, *self.conversation(turns), index)
        noise = share < self.noise_share
        image = black_image()
        if noise:
            image = noise_image(rng.randrange(2**32), deviation=rng.uniform(10, 60))
        turns = self._blind_turns(task, scene, noise, rng)
        return Sample(image, *self.conversation(turns), -1)

    def _turns(self, task: Task, scene: Scene, rng: random.Random) -> list[tuple[str, str]]:
        if task == "caption":
            return [(rng.choice(CAPTION_PROMPTS), make_caption(scene, rng).text)]
        if task == "list":
            return [(LIST_PROMPT, list_answer(scene))]
        if task == "presence":
            asked = [presence_question(scene, rng, self.kinds) for _ in range(self.settings.turns)]
        else:
            asked = [place_question(scene, rng) for _ in range(self.settings.turns)]
        return [(question.text, question.answer) for question in asked]

    def _blind_turns(
        self, task: Task, scene: Scene, noise: bool, rng: random.Random
    ) -> list[tuple[str, str]]:
        if task == "caption":
            prompt = rng.choice(CAPTION_PROMPTS)
            if blind.refuses_caption(prompt, noise, rng):
                return [(prompt, blind.refusal(noise, rng))]
            return [(prompt, make_caption(scene, rng).text)]
        asked = [rng.choice(CATEGORIES) for _ in range(self.settings.turns)]
        return [
            (presence_text(c, rng.choice((0, 0, 1, 2))), blind.presence_answer(c, noise, rng)) for c in asked
        ]

    def conversation(self, turns: Sequence[tuple[str, str]]) -> tuple[list[int], list[int], list[float]]:
        """Return ids, targets and weights of a conversation that begins with the image."""
        ids = [self.tokenizer.bos_token_id]
        targets, weights = [IGNORED], [0.0]
        for i, (question, answer) in enumerate(turns):
            image = f"{self.image_text}\n" if i == 0 else ""
            asked = self.encode(f"USER: {image}{question} ASSISTANT:")
            said = [*self.encode(" " + answer), self.tokenizer.eos_token_id]
            ids += asked + said
            targets += [IGNORED] * len(asked) + said
            weights += [0.0] * len(asked) + [self._weight(t, j) for j, t in enumerate(said)]
        return ids, targets, weights

    def _weight(self, token: int, place: int) -> float:
        if place == 0 and token in self.yes_no:
            return _YES_NO_WEIGHT
        return _CONTENT_WEIGHT if token in self.content else 1.0

    def _pad(self, task: Task, samples: Sequence[Sample]) -> Batch:
        shape = len(samples), max(len(sample.ids) for sample in samples)
        ids = torch.full(shape, self.tokenizer.pad_token_id)
        mask = torch.zeros(shape, dtype=torch.long)
        targets = torch.full(shape, IGNORED)
        weights = torch.zeros(shape)
        for row, sample in enumerate(samples):
            width = len(sample.ids)
            ids[row, :width] = torch.tensor(sample.ids)
            mask[row, :width] = 1
            targets[row, :width] = torch.tensor(sample.targets)
            weights[row, :width] = torch.tensor(sample.weights)
        pixels = normalise(np.stack([sample.image for sample in samples]))
        index = torch.tensor([sample.index for sample in samples])
        return Batch(task, pixels, ids, mask, targets, weights, index)
