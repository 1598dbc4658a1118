"""Options that name detectors: every command takes both spellings, one by one or with commas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer


def detectors(help: str) -> Any:
    """An option ``--detectors``, also spelt ``--detector``; its value is a list for `split`."""
    several = f"{help} Several with commas, or the option repeated."
    return typer.Option("--detectors", "--detector", help=several, metavar="NAMES")


def split(given: Sequence[str] | None) -> list[str] | None:
    """Names given one by one or with commas; ``None`` when the option is not given.

    Raises:
        typer.BadParameter: the option is given and names nothing.
    """
    found = [name.strip() for one in given or () for name in one.split(",") if name.strip()]
    if given and not found:
        raise typer.BadParameter("names no detector; leave the option out for all", param_hint="--detectors")
    return found or None
