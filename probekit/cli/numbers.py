"""Options that take a number with a fraction: one check for all of them.

Python reads ``nan`` and ``inf`` as numbers, and comparisons with NaN are false, so that a range alone lets
both through; a limit of NaN would then hold nothing back, without a word.
"""

from __future__ import annotations

import math
from typing import Any

import typer


def number(
    *names: str,
    help: str,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> Any:
    """An option for a finite number within bounds; anything else is bad usage.

    Args:
        names: of the option, where it is not called as its parameter.
        help: what it means.
        least, most: bounds that are allowed themselves; the help shows them.
        above, below: bounds that are not.
    """

    def check(value: float | None) -> float | None:
        if value is None:
            return None
        if not math.isfinite(value):
            raise typer.BadParameter(f"{value} is no finite number.")
        if above is not None and value <= above:
            raise typer.BadParameter(f"{value} is not above {above:g}.")
        if below is not None and value >= below:
            raise typer.BadParameter(f"{value} is not below {below:g}.")
        return value

    return typer.Option(*names, help=help, min=least, max=most, callback=check)
