"""HALP's classifier: three blocks of Linear - ReLU - BatchNorm - Dropout. SPEC 1.5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from probekit.detectors.heads.base import (
    NotFittableError,
    Problem,
    Solution,
    Weights,
    dense,
    require_two_classes,
    sigmoid,
)

EPSILON = 1e-5


@dataclass(frozen=True)
class HalpMlp:
    """Input is not scaled, the last epoch is kept.

    Attributes:
        widths: hidden units of the blocks.
        dropout: share of units dropped in training.
        epochs: passes over the fit set.
        batch: rows of a batch.
        learning_rate: of Adam.
    """

    widths: tuple[int, ...] = (512, 256, 128)
    dropout: float = 0.3
    epochs: int = 50
    batch: int = 32
    learning_rate: float = 1e-3

    def fit(self, x: Float[np.ndarray, "row dim"], problems: Sequence[Problem]) -> Iterator[Solution]:
        """Train one network a problem; `NotFittableError` when one has a single class."""
        for problem in problems:
            require_two_classes(problem)
            if len(problem.y) < 2:
                raise NotFittableError("batch normalisation needs at least two rows")
        from probekit.detectors.heads.network import each

        widths = (x.shape[1], *self.widths, 1)
        multiply_adds = self.batch * sum(a * b for a, b in pairwise(widths))
        yield from each(lambda problem: self._fit(x, problem), problems, multiply_adds)

    def _fit(self, x: np.ndarray, problem: Problem) -> Solution:
        import torch

        from probekit.detectors.heads.network import SeededDropout, arrays, seeded, train

        generator = torch.Generator().manual_seed(problem.seed)

        def build() -> torch.nn.Sequential:
            layers: list[torch.nn.Module] = []
            for before, width in pairwise((x.shape[1], *self.widths)):
                layers += [torch.nn.Linear(before, width), torch.nn.ReLU()]
                layers += [torch.nn.BatchNorm1d(width, eps=EPSILON), SeededDropout(self.dropout, generator)]
            return torch.nn.Sequential(*layers, torch.nn.Linear(self.widths[-1], 1))

        network = seeded(problem.seed, build)
        loss = train(
            network,
            x[problem.rows],
            problem.y,
            generator=generator,
            epochs=self.epochs,
            batch=self.batch,
            learning_rate=self.learning_rate,
        )
        return Solution(arrays(network), {"epochs": self.epochs, "loss": loss})

    def score(self, weights: Weights, x: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " row"]:
        """P(hallucinated)."""
        hidden = x.astype(np.float64)
        for block in range(len(self.widths)):
            hidden = np.maximum(dense(weights, str(4 * block), hidden), 0.0)
            norm = str(4 * block + 2)
            spread = np.sqrt(weights[f"{norm}.running_var"].astype(np.float64) + EPSILON)
            hidden = (hidden - weights[f"{norm}.running_mean"]) / spread
            hidden = hidden * weights[f"{norm}.weight"] + weights[f"{norm}.bias"]
        logits = dense(weights, str(4 * len(self.widths)), hidden)[:, 0]
        return sigmoid(logits.astype(np.float32).astype(np.float64))
