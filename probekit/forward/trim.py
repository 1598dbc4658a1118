"""The last layer's feed-forward, on the positions that are read and no others.

Nothing attends to what the last layer gives, so most of its positions are computed for nobody. Its
attention needs every position's key and value; its feed-forward, which acts on each position alone,
does not.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jaxtyping import Int
from torch import Tensor, nn

NAMES = ("mlp", "feed_forward")


def feed_forward(layer: nn.Module) -> nn.Module | None:
    """A decoder layer's feed-forward; ``None`` where its name is another or it wants more than states."""
    for name in NAMES:
        module = getattr(layer, name, None)
        # of the class: nnsight puts a wrapper in place of an instance's own
        if isinstance(module, nn.Module) and len(inspect.signature(type(module).forward).parameters) == 2:
            return module
    return None


@contextmanager
def only_at(
    module: nn.Module | None, rows: Int[Tensor, " position"], slots: Int[Tensor, " position"]
) -> Iterator[None]:
    """While the block runs, a module of ``(row, query, D)`` states computes these positions alone.

    The others get zeros.

    Args:
        module: acts on each position by itself; ``None`` changes nothing.
        rows: row of each position wanted.
        slots: its query index.
    """
    if module is None:
        yield
        return
    shape: list[Any] = []

    def narrow(_: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...] | None:
        shape[:] = [given[0].shape] if len(given) == 1 and given[0].dim() == 3 else []
        return (given[0][rows.to(given[0].device), slots.to(given[0].device)][None],) if shape else None

    def widen(_: nn.Module, given: tuple[Any, ...], output: Any) -> Any:
        if not shape:
            return output
        if isinstance(output, tuple):
            return (widen(_, given, output[0]), *output[1:])
        found = output.new_zeros(shape[0])
        found[rows.to(output.device), slots.to(output.device)] = output[0]
        return found

    handles = [module.register_forward_pre_hook(narrow), module.register_forward_hook(widen)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
