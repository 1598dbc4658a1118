"""The training recipe: scenes to shipped weights, one deterministic run that survives a kill."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from transformers import LlavaForConditionalGeneration, PreTrainedTokenizerFast

from probekit.files import write_json
from probekit.organism import checkpoints
from probekit.organism.alignment import PatchLoss, match_scale, mirror, vision_batch
from probekit.organism.card import write_card
from probekit.organism.checkpoints import Progress
from probekit.organism.evaluate import evaluate
from probekit.organism.examples import IGNORED, Pool, Sampler, Stage, draw_pool, normalise
from probekit.organism.model import make_model, project_images
from probekit.organism.settings import Settings
from probekit.organism.shipping import export
from probekit.organism.tokenizer import train_tokenizer
from probekit.progress import progress as show_progress

REPORT_EVERY = 100
"""Steps between entries of the training curve."""

_WARM_UP = 60


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Return the rate of a step: linear warm-up, then a cosine down to 2 % of the peak."""
    cosine = 0.5 * (1 + math.cos(math.pi * step / max(1, steps)))
    return peak * min(1.0, (step + 1) / _WARM_UP) * (0.98 * cosine + 0.02)


class Run:
    """A training run in a folder: model, data and how far it has come."""

    def __init__(self, out: Path, settings: Settings, stop_at: int | None = None) -> None:
        self.out = out
        self.settings = settings
        self.left = stop_at
        torch.set_num_threads(settings.threads)
        self.tokenizer: PreTrainedTokenizerFast = train_tokenizer()
        self.model: LlavaForConditionalGeneration = make_model(self.tokenizer, settings.shape, settings.seed)
        self.patch_loss = PatchLoss(self.tokenizer)
        found = checkpoints.read_progress(out, settings.digest())
        self.progress = found or Progress()
        self.resumed = found is not None
        if self.resumed:
            checkpoints.load_weights(out, self.model)
        self.pool: Pool | None = None

    def scenes(self) -> Pool:
        if self.pool is None:
            self.pool = draw_pool(self.settings.images)
        return self.pool

    def loop(
        self,
        stage: str,
        steps: int,
        optimizer: torch.optim.Optimizer,
        peak: float,
        advance: Callable[[int], tuple[torch.Tensor, dict[str, float]]],
    ) -> bool:
        """Run the rest of a stage; return False when stopped before its end."""
        if self.progress.stage != stage:
            self.progress.stage, self.progress.step = stage, 0
        elif self.resumed:
            checkpoints.load_moments(self.out, optimizer)
        self.resumed = False
        sums: dict[str, list[float]] = {}
        begun = time.monotonic()
        with show_progress(f"train {stage}", steps, "steps", self.progress.step) as tick:
            for step in range(self.progress.step, steps):
                if self.left is not None and self.left <= 0:
                    return False
                for group in optimizer.param_groups:
                    group["lr"] = group["share"] * learning_rate(step, steps, peak)
                loss, figures = advance(step)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
                for name, value in figures.items():
                    sums.setdefault(name, []).append(value)
                self.progress.step = step + 1
                if self.left is not None:
                    self.left -= 1
                if (step + 1) % REPORT_EVERY == 0:
                    entry = {name: round(sum(v) / len(v), 4) for name, v in sums.items()}
                    self.progress.curve.append({"stage": stage, "step": step + 1, **entry})
                    rate = {"seconds": round(time.monotonic() - begun)}
                    print(self.progress.curve[-1] | rate, flush=True)
                    sums = {}
                if (step + 1) % self.settings.checkpoint_every == 0 and step + 1 < steps:
                    self.save(optimizer)
                tick(1)
        return True

    def save(self, optimizer: torch.optim.Optimizer) -> None:
        digest = self.settings.digest()
        checkpoints.save(self.out, digest, self.progress, self.model, optimizer)


def vision_stage(run: Run) -> bool:
    """Teach every image token the words for its patch; the language model is frozen."""
    settings, model, pool = run.settings, run.model, run.scenes()
    parts = (model.model.vision_tower, model.model.multi_modal_projector)
    learnt = [p for part in parts for p in part.parameters()]
    words = model.get_input_embeddings().weight.detach()

    def advance(step: int) -> tuple[torch.Tensor, dict[str, float]]:
        chosen, mirrored = vision_batch(settings, pool, step)
        pixels = _pixels(pool, chosen)
        category, kind = pool.category[chosen], pool.kind[chosen]
        if mirrored:
            pixels, category, kind = pixels.flip(-1), mirror(category), mirror(kind)
        loss, right = run.patch_loss(project_images(model, pixels), words, category, kind)
        return loss, {"patch_loss": loss.item(), "patch_accuracy": right}

    optimizer = torch.optim.AdamW([{"params": learnt, "share": 1.0}], weight_decay=0.02, fused=True)
    if not run.loop("vision", settings.vision_steps, optimizer, settings.vision_rate, advance):
        run.save(optimizer)
        return False
    with torch.no_grad():
        chosen = torch.arange(min(200, settings.images))
        match_scale(model, project_images(model, _pixels(pool, chosen)))
    return True


def language_stage(run: Run, stage: Stage, steps: int, peak: float) -> bool:
    """Train the whole model on captions and questions, patches still tied to words."""
    settings, model, pool = run.settings, run.model, run.scenes()
    sampler = Sampler(settings, pool, run.tokenizer, stage)
    tower = list(model.model.vision_tower.parameters())
    known = {id(p) for p in tower}
    rest = [p for p in model.parameters() if id(p) not in known]
    optimizer = torch.optim.AdamW(
        [
            {"params": tower, "share": settings.tower_rate_share},
            {"params": rest, "share": 1.0},
        ],
        betas=(0.9, 0.98),
        weight_decay=settings.weight_decay,
        fused=True,
    )
    seen: list[torch.Tensor] = []
    yes_no = torch.tensor(sorted(sampler.yes_no))

    def advance(step: int) -> tuple[torch.Tensor, dict[str, float]]:
        batch = sampler.batch(step)
        seen.clear()
        logits = model(
            input_ids=batch.ids,
            pixel_values=batch.pixels,
            attention_mask=batch.mask,
            use_cache=False,
        ).logits[:, :-1]
        learnt = batch.targets[:, 1:] != IGNORED
        targets, weights = batch.targets[:, 1:][learnt], batch.weights[:, 1:][learnt]
        each = functional.cross_entropy(logits[learnt], targets, reduction="none")
        loss = (each * weights).sum() / weights.sum()
        figures = {f"{batch.task}_loss": each.mean().item()}
        if batch.task == "presence":
            asked = torch.isin(targets, yes_no)
            right = logits[learnt][asked].argmax(-1) == targets[asked]
            figures["yes_no_accuracy"] = right.float().mean().item()
        sighted = batch.index >= 0
        scenes = batch.index[sighted]
        patches = seen[0].reshape(len(sighted), -1, seen[0].shape[-1])[sighted]
        words = model.get_input_embeddings().weight
        extra, right_share = run.patch_loss(patches, words, pool.category[scenes], pool.kind[scenes])
        figures["patch_accuracy"] = right_share
        return loss + settings.patch_loss_share * extra, figures

    def keep(_module: object, _inputs: object, output: torch.Tensor) -> None:
        seen.append(output)

    handle = model.model.multi_modal_projector.register_forward_hook(keep)
    try:
        done = run.loop(stage, steps, optimizer, peak, advance)
    finally:
        handle.remove()
    run.save(optimizer)
    return done


def _pixels(pool: Pool, chosen: torch.Tensor) -> torch.Tensor:
    return normalise(np.stack([pool.scenes[i].image for i in chosen.tolist()]))


def train(
    out: Path,
    seed: int = 0,
    settings: Settings | None = None,
    stop_at: int | None = None,
    card_images: int = 600,
) -> Path | None:
    """Train the organism from nothing into the folder `out/model`, and return that folder.

    A run that was killed goes on from its last checkpoint and ends with the weights it would
    have had. The schedule is counted in steps, so a busy machine only makes it slower. `stop_at`
    ends after that many steps and returns None. The card's figures are measured on `card_images`
    fresh scenes; no card is written when that is 0.

    Raises:
        InputError: `out` holds a checkpoint of other settings.
    """
    chosen = replace(settings or Settings(), seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    run = Run(out, chosen, stop_at)
    write_json(out / "settings.json", chosen.as_dict())
    run.model.train()
    if run.progress.stage == "vision" and not vision_stage(run):
        return None
    languages: tuple[tuple[Stage, int, float], ...] = (
        ("joint", chosen.joint_steps, chosen.joint_rate),
        ("polish", chosen.polish_steps, chosen.polish_rate),
    )
    for stage, steps, peak in languages:
        passed = stage == "joint" and run.progress.stage == "polish"
        if not passed and not language_stage(run, stage, steps, peak):
            return None
    folder = export(run.model, run.tokenizer, out / "model")
    if card_images:
        write_card(folder, chosen, evaluate(folder, card_images), run.progress.curve)
    return folder


def export_checkpoint(out: Path, folder: Path, settings: Settings | None = None) -> Path:
    """Write the model of a run's last checkpoint to `folder`, without a card, and return it."""
    run = Run(out, settings or Settings())
    return export(run.model, run.tokenizer, folder)
