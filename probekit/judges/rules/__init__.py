"""The rule judge: usage of a mention from the words around it, offline and deterministic.

Each family of rules is a module that takes the mention in its sentence (`Context`) and returns the words that
decided, or nothing. The order of the families is that of USAGE where several apply: another sense, denial,
depiction, hedge, purpose, kind, and a plain claim when nothing speaks against one. Two come earlier: what a
sign says is depicted even when it denies, and a word inside a compound is neither hedged nor a purpose by
itself (``possibly a bus stop``).
"""

from __future__ import annotations

from probekit.errors import InputError
from probekit.judges.rules.compounds import compound, other_sense
from probekit.judges.rules.context import Context
from probekit.judges.rules.figures import figured, names_figure
from probekit.judges.rules.generic import asked, generic
from probekit.judges.rules.hedges import hedge
from probekit.judges.rules.inscriptions import inscribed
from probekit.judges.rules.negation import negation
from probekit.judges.rules.pictures import pictured
from probekit.judges.rules.purpose import purpose
from probekit.judges.verdict import Verdict
from probekit.labels import Usage

VERSION = "1"
"""Raised whenever a verdict may change, so that saved labels can be told apart."""

FAMILIES = (
    (asked, Usage.AMBIGUOUS),
    (inscribed, Usage.DEPICTIVE),
    (other_sense, Usage.NOT_OBJECT),
    (names_figure, Usage.DEPICTIVE),
    (compound, Usage.GENERIC),
    (negation, Usage.NEGATION),
    (figured, Usage.DEPICTIVE),
    (pictured, Usage.DEPICTIVE),
    (hedge, Usage.HEDGED),
    (purpose, Usage.PURPOSE),
    (generic, Usage.GENERIC),
)


def usage(caption: str, start: int, end: int, category: str) -> Verdict:
    """Judge how ``caption[start:end]``, taken for an object of ``category``, is used.

    A span without a word in it is ambiguous.

    Raises:
        InputError: the span is empty or reaches outside the caption.
    """
    if not 0 <= start < end <= len(caption):
        raise InputError(f"span {start}:{end} is not inside a caption of {len(caption)} characters")
    context = Context.of(caption, start, end, category)
    if context is None:
        return Verdict(Usage.AMBIGUOUS, caption[start:end])
    for family, kind in FAMILIES:
        if (trigger := family(context)) is not None:
            return Verdict(kind, trigger)
    return Verdict(Usage.EXISTENTIAL)


__all__ = ["VERSION", "Verdict", "usage"]
