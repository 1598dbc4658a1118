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
    """Names given one by one or with commas; ``None`` when none is given."""
    return [name.strip() for one in given or () for name in one.split(",") if name.strip()] or None
