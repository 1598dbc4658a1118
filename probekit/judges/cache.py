"""Answers kept on disk by content digest, so that an interrupted run pays nothing twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from probekit.errors import InputError
from probekit.files import JsonlAppender, digest
from probekit.judges.base import Judge, Opinion, Question


def key_of(identity: Mapping[str, str], question: Question) -> str:
    """The digest of judge, prompt, data and pictures together; a changed prompt is another question.

    A question without pictures has the key it had before there were any, so that paid answers stay valid.
    """
    pictures = [[picture.digest for picture in question.pictures]] if question.pictures else []
    return digest([dict(identity), question.kind, question.content, *pictures])


class CachedJudge:
    """A judge that remembers. Each answer is on disk before the next is waited for.

    The file is JSON Lines, append-only; a line cut by a kill is dropped on opening. Failures are not kept,
    so that a rerun asks again. The questions stay in the file: it can serve as a record (`recorded`).
    """

    def __init__(self, judge: Judge, path: Path) -> None:
        self.judge = judge
        self.path = path
        self._file = JsonlAppender(path)
        self._known: dict[str, str] = {}
        for number, line in enumerate(self._file.done, start=1):
            if not isinstance(line.get("key"), str) or not isinstance(line.get("text"), str):
                raise InputError(
                    "not a line of a judge's cache",
                    where=f"{path}, entry {number}",
                    hint="Choose another --cache, or delete the file.",
                )
            self._known[line["key"]] = line["text"]

    @property
    def identity(self) -> Mapping[str, str]:
        """That of the judge behind the cache."""
        return self.judge.identity

    def kept(self, question: Question) -> str | None:
        """The answer that is kept, if any."""
        return self._known.get(key_of(self.identity, question))

    def missing(self, questions: Sequence[Question]) -> list[Question]:
        """The different questions that would have to be asked, and paid for."""
        keys = {key_of(self.identity, question): question for question in questions}
        return [question for key, question in keys.items() if key not in self._known]

    def answer(self, questions: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
        """Known answers first; then each other question is asked once, however often it occurs."""
        waiting: dict[str, list[int]] = {}
        for position, question in enumerate(questions):
            key = key_of(self.identity, question)
            if key in self._known:
                yield position, Opinion(self._known[key])
            else:
                waiting.setdefault(key, []).append(position)
        keys = list(waiting)
        asked = [questions[waiting[key][0]] for key in keys]
        for number, opinion in self.judge.answer(asked) if asked else ():
            key = keys[number]
            if not opinion.failure:
                self._known[key] = opinion.text
                self._file.append([self._line(key, asked[number], opinion)])
            for position in waiting[key]:
                yield position, opinion

    def _line(self, key: str, question: Question, opinion: Opinion) -> dict[str, object]:
        line: dict[str, object] = {
            "key": key,
            "judge": dict(self.identity),
            "kind": question.kind,
            "content": question.content,
            "text": opinion.text,
        }
        if question.pictures:
            line["pictures"] = [picture.digest for picture in question.pictures]
        return line

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> CachedJudge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
