"""Everything that decides the outcome of a training run, counted in steps, never in seconds."""

import json
from dataclasses import asdict, dataclass, field

from probekit.files import digest
from probekit.organism.model import Shape


@dataclass(frozen=True)
class Settings:
    """The recipe's numbers. The defaults are the shipped model's.

    `images` scenes are drawn once and reused with fresh captions and questions. The vision stage
    teaches each patch its category, column and kind in the language model's own word vectors;
    the joint stage trains the whole model on captions and questions. Listing and locating tasks
    make up `early_tasks` of the samples until `anneal_at` of the joint steps, `late_tasks` after.
    The polish stage goes on from a lower peak rate, with more questions, most of the absent
    objects asked for being those the scene suggests, and more noise images.
    """

    seed: int = 0
    images: int = 30_000
    vision_steps: int = 800
    vision_batch: int = 96
    vision_rate: float = 1.2e-3
    joint_steps: int = 3000
    batch: int = 32
    turns: int = 5
    joint_rate: float = 1.5e-3
    polish_steps: int = 2400
    polish_rate: float = 1e-3
    tower_rate_share: float = 0.2
    weight_decay: float = 0.05
    patch_loss_share: float = 0.15
    questions_share: float = 0.36
    polish_questions_share: float = 0.45
    early_tasks: tuple[float, float] = (0.16, 0.08)
    late_tasks: tuple[float, float] = (0.04, 0.02)
    anneal_at: float = 0.5
    black_share: float = 0.06
    noise_share: float = 0.04
    polish_noise_share: float = 0.07
    threads: int = 1
    checkpoint_every: int = 250
    shape: Shape = field(default_factory=Shape)

    def as_dict(self) -> dict[str, object]:
        """Return the settings as JSON gives them back: a pair is a list."""
        plain: dict[str, object] = json.loads(json.dumps(asdict(self)))
        return plain

    def digest(self) -> str:
        """Return a short digest; a checkpoint of other settings is not resumed from."""
        return digest({k: v for k, v in self.as_dict().items() if k != "checkpoint_every"})
