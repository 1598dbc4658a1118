"""Beginnings computed once and kept: the keys and values of a tree's trunk.

A picture that comes back in batch after batch, such as the black one of a blind condition, is computed
once for a whole run. What is kept is a pure function of picture and tokens, so a resumed run finds the
same numbers.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from probekit.families import Vlm

HELD = 4
"""Beginnings held at once. One of 600 tokens takes about 300 MB in a model of 7 billion parameters."""


@dataclass(frozen=True)
class Beginning:
    """A trunk and its cache.

    Attributes:
        tokens: how many tokens it has.
        cache: their keys and values.
    """

    tokens: int
    cache: Any

    def fork(self, rows: int | None = None) -> Any:
        """A cache that goes on from the trunk, the original staying as it is.

        Args:
            rows: texts that go on from it side by side, each with a copy of the trunk's tensors; ``None``
                for one row that shares them. An attention layer's update puts a new tensor in place of the
                old one; a recurrent layer writes into its own, so it must have rows.
        """
        found = copy.copy(self.cache)
        found.layers = [_apart(layer) for layer in self.cache.layers]
        if rows is not None:
            found.reorder_cache(torch.zeros(rows, dtype=torch.long))
        return found


def new_cache(vlm: Vlm) -> Any:
    """An empty cache that keeps every key, windows or not; in a recurrent decoder one of its own kinds."""
    from transformers import DynamicCache

    return DynamicCache() if vlm.packs_texts else DynamicCache(config=vlm.decoder.config)


def _apart(layer: Any) -> Any:
    """A copy of a layer's cache whose containers are its own; the tensors in them are shared."""
    found = copy.copy(layer)
    for name, value in vars(layer).items():
        if isinstance(value, dict):
            setattr(found, name, dict(value))
    return found


class Beginnings:
    """The most recently used beginnings."""

    def __init__(self, held: int = HELD) -> None:
        self._held = held
        self._kept: OrderedDict[tuple[str, bytes], Beginning] = OrderedDict()

    def get(self, key: tuple[str, bytes], make: Callable[[], Beginning]) -> Beginning:
        """A beginning, made when it is not held.

        Args:
            key: the picture's identity and the tokens up to the beginning's end.
        """
        if key not in self._kept:
            self._kept[key] = make()
            if len(self._kept) > self._held:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]
