"""A detector is a value: features read from captures, and a head or none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float

from probekit.captures import Capture
from probekit.detectors.heads.base import Head
from probekit.files import digest
from probekit.store import RowTable


@runtime_checkable
class Evidence(Protocol):
    """Rows and the arrays kept for them, leading axis ``row``; a `probekit.store.Shard` is one."""

    @property
    def rows(self) -> RowTable:
        """Identity and positions of the rows."""
        ...

    def __getitem__(self, capture: Capture) -> np.ndarray:
        """The array of one capture; raises `UnservedError` when it is not held."""
        ...


class Features(ABC):
    """Turns the captures it names into one vector per row. Children are frozen dataclasses."""

    @abstractmethod
    def needs(self) -> tuple[Capture, ...]:
        """The captures that are read, and no others."""

    @abstractmethod
    def __call__(self, shard: Evidence) -> Float[np.ndarray, "row dim"]:
        """Features of every row; NaN where the evidence is missing."""

    def flags(self, shard: Evidence) -> Mapping[str, Bool[np.ndarray, row]]:
        """Rows whose value follows a convention rather than a measurement, by the reason."""
        return {}


@dataclass(frozen=True)
class Detector:
    """One method. Scores always mean: higher is more likely hallucinated (SPEC 0.3).

    Attributes:
        name: name of the method, SPEC 2.7.
        features: what is read from a shard.
        head: how a classifier is fitted; ``None`` when the one feature column is the score already.
        baseline: a control rather than a method; it may be constant over a set.
    """

    name: str
    features: Features
    head: Head | None = None
    baseline: bool = False

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter that can change a score."""
        return {"features": describe(self.features), "head": describe(self.head)}

    @property
    def variant(self) -> str:
        """Digest of `parameters`; two variants are never averaged."""
        return digest(self.parameters)

    def needs(self) -> tuple[Capture, ...]:
        """The captures the detector reads."""
        return self.features.needs()


def describe(value: object) -> Any:
    """A frozen value as plain data: its class and its fields, all the way down."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: describe(getattr(value, f.name)) for f in fields(value)}
        return {"kind": type(value).__name__, **inner}
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    return value
