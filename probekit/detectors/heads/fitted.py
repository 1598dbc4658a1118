"""A fitted head: weights with the story of what they were fitted on. Saved without pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from probekit.detectors.heads.base import Head, Weights
from probekit.errors import InputError
from probekit.files import read_json, write_atomically, write_json

CLASSES: Mapping[str, str] = {"0": "concrete or non_assertive", "1": "hallucinated"}
"""What the two outputs mean; kept beside the weights so that a probability cannot be read upside down."""


@dataclass(frozen=True)
class FittedHead:
    """Weights of one detector at one mixing budget and seed.

    Attributes:
        detector: name of the method.
        variant: digest of its parameters.
        parameters: the parameters themselves.
        mix: mixing budget of the fit set.
        seed: seed of split, draw and initialisation.
        fitted_on: digest of the fit rows, their labels and the store.
        rows: fit rows per class.
        weights: arrays of the head.
        log: what the solver said.
        classes: meaning of the two outputs.
    """

    detector: str
    variant: str
    parameters: Mapping[str, Any]
    mix: str
    seed: int
    fitted_on: str
    rows: Mapping[str, int]
    weights: Weights
    log: Mapping[str, Any] = field(default_factory=dict)
    classes: Mapping[str, str] = field(default_factory=lambda: dict(CLASSES))

    def score(self, head: Head, x: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " row"]:
        """P(hallucinated) of each row; a row with a NaN feature scores NaN."""
        scores = np.full(len(x), np.nan)
        scored = np.isfinite(x).all(axis=1)
        if scored.any():
            scores[scored] = head.score(self.weights, x[scored])
        return scores

    def save(self, path: Path) -> None:
        """Write ``path.safetensors``, then ``path.json``, whose presence says the head is whole."""
        arrays = {name: np.ascontiguousarray(array) for name, array in self.weights.items()}
        write_atomically(path.with_suffix(".safetensors"), save(arrays))
        described = {name: getattr(self, name) for name in _FIELDS}
        write_json(path.with_suffix(".json"), described)

    @classmethod
    def load(cls, path: Path) -> FittedHead:
        """Read what `save` wrote.

        Raises:
            InputError: a file is missing or has another shape; it is named.
        """
        described = read_json(path.with_suffix(".json"))
        if not isinstance(described, dict) or not set(_FIELDS) <= set(described):
            raise InputError("not a fitted head", where=str(path.with_suffix(".json")))
        file = path.with_suffix(".safetensors")
        try:
            weights = load_file(str(file))
        except (SafetensorError, OSError) as error:
            raise InputError(
                f"weights cannot be read: {error}", where=str(file), hint="Train again with --force."
            ) from None
        return cls(weights=weights, **{name: described[name] for name in _FIELDS})


def saved_digest(path: Path) -> str | None:
    """``fitted_on`` of a head already on disk, or ``None``."""
    if not path.with_suffix(".safetensors").exists():
        return None
    try:
        value = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        return str(value["fitted_on"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


_FIELDS = ("detector", "variant", "parameters", "mix", "seed", "fitted_on", "rows", "log", "classes")
