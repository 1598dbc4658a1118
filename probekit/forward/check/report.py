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
        accepted: contracts that the user goes on in spite of, by name.
    """

    model: str
    revision: str
    family: str
    architecture: str
    dtype: str
    device: str
    versions: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    accepted: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the contracts that failed."""
        return tuple(outcome.contract for outcome in self.outcomes if outcome.status == "failed")

    @property
    def passed(self) -> bool:
        """Whether no contract failed; one that was skipped proves nothing either way."""
        return not self.failed

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
        return self.save(_cached(self.model, self.revision, self.dtype))

    @classmethod
    def load(cls, path: Path) -> Report:
        """Read what `save` wrote."""
        values = read_json(path)
        known = {key: values[key] for key in cls.__dataclass_fields__}
        outcomes = tuple(Outcome(**outcome) for outcome in values["outcomes"])
        return cls(**(known | {"outcomes": outcomes, "accepted": tuple(values["accepted"])}))

    def _values(self) -> dict[str, Any]:
        outcomes = [asdict(outcome) for outcome in self.outcomes]
        return {**{k: getattr(self, k) for k in self.__dataclass_fields__}, "outcomes": outcomes} | {
            "versions": dict(self.versions)
        }


def last_report(model: str, revision: str, dtype: str) -> Report | None:
    """The remembered report of these weights in this dtype, if they were ever checked.

    A report whose fields are not today's was made by another version of the check and counts as none.

    Args:
        model: its name or folder; tells models apart only where the revision is unknown.
        revision: commit or digest of the weights.
        dtype: of the weights.
    """
    path = _cached(model, revision, dtype)
    try:
        return Report.load(path) if path.is_file() else None
    except (KeyError, TypeError):
        return None


def _cached(model: str, revision: str, dtype: str) -> Path:
    root = os.environ.get("PROBEKIT_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    weights = model if revision == "unknown" else revision
    return Path(root).expanduser() / "probekit" / "checks" / f"{digest([weights, dtype])}.json"
