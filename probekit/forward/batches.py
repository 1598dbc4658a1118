"""Runs batches of texts under a memory budget that halves itself when the device runs out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import torch

from probekit.errors import ProbekitError
from probekit.forward.harvest import Arriving
from probekit.forward.traced import Traced, merge
from probekit.forward.work import Forced


@runtime_checkable
class Starts(Protocol):
    """What sets a batch going: a `Tracer`."""

    def start(self, texts: Sequence[Forced]) -> Arriving:
        """Trace a batch; the function given back waits for its results."""
        ...


def run_all(
    tracer: Starts,
    texts: Sequence[Forced],
    batches: Sequence[Sequence[int]],
    advance: Callable[[int], None] = lambda count: None,
) -> Traced:
    """Trace ``texts`` batch by batch; results come in the order of the texts.

    Args:
        tracer: of one model and one set of captures.
        texts: what to trace.
        batches: indices into ``texts``, each once.
        advance: called with the number of texts just finished.

    Raises:
        ProbekitError: one text alone does not fit the device's memory; the sample is named.
    """
    pieces: list[Traced] = []
    order: list[Sequence[int]] = []
    under_way: list[Arriving] = []
    waiting = list(reversed(batches))
    while waiting:
        batch = waiting.pop()
        try:
            started = tracer.start([texts[index] for index in batch])
        except torch.OutOfMemoryError:
            if len(batch) == 1:
                raise ProbekitError(
                    "the text alone does not fit the device's memory",
                    where=f"sample {texts[batch[0]].example_id}",
                    hint="Use --quantization 4bit, another device, or fewer captures.",
                ) from None
            half = len(batch) // 2
            waiting += [batch[half:], batch[:half]]
            continue
        # The last batch is fetched only now, so that a GPU was busy while this one was made ready.
        pieces += [finish() for finish in under_way]
        under_way = [started]
        order.append(batch)
        advance(len(batch))
    pieces += [finish() for finish in under_way]
    return merge(pieces, order, [len(text.targets) for text in texts])
