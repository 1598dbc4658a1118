"""Texts of two hundred thousand characters: the rules read them once."""

import subprocess
import sys

import pytest

from probekit.metrics.rates_names import name_verdict
from probekit.metrics.rates_times import time_verdict

PIECES = {
    "names": ("name", "Ann "),
    "names and quotes": ("name", "Ann 'Lee' "),
    "small names": ("name", "the name is ann and "),
    "times": ("time", "10:45 "),
    "denied times": ("time", "It is not 10:45. "),
    "hours": ("time", "ten to four people "),
    "names in a row of clauses": ("name", "Ann, it is "),
    "labels": ("presence", "PRESENT not "),
    "denials": ("presence", "microphone not visible "),
}


@pytest.mark.parametrize("kind", PIECES)
def test_a_long_text_is_read_in_one_go(kind: str) -> None:
    """A few seconds; rules that read it once for each of its words took from ten minutes to hours."""
    family, piece = PIECES[kind]
    module = "rates_presence" if family == "presence" else f"rates_{family}s"
    more = ", 'a microphone'" if family == "presence" else ""
    script = (
        f"from probekit.metrics.{module} import {family}_verdict\n"
        f"{family}_verdict({piece!r} * ({200_000} // {len(piece)}){more})"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=100)


@pytest.mark.parametrize(
    "text",
    [
        "Ann is the name",
        "I think Ann de la O'Brien-Smith was printed on it by someone",
        "On it Ann Lee is shown on the badge there",
        "It has stains.Tim Ray is the name, as far as can be seen",
    ],
)
def test_names_before_a_verb_are_found(text: str) -> None:
    assert name_verdict(text).hallucinated is True


def test_what_stands_far_before_a_value_neither_denies_nor_hides_it() -> None:
    far = "There is no watch. " * 400
    assert time_verdict(f"{far}The clock shows 10:45.").hallucinated is True
    assert time_verdict(f"{far}It does not show 10:45.").hallucinated is False
    assert name_verdict(f"{'There is no text. ' * 400}Ann Lee is the name").hallucinated is True
