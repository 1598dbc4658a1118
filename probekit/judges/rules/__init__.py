"""The rule judge: usage of a mention from the words around it, offline and deterministic.

The order of the families is that of `Usage` where several apply: another sense, denial, depiction, hedge,
purpose, kind, and a plain claim when nothing speaks against one. What a sign says is depicted even when it
denies.
"""

from __future__ import annotations

from probekit.errors import InputError
from probekit.judges.rules.compounds import compound, other_sense
from probekit.judges.rules.context import Context
from probekit.judges.rules.depiction import depicted, named_by_figure, quoted
from probekit.judges.rules.generic import asked, generic
from probekit.judges.rules.hedges import hedge
from probekit.judges.rules.negation import negation
from probekit.judges.rules.purpose import purpose
from probekit.judges.verdict import Verdict
from probekit.labels import Usage

VERSION = "1"
"""Raised whenever a verdict may change, so that cached or saved labels can be told apart."""

FAMILIES = (
    (quoted, Usage.DEPICTIVE),
    (other_sense, Usage.NOT_OBJECT),
    (named_by_figure, Usage.DEPICTIVE),
    (compound, Usage.GENERIC),
    (negation, Usage.NEGATION),
    (depicted, Usage.DEPICTIVE),
    (hedge, Usage.HEDGED),
    (purpose, Usage.PURPOSE),
    (generic, Usage.GENERIC),
)


def usage(caption: str, start: int, end: int, category: str) -> Verdict:
    """Judge how ``caption[start:end]``, taken for an object of ``category``, is used.

    Raises:
        InputError: the span is empty or reaches outside the caption.
    """
    if not 0 <= start < end <= len(caption):
        raise InputError(f"span {start}:{end} is not inside a caption of {len(caption)} characters")
    context = Context.of(caption, start, end, category)
    if context is None:
        return Verdict(Usage.AMBIGUOUS, caption[start:end])
    if asked(context):
        return Verdict(Usage.AMBIGUOUS, context.quote(0, context.last))
    for family, kind in FAMILIES:
        if (trigger := family(context)) is not None:
            return Verdict(kind, trigger)
    return Verdict(Usage.EXISTENTIAL)


__all__ = ["VERSION", "Verdict", "usage"]
