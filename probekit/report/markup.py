"""Markup that cannot be injected into: plain strings are escaped, only `Html` passes as it is."""

from __future__ import annotations

import html
import json
import re
from dataclasses import is_dataclass

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_VOID = frozenset({"img", "input", "meta", "br", "hr"})


class Html(str):
    """Markup made by this module; every other string is text and is escaped on its way in."""

    __slots__ = ()


def text(value: object) -> Html:
    """``value`` as text for element content or a quoted attribute.

    Control characters and direction overrides become U+FFFD: a caption must not be able to reorder
    the words around it.

    Raises:
        TypeError: the value is a record, which Python would write as code.
    """
    if isinstance(value, Html):
        return value
    if is_dataclass(value):
        raise TypeError(f"{type(value).__name__} is no text: format it first")
    return Html(html.escape(_CONTROL.sub("\ufffd", str(value)), quote=True))


def join(*parts: object) -> Html:
    """Parts one after another, plain ones escaped."""
    return Html("".join(text(part) for part in parts))


def prose(value: str) -> Html:
    """Text in which what stands between backticks is code."""
    parts = value.split("`")
    return join(*(tag("code", part) if i % 2 else part for i, part in enumerate(parts)))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """One element.

    Args:
        name: element name, chosen by the program and never by data.
        children: `Html` as it is, everything else escaped.
        attributes: values are escaped; ``None`` and ``False`` leave the attribute out, ``True`` writes
            it bare. A trailing ``_`` is dropped and other ``_`` become ``-``.
    """
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        # html.escape again even for Html: a tag inside an attribute is text
        quoted = html.escape(_CONTROL.sub("\ufffd", str(value)), quote=True)
        written.append(f" {attribute}" if value is True else f' {attribute}="{quoted}"')
    opening = f"<{name}{''.join(written)}>"
    return Html(opening) if name in _VOID else Html(f"{opening}{join(*children)}</{name}>")


def data_block(identifier: str, value: object) -> Html:
    """``value`` as JSON in a script element that no browser runs; ``<`` cannot close the element."""
    content = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        content = content.replace(mark, f"\\u{ord(mark):04x}")
    return Html(f'<script type="application/json" id="{html.escape(identifier)}">{content}</script>')
