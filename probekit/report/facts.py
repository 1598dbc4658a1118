"""Nested mappings, such as counts and provenance, for readers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from probekit.report.markup import Html, tag


def facts(mapping: Mapping[str, Any]) -> Html:
    """A description list; mappings inside become lists inside."""
    parts: list[Html] = []
    for key, value in mapping.items():
        parts.append(tag("div", tag("dt", str(key).replace("_", " ")), tag("dd", _value(value))))
    return tag("dl", *parts, class_="facts")


def _value(value: Any) -> Html | str:
    if isinstance(value, Mapping):
        return facts(value) if value else "none"
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
        return tag("ul", *(tag("li", _value(item)) for item in value))
    return str(value)
