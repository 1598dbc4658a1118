"""The tone levels of Ghost-100: two prompt families of five levels, read from a YAML file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.files import digest
from probekit.yaml_files import read_yaml

LEVELS: tuple[int, ...] = (1, 2, 3, 4, 5)
"""Tone levels, from an open question to a coercive demand."""
SHIPPED = Path(__file__).with_name("ghost_prompts.yaml")


@dataclass(frozen=True)
class Prompts:
    """Prompt texts by level.

    Attributes:
        name: name and version of the wording.
        force: what each level demands, in words.
        reading: level -> text with ``{target}``, for names and times.
        presence: level -> text with ``{target}``, for objects.
        format: sentence appended to every presence prompt; may be empty.
    """

    name: str
    force: Mapping[int, str]
    reading: Mapping[int, str]
    presence: Mapping[int, str]
    format: str = ""

    @property
    def digest(self) -> str:
        """Digest of every text. Belongs into every result."""
        return digest([sorted(self.reading.items()), sorted(self.presence.items()), self.format])

    def ask(self, tone: int, target: str, *, presence: bool) -> str:
        """The question at one tone level. Raises `InputError` for a level that does not exist."""
        texts = self.presence if presence else self.reading
        if tone not in texts:
            raise InputError(f"no tone level {tone}", hint=f"Known: {', '.join(map(str, sorted(texts)))}.")
        text = texts[tone].replace("{target}", target)
        return f"{text} {self.format}".strip() if presence else text


def load_prompts(path: Path | None = None) -> Prompts:
    """Read the shipped wording, or the user's own file of the same shape.

    Raises:
        InputError: the file is missing, is not YAML, lacks a level, or a text lacks ``{target}``.
    """
    source = path or SHIPPED
    value = read_yaml(source)
    if not isinstance(value, dict):
        raise InputError("a mapping with levels, reading and presence is needed", where=str(source))
    unknown = sorted(set(map(str, value)) - {"name", "levels", "reading", "presence"})
    if unknown:
        raise InputError(f"unknown keys {', '.join(unknown)}", where=str(source))
    presence = value.get("presence")
    form = presence.get("format", "") if isinstance(presence, dict) else ""
    form = "" if form is None else form
    if not isinstance(form, str):
        raise InputError("'format' of 'presence' must be a text", where=str(source))
    levels = value.get("levels") or []
    try:
        force = {int(entry["level"]): str(entry["force"]) for entry in levels}
    except (TypeError, KeyError, ValueError):
        raise InputError("each of 'levels' needs 'level' and 'force'", where=str(source)) from None
    return Prompts(
        str(value.get("name", source.stem)),
        force,
        _texts(value.get("reading"), "reading", source),
        _texts(presence, "presence", source),
        form,
    )


def _texts(value: Any, family: str, source: Path) -> dict[int, str]:
    if not isinstance(value, dict):
        raise InputError(f"{family!r} must map levels to texts", where=str(source))
    found: dict[int, str] = {}
    for level in LEVELS:
        text = value.get(level)
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{family!r} has no text for level {level}", where=str(source))
        if "{target}" not in text:
            raise InputError(f"{family!r} level {level} does not name {{target}}", where=str(source))
        found[level] = " ".join(text.split())
    unknown = sorted(str(key) for key in value if key not in (*LEVELS, "format"))
    if unknown:
        raise InputError(f"{family!r} has unknown keys {', '.join(unknown)}", where=str(source))
    return found
