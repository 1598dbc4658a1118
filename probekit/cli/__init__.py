"""The command line: each body loads, calls, and says where the result is.

Nothing heavy is imported before a command runs. Exit codes: 0 all that was asked is done, 1 something
failed, 2 bad usage or bad input.
"""

from __future__ import annotations

import errno
import logging
import sys
from importlib import import_module
from importlib.util import find_spec

import typer

from probekit.errors import ProbekitError

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


def main() -> None:
    """Entry point of the command ``probekit``."""
    logging.basicConfig(level=logging.WARNING, format="warning: %(message)s")
    try:
        app(standalone_mode=True)
    except ProbekitError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except (OSError, UnicodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            print("  Free some space, then run the same command again.", file=sys.stderr)
            sys.exit(1)
        print("  Check that the path exists, is of the right kind, and may be written.", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)
        sys.exit(130)
