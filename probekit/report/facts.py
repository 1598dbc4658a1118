"""Nested mappings, such as counts and provenance, for readers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from probekit.report.markup import Html, tag

LONG = 12
"""Entries from which a mapping or a list starts folded."""
ROWS = 200
"""Entries above which a list is counted and left to its file."""


def facts(mapping: Mapping[str, Any]) -> Html:
    """A description list; mappings inside become lists inside."""
    parts: list[Html] = []
    for key, value in mapping.items():
        parts.append(tag("div", tag("dt", str(key).replace("_", " ")), tag("dd", _value(value))))
    return tag("dl", *parts, class_="facts")


def _value(value: Any) -> Html | str:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        if not value:
            return "none"
        return _folded(_leaves(value), facts(value)) if _leaves(value) > LONG else facts(value)
    if isinstance(value, str):
        # digests and names without a space are code, and may break anywhere
        return tag("code", value) if value and " " not in value else value or "not given"
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "n/a" if math.isnan(value) else f"{value:.6g}"
    if isinstance(value, Sequence):
        if all(isinstance(item, str | int | float) for item in value):
            return ", ".join(str(item) for item in value) or "none"
        if len(value) > ROWS:
            return f"{len(value):,} entries, in the file"
        if all(isinstance(item, Mapping) for item in value):
            return _folded(len(value), _grid(value))
        return tag("ul", *(tag("li", _value(item)) for item in value))
    return str(value)


def _grid(entries: Sequence[Mapping[str, Any]]) -> Html:
    names = list(dict.fromkeys(name for entry in entries for name in entry))
    head = tag("tr", *(tag("th", str(name).replace("_", " "), scope="col") for name in names))
    rows = [tag("tr", *(tag("td", _value(entry.get(name, ""))) for name in names)) for entry in entries]
    grid = tag("table", tag("thead", head), tag("tbody", *rows))
    return tag("div", grid, class_="box tall", tabindex="0", role="region", aria_label="Entries")


def _folded(count: int, content: Html) -> Html:
    return tag("details", tag("summary", f"{count:,} entries"), content)


def _leaves(value: Any) -> int:
    return sum(_leaves(item) for item in value.values()) if isinstance(value, Mapping) else 1
