"""Progress of long work: a bar with rate and time left on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LINE_EVERY_SECONDS = 15.0


@contextmanager
def progress(label: str, total: int, unit: str = "items", done: int = 0) -> Iterator[Callable[[int], None]]:
    """Report progress on standard error while the block runs.

    Args:
        label: what is being done, in a few words.
        total: how many units there are in all.
        unit: plural name of one unit.
        done: units already finished by an earlier run; they do not count towards the rate.

    Yields:
        A function to be called with the number of units just finished.
    """
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        start, fresh = time.monotonic(), 0
        with bar:
            task = bar.add_task(label, total=total, completed=done, rate="")

            def advance(count: int) -> None:
                nonlocal fresh
                fresh += count
                rate = fresh / max(time.monotonic() - start, 1e-9)
                bar.update(task, advance=count, rate=f"{rate:.1f} {unit}/s")

            yield advance
        return

    start = last = time.monotonic()
    count_now, fresh = done, 0

    def line(final: bool) -> None:
        rate = fresh / max(time.monotonic() - start, 1e-9)
        left = (total - count_now) / rate if rate > 0 else float("nan")
        tail = f"{time.monotonic() - start:.0f} s" if final else f"{left:.0f} s left"
        print(f"{label}: {count_now}/{total} {unit}, {rate:.1f}/s, {tail}", file=sys.stderr, flush=True)

    def advance_plain(count: int) -> None:
        nonlocal last, count_now, fresh
        count_now += count
        fresh += count
        if time.monotonic() - last > LINE_EVERY_SECONDS:
            last = time.monotonic()
            line(final=False)

    yield advance_plain
    line(final=True)
