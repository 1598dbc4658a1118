"""Reading an answer that must be one JSON object."""

from __future__ import annotations

import json
from typing import Any

from probekit.judges.base import MalformedError


def json_object(text: str) -> dict[str, Any]:
    """The JSON object of an answer; prose or a fence around it does not matter.

    Raises:
        MalformedError: there is none, or more than one.
    """
    first, last = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[first : last + 1]) if 0 <= first < last else None
    except (json.JSONDecodeError, RecursionError) as error:
        raise MalformedError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise MalformedError("no JSON object")
    return value
