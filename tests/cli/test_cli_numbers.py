"""Every option that takes a number with a fraction refuses what is none, and what lies out of its bounds."""

import math
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from probekit.cli import app
from probekit.errors import InputError
from probekit.judges.endpoint import EndpointJudge


def commands(group: typer.Typer, name: str = "") -> Iterator[tuple[str, Any]]:
    for command in group.registered_commands:
        yield f"{name} {command.name}".strip(), command.callback
    for inner in group.registered_groups:
        yield from commands(inner.typer_instance, f"{name} {inner.name}".strip())


def fractions() -> list[str]:
    """Command and option of every parameter that may be a float."""
    found = []
    for name, function in commands(app):
        for parameter, kind in get_type_hints(function, include_extras=True).items():
            inner = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
            if float in (inner, *get_args(inner)):
                found.append(f"{name} --{parameter.replace('_', '-')}")
    return found


def said(name: str, value: str) -> str:
    """What is said of a value. It is looked at before it is noticed that the rest of the line is missing."""
    done = CliRunner().invoke(app, [*name.split(), value])
    assert done.exit_code == 2
    return " ".join(done.output.split())


def test_the_walk_finds_the_options() -> None:
    found = fractions()
    assert len(set(found)) == len(found)
    assert set(found) >= {
        "ghost validate --least-sharpness",
        "ghost judge --requests-per-minute",
        "label --input-price",
        "selective --coverage",
        "tri-layer --fraction",
        "run --natural-share",
        "evaluate --natural-share",
        "pope-audit --calibration-share",
    }
    assert len(found) >= 18


@pytest.mark.parametrize("value", ["nan", "NaN", "-nan", "inf", "-inf", "1e999", "-1"])
@pytest.mark.parametrize("name", fractions())
def test_every_one_refuses_what_is_no_number(name: str, value: str) -> None:
    """None of them has a meaning for less than nothing either."""
    assert f"Invalid value for '{name.split()[-1]}'" in said(name, value)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("selective --coverage", ["1", "0.01"], ["0", "1.01"]),
        ("tri-layer --fraction", ["1", "0.3"], ["0", "1.01"]),
        ("run --natural-share", ["0", "0.995"], ["1"]),
        ("evaluate --natural-share", ["0", "0.995"], ["1"]),
        ("pope-audit --calibration-share", ["0.5"], ["0", "1"]),
        ("label --requests-per-minute", ["0.5", "600"], ["0"]),
        ("ghost validate --least-sharpness", ["0", "1e4"], []),
        ("ghost judge --input-price", ["0", "2.5"], []),
    ],
)
def test_bounds(name: str, good: list[str], bad: list[str]) -> None:
    assert all("Missing argument" in said(name, value) for value in good)
    assert all("Invalid value" in said(name, value) for value in bad)


def test_it_is_bad_usage_in_a_line() -> None:
    done = CliRunner().invoke(app, ["label", "r.jsonl", "--requests-per-minute", "nan"])
    assert done.exit_code == 2
    assert "nan is no finite number" in done.output


@pytest.mark.parametrize(
    "given", [{"requests_per_minute": math.nan}, {"temperature": math.nan}, {"timeout": math.nan}]
)
def test_an_endpoint_made_in_python_refuses_it_too(given: dict[str, float]) -> None:
    with pytest.raises(InputError):
        EndpointJudge("m", **given)
