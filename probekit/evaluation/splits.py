"""Fit, calibration and test sets, split by image: no image is ever on two sides. SPEC 3.4."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int

from probekit.errors import ContractError, InputError
from probekit.files import read_json, write_json

Part = Literal["fit", "calibration", "test"]
PARTS: tuple[Part, ...] = ("fit", "calibration", "test")
SHARES: tuple[int, int, int] = (8, 2, 5)
"""Fifteenths of the images; the paper prints 53.3, 13.3 and 33.3 %."""


@dataclass(frozen=True)
class Split:
    """Images of one seed, in three disjoint sets.

    Raises:
        ContractError: an image is in two of them.
    """

    seed: int
    fit: frozenset[str]
    calibration: frozenset[str]
    test: frozenset[str]

    def __post_init__(self) -> None:
        both = (self.fit & self.calibration) | (self.fit & self.test) | (self.calibration & self.test)
        if both:
            raise ContractError(f"seed {self.seed}: image {sorted(both)[0]!r} is in two parts of the split")

    @classmethod
    def of(cls, images: Iterable[str], seed: int) -> Split:
        """Draw a split of the distinct ``images``; the same images and seed give the same split."""
        names = sorted(set(images))
        order = np.random.default_rng([seed, 15]).permutation(len(names))
        shuffled = [names[at] for at in order]
        first = round(len(names) * SHARES[0] / sum(SHARES))
        second = first + round(len(names) * SHARES[1] / sum(SHARES))
        parts = shuffled[:first], shuffled[first:second], shuffled[second:]
        return cls(seed, *(frozenset(part) for part in parts))

    def rows(self, part: Part, image: np.ndarray) -> Int[np.ndarray, " chosen"]:
        """Indices of the rows whose image is in ``part``, in order."""
        wanted: frozenset[str] = getattr(self, part)
        return np.flatnonzero(np.fromiter((name in wanted for name in image), bool, len(image)))

    def save(self, path: Path) -> None:
        """Write the image ids of each part as JSON."""
        parts: dict[str, object] = {part: sorted(getattr(self, part)) for part in PARTS}
        write_json(path, {"seed": self.seed, **parts})

    @classmethod
    def load(cls, path: Path) -> Split:
        """Read what `save` wrote.

        Raises:
            InputError: the file is missing or has another shape.
        """
        value = read_json(path)
        try:
            return cls(int(value["seed"]), *(frozenset(map(str, value[part])) for part in PARTS))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a split: {error}", where=str(path)) from None
