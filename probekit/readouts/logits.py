"""Readouts of the logits at the first answer position: the largest of two sets of ids decides."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from probekit.benchmarks.yesno import NO, UNKNOWN, YES, Answer
from probekit.errors import InputError
from probekit.readouts.forms import (
    ANSWER_PREFIX,
    SINGLE_FORMS,
    derive_forms,
    left_out,
    require_both,
    sequences,
)
from probekit.readouts.readings import Readings
from probekit.readouts.tokenizer import Tokenizer


@dataclass(frozen=True)
class LogitReadout:
    """Yes when the largest yes logit is strictly greater than the largest no logit; a tie is no.

    SPEC 3.3. Coverage is the share of questions whose most likely token is one of the ids.

    Attributes:
        name: ``legacy_2tok``, ``legacy_8tok`` or ``dynamic_single``.
        yes: ids read as yes.
        no: ids read as no.
        left_out: the forms the tokenizer gives no single id, with the reason.
        source: where the ids come from: a published table or a tokenizer's name.
    """

    name: str
    yes: tuple[int, ...]
    no: tuple[int, ...]
    left_out: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        if not self.yes or not self.no or set(self.yes) & set(self.no):
            raise InputError(
                f"ids of yes {self.yes} and of no {self.no} must be two sets without a common id",
                where=f"readout {self.name}",
            )

    def read(
        self, logits: Float[np.ndarray, "question vocabulary"], *, allow_uncovered: bool = False
    ) -> Readings:
        """Decide about every question.

        Args:
            logits: scores of the next token at the first answer position; a row with NaN is unknown.
            allow_uncovered: give decisions below a coverage of 0.99 as well. Ids outside the
                vocabulary then count as impossible, which makes every comparison of two such a tie.

        Raises:
            InputError: coverage is below 0.99, or ids lie outside the vocabulary, and neither was
                allowed.
        """
        size = logits.shape[1]
        outside = sorted(i for i in (*self.yes, *self.no) if not 0 <= i < size)
        note = ""
        if outside:
            total = len(self.yes) + len(self.no)
            note = f"{len(outside)} of {total} ids, such as {outside[-1]}, lie outside a vocabulary of {size}"
        missing = np.isnan(logits).any(axis=1)
        yes, no = _largest(logits, self.yes), _largest(logits, self.no)
        decisions = np.where(yes > no, YES, NO).astype(np.int8)
        decisions[missing] = UNKNOWN
        both_impossible = np.isneginf(yes) & np.isneginf(no)
        gap = np.where(missing, np.nan, np.subtract(yes, no, where=~both_impossible, out=np.zeros_like(yes)))
        covered = np.zeros(len(logits), dtype=bool)
        covered[~missing] = np.isin(logits[~missing].argmax(axis=1), (*self.yes, *self.no))
        readings = Readings(self.name, decisions, covered, gap, note)
        if allow_uncovered:
            return readings
        if outside:
            raise InputError(
                note,
                where=f"readout {self.name}",
                hint="Its ids belong to another model's tokenizer: use dynamic_single or string_parse, or "
                f"allow it by name (--allow-uncovered {self.name}).",
            )
        return readings.require_coverage()


LEGACY_2TOK = LogitReadout("legacy_2tok", (3582,), (1217,), source="POPE-audit abstract")
"""Ids of ``yes`` and ``no`` in LLaMA's vocabulary, whatever the model. SPEC 3.3."""

LEGACY_8TOK = LogitReadout(
    "legacy_8tok", (3582, 8241, 4874, 3869), (1217, 3782, 694, 1939), source="POPE-audit Table 5"
)
"""Ids of the eight forms in LLaMA's vocabulary, whatever the model. SPEC 3.3."""


def dynamic_single(tokenizer: Tokenizer, context: str = ANSWER_PREFIX) -> LogitReadout:
    """The readout whose ids are the single-token forms under the model's own tokenizer. SPEC 3.3.

    Args:
        context: the end of the prompt; empty encodes every form alone, as POPE-audit does.

    Raises:
        InputError: no form of yes, or none of no, is one token; the tokenizer is named.
    """
    forms = derive_forms(tokenizer, SINGLE_FORMS, context)
    yes = sequences(forms, Answer.YES, single=True)
    no = sequences(forms, Answer.NO, single=True)
    require_both(yes, no, forms, tokenizer)
    return LogitReadout(
        "dynamic_single",
        tuple(ids[0] for ids in yes),
        tuple(ids[0] for ids in no),
        left_out(forms, single=True),
        tokenizer.name,
    )


def _largest(
    logits: Float[np.ndarray, "question vocabulary"], ids: tuple[int, ...]
) -> Float[np.ndarray, "question"]:
    inside = [i for i in ids if 0 <= i < logits.shape[1]]
    if not inside:
        return np.full(len(logits), -np.inf)
    return np.asarray(logits[:, inside].max(axis=1), dtype=np.float64)
