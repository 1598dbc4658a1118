"""What the two neural heads share: seeded Adam on binary cross-entropy over shuffled batches.

Imported only to train: scoring needs numpy alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

THREADS_PAY = 5e7
"""Multiply-adds of a batch above which threads gain more than their meeting at each operation costs."""


@contextmanager
def _threads(work: float) -> Iterator[None]:
    """One thread for small steps: on a busy machine every operation would wait for the slowest thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(before if work > THREADS_PAY else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def train(
    network: torch.nn.Module,
    x: np.ndarray,
    y: np.ndarray,
    *,
    seed: int,
    epochs: int,
    batch: int,
    learning_rate: float,
) -> float:
    """Train in place and return the mean loss of the last epoch.

    A final batch of one row joins the batch before it: batch normalisation cannot see a spread in one.
    """
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32))
    target = torch.from_numpy(y.astype(np.float32))
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate, fused=True)
    loss_of = torch.nn.BCEWithLogitsLoss()
    network.train()
    loss_sum = 0.0
    work = batch * sum(parameter.numel() for parameter in network.parameters())
    with _threads(work):
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
