"""How a command ends: what is told, and with which exit code."""

import sys

import pytest

from probekit.errors import InputError, run_telling


def raising(error):
    def body():
        raise error

    return body


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), SystemExit(130)])
def test_an_interrupted_command_says_how_to_go_on(ending, capsys):
    """Typer turns an interrupt into an exit of its own."""
    with pytest.raises(SystemExit) as raised:
        run_telling(raising(ending))
    assert raised.value.code == 130
    assert capsys.readouterr().err == "interrupted; run the same command again to go on\n"


def test_other_endings_keep_their_code_and_say_their_own(capsys):
    for code in (0, 1, 2):
        with pytest.raises(SystemExit) as raised:
            run_telling(lambda code=code: sys.exit(code))
        assert raised.value.code == code
    assert capsys.readouterr().err == ""
    with pytest.raises(SystemExit) as raised:
        run_telling(raising(InputError("no such thing", where="file", hint="Look.")))
    assert raised.value.code == 2
    assert "file: no such thing" in capsys.readouterr().err
