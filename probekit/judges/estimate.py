"""What asking will take, said before anything is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from probekit.judges.base import Judge, Question
from probekit.judges.cache import CachedJudge

CHARACTERS_PER_TOKEN = 4
PIXELS_PER_TOKEN = 750
"""About what endpoints count for a picture of ordinary size; some small models count many times more."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests, tokens and money, by rule of thumb.

    Attributes:
        requests: calls to be made.
        input_tokens: characters sent divided by four, and pixels by 750.
        output_tokens: answers expected, as the caller says.
        input_price, output_price: money per million tokens; ``None`` when the user gave none.
        pictures: sent with the questions, each as often as it is sent.
    """

    requests: int
    input_tokens: int
    output_tokens: int
    input_price: float | None = None
    output_price: float | None = None
    pictures: int = 0

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
        shown = [picture for question in questions for picture in question.pictures]
        sizes = {picture: picture.size for picture in set(shown)}
        pixels = sum(sizes[picture][0] * sizes[picture][1] for picture in shown)
        return cls(
            len(questions),
            -(-characters // CHARACTERS_PER_TOKEN) + -(-pixels // PIXELS_PER_TOKEN),
            answer_tokens * len(questions),
            input_price,
            output_price,
            len(shown),
        )

    @property
    def cost(self) -> float | None:
        """Money, or ``None`` without both prices."""
        if self.input_price is None or self.output_price is None:
            return None
        return (self.input_tokens * self.input_price + self.output_tokens * self.output_price) / 1e6

    def __str__(self) -> str:
        cost = "no price given" if self.cost is None else f"about {self.cost:.2f} at the prices given"
        shown = f" with {self.pictures:,} pictures" if self.pictures else ""
        return (
            f"{self.requests:,} requests{shown}, about {self.input_tokens:,} tokens in and "
            f"{self.output_tokens:,} out, {cost}"
        )


Consent = Callable[[Judge, Sequence[Question], int], None]
"""Told of the judge, the questions it will be asked and the tokens of one answer; raises to stop."""


def left_to_ask(judge: Judge, questions: Sequence[Question]) -> list[Question]:
    """The different questions that a judge has no kept answer to."""
    return judge.missing(questions) if isinstance(judge, CachedJudge) else list(dict.fromkeys(questions))
