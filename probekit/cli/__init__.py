"""The command line: each body loads, calls, and says where the result is.

Nothing heavy is imported before a command runs. Exit codes: 0 all that was asked is done, 1 something
failed, 2 bad usage or bad input.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Annotated

import typer

from probekit.errors import run_telling

app = typer.Typer(
    name="probekit",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Does a vision-language model see what it says, and can its insides tell when it does not? "
    "Start with `probekit demo --out runs/demo`; then `probekit run MODEL --images DIR --references FILE "
    "--out DIR` does the same with a model and photographs of your own.",
)

GROUPS = (
    "pipeline",
    "store",
    "probes",
    "report",
    "text",
    "judge",
    "pope",
    "tri_layer",
    "behaviour",
    "check",
    "organism",
)

for _group in GROUPS:
    if find_spec(f"probekit.cli.{_group}") is not None:
        import_module(f"probekit.cli.{_group}").register(app)


def _version(asked: bool) -> bool:
    if asked:
        from probekit import __version__

        typer.echo(f"probekit {__version__}")
        raise typer.Exit
    return asked


@app.callback(help=app.info.help)
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options that need no command."""


def main() -> None:
    """Entry point of the command ``probekit``."""
    run_telling(lambda: app(standalone_mode=True))
