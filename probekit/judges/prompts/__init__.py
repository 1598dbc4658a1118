"""Prompt texts, one Markdown file each. Data goes in by plain replacement, as JSON, between unique marks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from probekit.files import digest

ITEMS = "{{ITEMS}}"


@cache
def template(name: str) -> str:
    """The text of ``name``.md in this folder."""
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")


def fill(name: str, items: Sequence[dict[str, Any]]) -> str:
    """The prompt ``name`` with ``items`` as a JSON array.

    The array is fenced by a mark that depends on it, so no text inside can close the fence; braces, quotes
    and newlines of a caption are data of the array and touch neither the template nor the form of the answer.
    """
    data = json.dumps(items, ensure_ascii=False, indent=1)
    mark = f"DATA-{digest(data)}"
    fenced = f"<<<{mark}\n{data}\n{mark}>>>"
    return template(name).replace(ITEMS, fenced)
