"""Where everything of a run lies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunFolder:
    """Paths inside a run's folder."""

    root: Path

    @property
    def job(self) -> Path:
        """The configuration, saved before the work."""
        return self.root / "job.json"

    @property
    def generations(self) -> Path:
        """The texts."""
        return self.root / "generations.jsonl"

    @property
    def rows(self) -> Path:
        """The mentions found in the texts."""
        return self.root / "rows.jsonl"

    @property
    def dropped(self) -> Path:
        """The mentions dropped, with reasons."""
        return self.root / "dropped.jsonl"

    @property
    def labels(self) -> Path:
        """Usage and presence of each row."""
        return self.root / "labels" / "labels.jsonl"

    @property
    def store(self) -> Path:
        """The activations."""
        return self.root / "store"

    @property
    def heads(self) -> Path:
        """The fitted heads."""
        return self.root / "heads"

    @property
    def scores(self) -> Path:
        """One score a row, detector, mix and seed."""
        return self.root / "scores.csv"

    @property
    def evaluation(self) -> Path:
        """The estimates."""
        return self.root / "evaluation.json"

    @property
    def page(self) -> Path:
        """The page to read."""
        return self.root / "report.html"
