"""The readout that adds up the probability of every form, of one token or of several."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from probekit.benchmarks.yesno import NO, UNKNOWN, YES, Answer
from probekit.errors import InputError
from probekit.readouts.distribution import log_normalizer
from probekit.readouts.forms import ALL_FORMS, ANSWER_PREFIX, derive_forms, left_out, require_both, sequences
from probekit.readouts.readings import Readings
from probekit.readouts.tokenizer import Tokenizer

Continuation = Callable[[tuple[int, ...]], np.ndarray]
"""Takes ids to put behind every prompt; gives the logits of the token after them, ``question vocabulary``."""


@dataclass(frozen=True)
class MassReadout:
    """Yes when all forms of yes together are strictly more likely than all forms of no; a tie is no.

    A question is covered when the forms of both answers together hold at least half of the
    probability, that is, when the model is more likely to say one of them than anything else.

    Attributes:
        yes: id sequences of yes.
        no: id sequences of no.
        left_out: forms that cannot be used, with the reason.
        source: the tokenizer's name.
    """

    yes: tuple[tuple[int, ...], ...]
    no: tuple[tuple[int, ...], ...]
    left_out: tuple[str, ...] = ()
    source: str = ""

    @property
    def sequences(self) -> tuple[tuple[int, ...], ...]:
        """The sequences whose log-probabilities `read` takes, in its order of columns."""
        return (*self.yes, *self.no)

    def read(
        self,
        log_probabilities: Float[np.ndarray, "question sequence"],
        *,
        allow_uncovered: bool = False,
    ) -> Readings:
        """Decide from the log-probability (nats) of every sequence after the prompt: `dynamic_mass`.

        Raises:
            InputError: the columns are not the readout's sequences, or coverage is below 0.99.
        """
        if log_probabilities.shape[1] != len(self.sequences):
            raise InputError(
                f"{log_probabilities.shape[1]} columns for {len(self.sequences)} sequences",
                where="readout dynamic_mass",
            )
        every = np.ones(len(self.sequences), dtype=bool)
        return self._decide("dynamic_mass", log_probabilities, every, allow_uncovered)

    def read_lower_bound(
        self, logits: Float[np.ndarray, "question vocabulary"], *, allow_uncovered: bool = False
    ) -> Readings:
        """Decide from the first position alone: `dynamic_mass_lower_bound`.

        Forms of several tokens are left out, so each mass is a lower bound of the true one.

        Raises:
            InputError: an answer has no form of one token, ids lie outside the vocabulary, or
                coverage is below 0.99.
        """
        single = np.array([len(ids) == 1 for ids in self.sequences])
        if not single[: len(self.yes)].any() or not single[len(self.yes) :].any():
            raise InputError(
                "an answer has no form of one token",
                where=f"readout dynamic_mass_lower_bound, tokenizer {self.source}",
                hint="Use dynamic_mass, with the log-probabilities of continuations, or string_parse.",
            )
        first = _NextToken.of(logits)
        columns = np.full((len(logits), len(self.sequences)), -np.inf)
        for column, ids in enumerate(self.sequences):
            if single[column]:
                columns[:, column] = first.log_probability(ids[0], self.source)
        return self._decide("dynamic_mass_lower_bound", columns, single, allow_uncovered)

    def _decide(
        self,
        name: str,
        log_probabilities: Float[np.ndarray, "question sequence"],
        used: Bool[np.ndarray, "sequence"],
        allow_uncovered: bool,
    ) -> Readings:
        probability = np.exp(log_probabilities.astype(np.float64))
        is_yes = np.arange(len(self.sequences)) < len(self.yes)
        yes = probability[:, is_yes & used].sum(axis=1)
        no = probability[:, ~is_yes & used].sum(axis=1)
        missing = np.isnan(yes) | np.isnan(no)
        decisions = np.where(yes > no, YES, NO).astype(np.int8)
        decisions[missing] = UNKNOWN
        readings = Readings(name, decisions, ~missing & (yes + no >= 0.5), yes - no)
        return readings if allow_uncovered else readings.require_coverage()


def dynamic_mass(tokenizer: Tokenizer, context: str = ANSWER_PREFIX) -> MassReadout:
    """The mass readout of a tokenizer: all forms, upper case included, after ``context``.

    Raises:
        InputError: yes or no cannot be written in this vocabulary at all.
    """
    forms = derive_forms(tokenizer, ALL_FORMS, context)
    yes = sequences(forms, Answer.YES, single=False)
    no = sequences(forms, Answer.NO, single=False)
    require_both(yes, no, forms, tokenizer)
    return MassReadout(yes, no, left_out(forms, single=False), tokenizer.name)


def sequence_log_probabilities(
    first: Float[np.ndarray, "question vocabulary"],
    wanted: tuple[tuple[int, ...], ...],
    continuation: Continuation | None = None,
) -> Float[np.ndarray, "question sequence"]:
    """Log-probability (nats) of every sequence after every prompt, by the chain rule.

    Args:
        first: logits at the first answer position.
        wanted: id sequences, such as `MassReadout.sequences`.
        continuation: called once for each distinct beginning of a longer sequence.

    Raises:
        InputError: a sequence has several tokens and no ``continuation`` is given.
    """
    known: dict[tuple[int, ...], _NextToken] = {(): _NextToken.of(first)}
    columns = []
    for ids in wanted:
        total = np.zeros(len(first))
        for length, token in enumerate(ids):
            prefix = ids[:length]
            if prefix not in known:
                if continuation is None:
                    raise InputError(
                        f"the form {list(ids)} has {len(ids)} tokens",
                        where="readout dynamic_mass",
                        hint="Give the logits after its first tokens, or use dynamic_mass_lower_bound.",
                    )
                known[prefix] = _NextToken.of(continuation(prefix))
            total = total + known[prefix].log_probability(token, "")
        columns.append(total)
    return np.stack(columns, axis=1)


@dataclass(frozen=True)
class _NextToken:
    """Logits with what turns them into log-probabilities."""

    logits: Float[np.ndarray, "question vocabulary"]
    normalizer: Float[np.ndarray, "question"]

    @classmethod
    def of(cls, logits: Float[np.ndarray, "question vocabulary"]) -> "_NextToken":
        return cls(logits, log_normalizer(logits))

    def log_probability(self, token: int, source: str) -> Float[np.ndarray, "question"]:
        if token >= self.logits.shape[1]:
            raise InputError(
                f"id {token} lies outside a vocabulary of {self.logits.shape[1]}",
                where=f"tokenizer {source}" if source else "readout dynamic_mass",
                hint="The logits and the tokenizer are not of one model.",
            )
        return np.asarray(self.logits[:, token].astype(np.float64) - self.normalizer)
