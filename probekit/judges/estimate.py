"""What asking will take, said before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from probekit.judges.base import Question

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, tokens and money, by rule of thumb.

    Attributes:
        requests: calls to be made.
        input_tokens: characters sent divided by four.
        output_tokens: answers expected, as the caller says.
        input_price, output_price: money per million tokens; ``None`` when the user gave none.
    """

    requests: int
    input_tokens: int
    output_tokens: int
    input_price: float | None = None
    output_price: float | None = None

    @classmethod
    def of(
        cls,
        questions: Sequence[Question],
        answer_tokens: int,
        input_price: float | None = None,
        output_price: float | None = None,
    ) -> Estimate:
        """Estimate asking ``questions`` with ``answer_tokens`` expected in each answer."""
        characters = sum(len(question.content) for question in questions)
        return cls(
            len(questions),
            -(-characters // CHARACTERS_PER_TOKEN),
            answer_tokens * len(questions),
            input_price,
            output_price,
        )

    @property
    def cost(self) -> float | None:
        """Money, or ``None`` without both prices."""
        if self.input_price is None or self.output_price is None:
            return None
        return (self.input_tokens * self.input_price + self.output_tokens * self.output_price) / 1e6

    def __str__(self) -> str:
        cost = "no price given" if self.cost is None else f"about {self.cost:.2f} at the prices given"
        return (
            f"{self.requests:,} requests, about {self.input_tokens:,} tokens in and "
            f"{self.output_tokens:,} out, {cost}"
        )
