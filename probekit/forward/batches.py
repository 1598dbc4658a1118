"""Runs batches of texts under a memory budget that halves itself when the device runs out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch

from probekit.errors import ProbekitError
from probekit.forward.trace import Traced, Tracer
from probekit.forward.work import Forced


def run_all(
    tracer: Tracer,
    texts: Sequence[Forced],
    batches: Sequence[Sequence[int]],
    advance: Callable[[int], None] = lambda count: None,
) -> Traced:
    """Trace ``texts`` batch by batch; results come in the order of the texts, not of the batches.

    Args:
        tracer: of one model and one set of captures.
        texts: what to trace.
        batches: indices into ``texts``, each once.
        advance: called with the number of texts just finished.

    Raises:
        ProbekitError: one text alone does not fit the device's memory; the sample is named.
    """
    starts = np.cumsum([0, *(len(text.targets) for text in texts)])
    order: list[int] = []
    pieces: list[Traced] = []
    agreement: dict[int, tuple[int, int]] = {}
    for batch in batches:
        for part in _fitting(tracer, [texts[index] for index in batch]):
            members = batch[: part.texts]
            batch = batch[part.texts :]
            pieces.append(part.traced)
            order += [row for index in members for row in range(starts[index], starts[index + 1])]
            if part.traced.agreement is not None:
                agreement |= dict(zip(members, part.traced.agreement, strict=True))
            advance(len(members))
    inverse = torch.from_numpy(np.argsort(np.array(order)))
    arrays = {key: torch.cat([piece.arrays[key] for piece in pieces])[inverse] for key in tracer.captures}
    return replace(
        pieces[0],
        arrays=arrays,
        prompt_tokens=np.concatenate([piece.prompt_tokens for piece in pieces])[inverse.numpy()],
        image_tokens=np.concatenate([piece.image_tokens for piece in pieces])[inverse.numpy()],
        agreement=tuple(agreement[index] for index in range(len(texts))) if agreement else None,
    )


class _Part:
    def __init__(self, texts: int, traced: Traced) -> None:
        self.texts, self.traced = texts, traced


def _fitting(tracer: Tracer, texts: Sequence[Forced]) -> list[_Part]:
    try:
        return [_Part(len(texts), tracer.run(texts))]
    except torch.OutOfMemoryError:
        if len(texts) == 1:
            raise ProbekitError(
                "the text alone does not fit the device's memory",
                where=f"sample {texts[0].example_id}",
                hint="Use --quantization 4bit, another device, or fewer captures.",
            ) from None
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    half = len(texts) // 2
    return _fitting(tracer, texts[:half]) + _fitting(tracer, texts[half:])
