"""Errors a user can act on: what happened, which file, line or sample it concerns, what to do next."""

from __future__ import annotations

import errno
import logging
import sys
from collections.abc import Callable
from typing import ClassVar


class ProbekitError(Exception):
    """Base of every error probekit raises on purpose.

    Args:
        what: one sentence that states what is wrong.
        where: the file, line, sample or layer concerned, when there is one.
        hint: what the user can do next.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.what = what
        self.where = where
        self.hint = hint
        super().__init__(str(self))

    def __str__(self) -> str:
        parts = [self.what if self.where is None else f"{self.where}: {self.what}"]
        if self.hint is not None:
            parts.append(self.hint)
        return "\n  ".join(parts)


class InputError(ProbekitError):
    """Bad usage or bad input: a file, a line, a sample, an option. The command exits with 2."""

    exit_code = 2


class UnservedError(InputError):
    """A detector or a score asks for a capture that the store does not hold."""


class StoreError(ProbekitError):
    """A store on disk is damaged, incomplete, or could not be written."""


class FamilyError(ProbekitError):
    """A model's architecture is unknown or fails the contracts its family must keep."""


class ContractError(ProbekitError):
    """A number broke an invariant that must hold, such as attention masses that do not sum to one."""


INTERRUPTED = "interrupted; run the same command again to go on"


def run_telling(body: Callable[[], object]) -> None:
    """Run a command or a study; what goes wrong is told in a line or two, without a traceback.

    Leaves the process with 2 after bad usage or bad input, 1 after another failure, 130 when interrupted.
    """
    logging.basicConfig(level=logging.WARNING, format="warning: %(message)s")
    try:
        body()
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
        print(INTERRUPTED, file=sys.stderr)
        sys.exit(130)
    except SystemExit as ending:  # typer ends an interrupted command this way
        if ending.code == 130:
            print(INTERRUPTED, file=sys.stderr)
        raise
