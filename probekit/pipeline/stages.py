"""Completion as a fact on disk: a stage is done when its inputs' digest was written, last."""

from __future__ import annotations

from pathlib import Path

from probekit.files import digest, read_json, sha256, write_json


class Stages:
    """Remembers, in a run's folder, with which inputs each stage was finished."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "stages"

    def done(self, stage: str, inputs: str, *outputs: Path) -> bool:
        """Whether ``stage`` was finished with these inputs and its outputs still exist."""
        file = self._folder / f"{stage}.json"
        if not file.exists() or not all(output.exists() for output in outputs):
            return False
        return bool(read_json(file).get("inputs") == inputs)

    def differs(self, stage: str, inputs: str, *outputs: Path) -> bool:
        """Whether ``stage`` was finished with other inputs, or an output is gone; false when it never was."""
        file = self._folder / f"{stage}.json"
        return file.exists() and not self.done(stage, inputs, *outputs)

    def finish(self, stage: str, inputs: str) -> None:
        """Note that ``stage`` is finished."""
        write_json(self._folder / f"{stage}.json", {"inputs": inputs})


def inputs_of(*parts: object) -> str:
    """Digest of a stage's inputs; existing files stand for their content."""
    return digest([sha256(p) if isinstance(p, Path) and p.is_file() else str(p) for p in parts])
