"""What a check found: one outcome a contract, with the difference and what was allowed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from probekit.files import digest, read_json, write_json

Status = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Outcome:
    """One contract on one model.

    Attributes:
        contract: its name.
        status: passed, failed, or skipped with the reason in ``note``.
        difference: the largest difference found, where one is measured.
        tolerance: what was allowed; for an effect that must exist, its least size.
        note: what was compared, or why not.
    """

    contract: str
    status: Status
    difference: float | None
    tolerance: float | None
    note: str


@dataclass(frozen=True)
class Report:
    """All outcomes, and what they were found on.

    Attributes:
        model: name or folder.
        revision: commit or digest of the weights.
        family: the family's name.
        architecture: the model's class.
        dtype: of the weights.
        device: where it ran.
        versions: of the libraries involved.
        outcomes: one a contract, in order.
    """

    model: str
    revision: str
    family: str
    architecture: str
    dtype: str
    device: str
    versions: Mapping[str, str]
    outcomes: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        """Whether no contract failed; one that was skipped proves nothing either way."""
        return all(outcome.status != "failed" for outcome in self.outcomes)

    @property
    def digest(self) -> str:
        """Digest of everything in the report."""
        return digest(self._values())

    def __getitem__(self, contract: str) -> Outcome:
        return next(outcome for outcome in self.outcomes if outcome.contract == contract)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON values, digest included."""
        return {**self._values(), "passed": self.passed, "digest": self.digest}

    def save(self, path: Path) -> Path:
        """Write the report to a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, self.to_json())
        return path

    def remember(self) -> Path:
        """Write the report to the user's cache, where `last_report` finds it."""
        return self.save(_cached(self.revision, self.dtype))

    @classmethod
    def load(cls, path: Path) -> Report:
        """Read what `save` wrote."""
        values = read_json(path)
        outcomes = tuple(Outcome(**outcome) for outcome in values.pop("outcomes"))
        return cls(**{k: v for k, v in values.items() if k not in ("passed", "digest")}, outcomes=outcomes)

    def _values(self) -> dict[str, Any]:
        outcomes = [asdict(outcome) for outcome in self.outcomes]
        return {**{k: getattr(self, k) for k in self.__dataclass_fields__}, "outcomes": outcomes} | {
            "versions": dict(self.versions)
        }


def last_report(revision: str, dtype: str) -> Report | None:
    """The remembered report of weights with this revision, if they were ever checked in this dtype."""
    path = _cached(revision, dtype)
    return Report.load(path) if path.is_file() else None


def _cached(revision: str, dtype: str) -> Path:
    root = os.environ.get("PROBEKIT_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    name = f"{digest([revision, dtype])[:24]}.json"
    return Path(root).expanduser() / "probekit" / "checks" / name
