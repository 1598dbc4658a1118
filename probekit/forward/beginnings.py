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

    def fork(self) -> Any:
        """A cache that goes on from the trunk; the trunk's tensors are shared, not copied.

        A layer's update puts a new tensor in place of the old one, so the original never changes.
        """
        found = copy.copy(self.cache)
        found.layers = [copy.copy(layer) for layer in self.cache.layers]
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
