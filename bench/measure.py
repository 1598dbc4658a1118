"""Interleaved timing: each repeat runs every rival once, in turn, so that a slow minute hits all alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

WARM_UPS = 1


@dataclass(frozen=True)
class Measured:
    """One figure.

    Attributes:
        name: what is measured.
        value: the median over repeats.
        unit: ``ratio`` unless it says otherwise.
        detail: the spread, the sizes, and how each side was run.
    """

    name: str
    value: float
    unit: str
    detail: str

    def as_dict(self) -> dict[str, object]:
        """As `bench.json` keeps it."""
        return asdict(self)


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(
    name: str,
    over: Callable[[], object],
    under: Callable[[], object],
    *,
    repeats: int,
    detail: str,
    scale: float = 1.0,
    warm: bool = True,
) -> Measured:
    """Median of ``seconds(over) / seconds(under) * scale`` over interleaved repeats.

    Args:
        scale: when one side ran a part of the work, what makes it whole.
    """
    for _ in range(WARM_UPS if warm else 0):
        over()
        under()
    values = []
    times = []
    for repeat in range(repeats):
        if repeat % 2:
            b, a = seconds(under), seconds(over)
        else:
            a, b = seconds(over), seconds(under)
        values.append(a / b * scale)
        times.append((a * (scale if scale > 1 else 1), b * (1 / scale if scale < 1 else 1)))
    first, second = (statistics.median(side) for side in zip(*times, strict=True))
    spread = f"{min(values):.3g} to {max(values):.3g} in {repeats} repeats"
    return Measured(
        name, statistics.median(values), "ratio", f"{spread}; {first:.3g} s over {second:.3g} s; {detail}"
    )
