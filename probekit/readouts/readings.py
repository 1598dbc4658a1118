"""What a readout made of every answer, and the guard against readouts that did not see the answers."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int8

from probekit.errors import InputError

MINIMUM_COVERAGE = 0.99
"""Share of answers a readout must have seen before its yes and no are believed (SPEC 3.3)."""


@dataclass(frozen=True)
class Readings:
    """The decisions of one readout over a list of answers.

    Attributes:
        readout: name of the readout, with its variant.
        decisions: 1 yes, 0 no, -1 unknown.
        covered: whether the readout looked at what the model said; elsewhere a decision is a guess.
        gap: score of yes minus score of no, in the readout's own unit; NaN where there is none.
        note: what else a reader must know, such as ids outside the vocabulary.
    """

    readout: str
    decisions: Int8[np.ndarray, "question"]
    covered: Bool[np.ndarray, "question"]
    gap: Float[np.ndarray, "question"] | None = None
    note: str = ""

    def __len__(self) -> int:
        return len(self.decisions)

    @property
    def coverage(self) -> float:
        """Share of answers covered; NaN when there are no answers."""
        return float(self.covered.mean()) if len(self.covered) else float("nan")

    def require_coverage(self, minimum: float = MINIMUM_COVERAGE) -> "Readings":
        """Itself, when it saw enough of the answers.

        Raises:
            InputError: coverage is below ``minimum``; a number computed from it would measure the
                readout, not the model.
        """
        if len(self.covered) and self.coverage < minimum:
            seen = int(self.covered.sum())
            raise InputError(
                f"coverage {self.coverage:.4f} ({seen} of {len(self)} answers) is below {minimum}"
                + (f"; {self.note}" if self.note else ""),
                where=f"readout {self.readout}",
                hint="Use string_parse or a readout derived from the model's own tokenizer, or allow "
                f"this one by name (--allow-uncovered {self.readout}).",
            )
        return self
