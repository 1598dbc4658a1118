"""The one reader of YAML: every prompt, scenario, vocabulary, job and study file passes through here.

YAML allows a mapping to name a key twice and readers let the last one win, so that a line of the file
would silently count for nothing. Here that is an error, as it is for JSON in `probekit.files`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from probekit.errors import InputError

LineOf = Callable[[Sequence[str]], int | None]
"""Line of the key that a path of keys leads to, as far as the file has it; ``None`` where it has none."""

UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What readers of single values raise, as they come: a day that no calendar has is a plain ValueError."""

_MERGE = "tag:yaml.org,2002:merge"


def read_yaml(path: Path, *, absent: str = "no such file") -> Any:
    """The value of a YAML file, made of plain Python values alone.

    Args:
        absent: what is said where there is no such file.

    Raises:
        InputError: the file is missing, is a folder, is not text or not YAML, a value is not of the type
            that its tag says, or a mapping names a key twice; file and line are named.
    """
    return read_yaml_lines(path, absent=absent)[0]


def read_yaml_lines(path: Path, *, absent: str = "no such file") -> tuple[Any, LineOf]:
    """Like `read_yaml`, with the lines on which the keys stand, for errors found later."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(absent, where=str(path)) from None
    except IsADirectoryError:
        raise InputError("is a folder, a YAML file is needed", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error}", where=str(path)) from None
    tree = None
    try:
        loader = yaml.SafeLoader(text)
        tree = loader.get_single_node()
        if tree is None:
            return None, lambda place: None
        for node in _nodes(tree):
            if isinstance(node, yaml.MappingNode):
                _refuse_twice(loader, node, path)
        return loader.construct_document(tree), lambda place: _line(tree, place)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f", line {mark.line + 1}"
        raise InputError(f"not YAML: {error}", where=f"{path}{line}") from None
    except RecursionError as error:
        raise InputError(f"not YAML: {error}", where=str(path)) from None
    except UNREADABLE as error:
        raise _no_value(tree, error, path) from None


def _no_value(tree: yaml.Node | None, error: Exception, path: Path) -> InputError:
    """The error about the first value of a document that its type's reader fails at."""
    for node in () if tree is None else _nodes(tree):
        if not isinstance(node, yaml.ScalarNode):
            continue
        try:
            yaml.SafeLoader("").construct_object(node)
        except UNREADABLE:
            kind = node.tag.rpartition(":")[2]
            return InputError(
                f"not YAML: {node.value!r} is no {kind}",
                where=f"{path}, line {node.start_mark.line + 1}",
                hint="Write a value of that type, or put it in quotes, without a tag, to have it as text.",
            )
        except yaml.YAMLError:
            continue
    return InputError(f"not YAML: {error}", where=str(path))


def _nodes(tree: yaml.Node) -> Iterator[yaml.Node]:
    """Every node of a document once, however often it is referred to."""
    left, seen = [tree], {id(tree)}
    while left:
        node = left.pop()
        yield node
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            parts = node.value
        new = [part for part in parts if id(part) not in seen]
        seen |= {id(part) for part in new}
        left += new


def _refuse_twice(loader: yaml.SafeLoader, mapping: yaml.MappingNode, path: Path) -> None:
    """Refuse a mapping that names a key twice; ``0x1`` and ``1`` are one key, ``1`` and ``'1'`` are two."""
    lines: dict[Hashable, int] = {}
    for node, _ in mapping.value:
        if node.tag == _MERGE:
            continue
        key = loader.construct_object(node, deep=True)
        if not isinstance(key, Hashable):
            continue
        line = node.start_mark.line + 1
        if key in lines:
            raise InputError(
                f"the key {key!r} comes twice, first on line {lines[key]}",
                where=f"{path}, line {line}",
                hint="Only one of the two would count. Remove one.",
            )
        lines[key] = line


def _line(node: yaml.Node, place: Sequence[str]) -> int | None:
    found = None
    for part in place:
        if not isinstance(node, yaml.MappingNode):
            break
        pair = next((pair for pair in node.value if pair[0].value == part), None)
        if pair is None:
            break
        found, node = pair[0].start_mark.line + 1, pair[1]
    return found
