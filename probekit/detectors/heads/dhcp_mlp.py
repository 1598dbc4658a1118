"""DHCP's classifier: z-scored input, one hidden layer of 128. SPEC 1.3.

NAME-Bench states Adam at 1e-3 and binary cross-entropy; epochs and batch follow the published command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probekit.detectors.heads.base import (
    Problem,
    Solution,
    Weights,
    dense,
    require_two_classes,
    sigmoid,
)


@dataclass(frozen=True)
class DhcpMlp:
    """Linear(width) - ReLU - Linear(1), last epoch kept, no sampler.

    Attributes:
        width: hidden units.
        epochs: passes over the fit set.
        batch: rows of a batch at most.
        learning_rate: of Adam.
    """

    width: int = 128
    epochs: int = 30
    batch: int = 1024
    learning_rate: float = 1e-3

    def fit(self, x: Float[np.ndarray, "row dim"], problems: Sequence[Problem]) -> Iterator[Solution]:
        """Train one network a problem; `NotFittableError` when one has a single class."""
        for problem in problems:
            require_two_classes(problem)
        from probekit.detectors.heads.network import each

        multiply_adds = min(self.batch, len(x)) * x.shape[1] * self.width
        yield from each(lambda problem: self._fit(x, problem), problems, multiply_adds)

    def _fit(self, x: np.ndarray, problem: Problem) -> Solution:
        import torch

        from probekit.detectors.heads.network import arrays, seeded, train

        part = x[problem.rows].astype(np.float32)
        mean = part.mean(axis=0, dtype=np.float64).astype(np.float32)
        deviation = np.maximum(part.std(axis=0, dtype=np.float64), 1e-8).astype(np.float32)

        def build() -> torch.nn.Sequential:
            first, second = torch.nn.Linear(x.shape[1], self.width), torch.nn.Linear(self.width, 1)
            return torch.nn.Sequential(first, torch.nn.ReLU(), second)

        network = seeded(problem.seed, build)
        loss = train(
            network,
            (part - mean) / deviation,
            problem.y,
            generator=torch.Generator().manual_seed(problem.seed),
            epochs=self.epochs,
            batch=min(self.batch, len(part)),
            learning_rate=self.learning_rate,
        )
        weights = {**arrays(network), "mean": mean, "deviation": deviation}
        return Solution(weights, {"epochs": self.epochs, "loss": loss})

    def score(self, weights: Weights, x: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " row"]:
        """P(hallucinated)."""
        scaled = (x.astype(np.float64) - weights["mean"]) / weights["deviation"]
        hidden = np.maximum(dense(weights, "0", scaled), 0.0)
        return sigmoid(dense(weights, "2", hidden)[:, 0].astype(np.float32).astype(np.float64))
