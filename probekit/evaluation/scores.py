"""Every calibration and test score as CSV, streamed: one line a mention, detector, mix and seed."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from probekit.evaluation.protocol import Protocol, Scored
from probekit.evaluation.thresholds import Threshold

COLUMNS = (
    "detector",
    "variant",
    "mix",
    "seed",
    "split",
    "example_id",
    "index",
    "score",
    "threshold",
    "flagged",
)


class ScoreWriter:
    """Writes lines through a csv writer, or nowhere when no file is wanted."""

    def __init__(self, lines: Any | None) -> None:
        self._lines = lines

    @classmethod
    @contextmanager
    def open(cls, path: Path | None) -> Iterator[ScoreWriter]:
        """A writer whose file appears whole at the end of the block, or not at all."""
        if path is None:
            yield cls(None)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            with temporary.open("w", encoding="utf-8", newline="") as handle:
                lines = csv.writer(handle, lineterminator="\n")
                lines.writerow(COLUMNS)
                yield cls(lines)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def write(self, protocol: Protocol, scored: Scored, thresholds: Mapping[int, Threshold]) -> None:
        """Add the calibration and test rows of all seeds; a row without a score has empty fields."""
        if self._lines is None:
            return
        keys = protocol.population.keys
        for seed, scores in scored.scores.items():
            threshold = thresholds[seed]
            for split, rows in (("calibration", protocol.calibration[seed]), ("test", protocol.test[seed])):
                start = (scored.detector, scored.variant, scored.mix, seed, split)
                for at in rows.tolist():
                    index = "" if keys[at].index is None else keys[at].index
                    end = _fields(float(scores[at]), threshold.value)
                    self._lines.writerow((*start, keys[at].example_id, index, *end))


def _fields(score: float, threshold: float) -> tuple[str, str, str]:
    """Score, threshold and flag as text; a flag needs both."""
    known = np.isfinite(score), np.isfinite(threshold)
    flag = str(score > threshold).lower() if all(known) else ""
    return repr(score) if known[0] else "", repr(threshold) if known[1] else "", flag
