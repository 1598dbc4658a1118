"""A judge that answers from a record: for tests, and for work without a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.judges.base import Opinion, Question
from probekit.judges.pictures import Picture

SHOWN = 200
"""Characters of an unknown question that its error quotes."""


@dataclass(frozen=True)
class RecordedJudge:
    """Answers what was asked before; anything else is an error that names the question.

    Attributes:
        answers: question -> answer.
        source: where the record came from, for errors and identity.
    """

    answers: Mapping[Question, str]
    source: str = "record"

    @classmethod
    def load(cls, path: Path) -> RecordedJudge:
        """Read JSON Lines with ``kind``, ``content`` and ``text``, such as a cache file.

        A question with pictures also has ``pictures``, the SHA-256 of each one's bytes in hex.

        Raises:
            InputError: the file is missing, or a line lacks one of the three; file and line are named.
        """
        answers: dict[Question, str] = {}
        for number, line in read_jsonl(path, required=("kind", "content", "text")):
            digests = line.get("pictures", [])
            if not isinstance(digests, list) or not all(isinstance(one, str) for one in digests):
                raise InputError("'pictures' must be a list of digests", where=f"{path}, line {number}")
            pictures = tuple(Picture(Path(), one) for one in digests)
            answers[Question(str(line["kind"]), str(line["content"]), pictures)] = str(line["text"])
        return cls(answers, str(path))

    @property
    def identity(self) -> Mapping[str, str]:
        """A record is its own judge."""
        return {"judge": "recorded", "source": self.source}

    def answer(self, questions: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
        """Yield the recorded answers in order.

        Raises:
            InputError: a question is not in the record.
        """
        for position, question in enumerate(questions):
            if question not in self.answers:
                shown = "".join(f", shown {picture.path.name}" for picture in question.pictures)
                raise InputError(
                    f"no recorded answer to the {question.kind} question "
                    f"{question.content[-SHOWN:]!r}{shown}",
                    where=self.source,
                    hint="The record must come from the same prompts, rows and captions per call.",
                )
            yield position, Opinion(self.answers[question])
