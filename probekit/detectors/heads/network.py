"""What the two neural heads share: seeded Adam on binary cross-entropy over shuffled batches.

Imported only to train: scoring needs numpy alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np
import torch

from probekit.detectors.heads.base import Problem, Solution

THREADS_PAY = 500_000_000
"""Multiply-adds of a batch above which threads gain more than their meeting at each operation costs."""

WORKERS = 4
_SEEDING = Lock()


class SeededDropout(torch.nn.Module):
    """Dropout that draws from a generator of its own, so that fits side by side stay repeatable."""

    def __init__(self, share: float, generator: torch.Generator) -> None:
        super().__init__()
        self.share = share
        self.generator = generator

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x`` with a share of its entries set to zero and the rest scaled up; in training only."""
        if not self.training or self.share == 0:
            return x
        kept = torch.rand(x.shape, generator=self.generator) >= self.share
        return x * kept / (1 - self.share)


def each(
    fit: Callable[[Problem], Solution], problems: Sequence[Problem], multiply_adds: int
) -> Iterator[Solution]:
    """Solutions in order. Large steps: one problem after another on all threads; small ones: one thread each.

    Args:
        fit: trains one network.
        problems: what to train on.
        multiply_adds: of one batch.
    """
    if multiply_adds > THREADS_PAY:
        yield from map(fit, problems)
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(min(WORKERS, len(os.sched_getaffinity(0)))) as pool:
            yield from pool.map(fit, problems)
    finally:
        torch.set_num_threads(before)


def seeded(seed: int, build: Callable[[], torch.nn.Sequential]) -> torch.nn.Sequential:
    """A network with torch's own initialisation from a seed; the global state stays as it was."""
    with _SEEDING, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


def train(
    network: torch.nn.Module,
    x: np.ndarray,
    y: np.ndarray,
    *,
    generator: torch.Generator,
    epochs: int,
    batch: int,
    learning_rate: float,
) -> float:
    """Train in place and return the mean loss of the last epoch.

    A final batch of one row joins the batch before it: batch normalisation cannot see a spread in one.
    """
    inputs = torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32))
    target = torch.from_numpy(y.astype(np.float32))
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate, fused=True)
    loss_of = torch.nn.BCEWithLogitsLoss()
    network.train()
    loss_sum = 0.0
    for _ in range(epochs):
        order = torch.randperm(len(inputs), generator=generator)
        pieces = [order[start : start + batch] for start in range(0, len(order), batch)]
        if len(pieces) > 1 and len(pieces[-1]) == 1:
            pieces[-2:] = [torch.cat(pieces[-2:])]
        loss_sum = 0.0
        for piece in pieces:
            optimiser.zero_grad(set_to_none=True)
            loss = loss_of(network(inputs[piece])[:, 0], target[piece])
            loss.backward()
            optimiser.step()
            loss_sum += float(loss.detach()) * len(piece)
    network.eval()
    return loss_sum / max(len(inputs), 1)


def arrays(network: torch.nn.Module) -> dict[str, np.ndarray]:
    """Parameters and running statistics as arrays."""
    return {name: tensor.detach().numpy().copy() for name, tensor in network.state_dict().items()}
