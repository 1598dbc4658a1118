"""What is left to be asked, found by going through the motions with the answers that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from probekit.judges.base import Judge, Opinion, Question
from probekit.judges.cache import CachedJudge

_NOT_ASKED = "not asked yet"


class Replay:
    """Stands in for a judge, gives the answers it has kept, and collects the questions it has not.

    Where later questions depend on earlier answers, this follows them as far as the answers go.

    Attributes:
        left: each different question without a kept answer, once.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._left: dict[Question, None] = {}

    @property
    def identity(self) -> Mapping[str, str]:
        """That of the judge."""
        return self.judge.identity

    @property
    def left(self) -> list[Question]:
        """Each different question without a kept answer, in the order met."""
        return list(self._left)

    def answer(self, questions: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
        """Yield the kept answers, and a failure for what is not kept; nothing is asked."""
        for position, question in enumerate(questions):
            kept = self.judge.kept(question) if isinstance(self.judge, CachedJudge) else None
            if kept is not None:
                yield position, Opinion(kept)
                continue
            # The second asking of what was never asked is no question of its own.
            if _NOT_ASKED not in question.content:
                self._left[question] = None
            yield position, Opinion("", _NOT_ASKED)
