"""Asking: rereading malformed answers, the cache, the record, the estimate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.judges.base import MalformedError, Opinion, Question, Unread, read_answers
from probekit.judges.cache import CachedJudge, key_of
from probekit.judges.estimate import Estimate
from probekit.judges.recorded import RecordedJudge


@dataclass
class Scripted:
    """Answers by the first script whose key is in the question; counts what it was asked."""

    script: Mapping[str, list[str]]
    model: str = "scripted"
    asked: list[Question] = field(default_factory=list)

    @property
    def identity(self) -> Mapping[str, str]:
        return {"judge": "scripted", "model": self.model}

    def answer(self, questions: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
        # Backwards, because nobody may rely on the order of arrival.
        for position in reversed(range(len(questions))):
            self.asked.append(questions[position])
            key = next(key for key in self.script if key in questions[position].content)
            answers = self.script[key]
            yield position, Opinion(answers.pop(0) if len(answers) > 1 else answers[0])


def number(position: int, text: str) -> int:
    if not text.isdigit():
        raise MalformedError(f"{text!r} is no number")
    return int(text)


def questions(*contents: str) -> list[Question]:
    return [Question("count", content) for content in contents]


def test_answers_come_back_in_the_order_of_the_questions() -> None:
    judge = Scripted({"one": ["1"], "two": ["2"], "three": ["3"]})
    assert read_answers(judge, questions("one", "two", "three"), number) == [1, 2, 3]


def test_malformed_answer_is_asked_once_more_with_the_reason_and_then_given_up() -> None:
    judge = Scripted({"mends": ["many", "4"], "never": ["lots"], "fine": ["7"]})
    done: list[int] = []
    found = read_answers(judge, questions("mends", "never", "fine"), number, done.append)
    assert found == [4, Unread("'lots' is no number"), 7]
    assert len(judge.asked) == 5
    again = [q.content for q in judge.asked if "could not be read" in q.content]
    assert len(again) == 2
    assert any("'many' is no number" in content for content in again)
    assert sum(done) == 3


def test_a_failure_of_the_judge_is_given_up_with_its_reason() -> None:
    class Failing(Scripted):
        def answer(self, asked: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
            for position in range(len(asked)):
                yield position, Opinion("", "filtered")

    assert read_answers(Failing({}), questions("x"), number) == [Unread("filtered")]


def test_a_judge_that_leaves_questions_out_is_an_error() -> None:
    class Lazy(Scripted):
        def answer(self, asked: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
            yield 0, Opinion("1")

    with pytest.raises(InputError, match="1 of 2 questions unanswered"):
        read_answers(Lazy({}), questions("a", "b"), number)


def test_cache_asks_each_question_once_over_calls_and_reopening(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    judge = Scripted({"one": ["1"], "two": ["2"]})
    with CachedJudge(judge, path) as kept:
        assert read_answers(kept, questions("one", "two", "one"), number) == [1, 2, 1]
        assert len(judge.asked) == 2
    with CachedJudge(judge, path) as kept:
        assert kept.missing(questions("one", "three", "three")) == questions("three")
        assert read_answers(kept, questions("two", "one"), number) == [2, 1]
    assert len(judge.asked) == 2


def test_cache_key_depends_on_judge_kind_and_content() -> None:
    base = key_of({"model": "a"}, Question("usage", "x"))
    assert base == key_of({"model": "a"}, Question("usage", "x"))
    others = [
        key_of({"model": "b"}, Question("usage", "x")),
        key_of({"model": "a"}, Question("compound", "x")),
        key_of({"model": "a"}, Question("usage", "y")),
    ]
    assert len({base, *others}) == 4


def test_another_model_does_not_get_the_first_ones_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with CachedJudge(Scripted({"one": ["1"]}, "a"), path) as kept:
        assert read_answers(kept, questions("one"), number) == [1]
    with CachedJudge(Scripted({"one": ["9"]}, "b"), path) as kept:
        assert read_answers(kept, questions("one"), number) == [9]


def test_cache_drops_a_line_cut_by_a_kill_and_keeps_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    judge = Scripted({"one": ["1"], "two": ["2"]})
    with CachedJudge(judge, path) as kept:
        read_answers(kept, questions("one", "two"), number)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with CachedJudge(judge, path) as kept:
        assert read_answers(kept, questions("one", "two"), number) == [1, 2]
    assert len(judge.asked) == 3
    assert len(list(read_jsonl(path))) == 2


def test_cache_does_not_keep_failures(tmp_path: Path) -> None:
    class Failing(Scripted):
        def answer(self, asked: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
            for position in range(len(asked)):
                yield position, Opinion("", "filtered")

    path = tmp_path / "answers.jsonl"
    with CachedJudge(Failing({}), path) as kept:
        assert read_answers(kept, questions("x"), number) == [Unread("filtered")]
        assert kept.missing(questions("x")) == questions("x")


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"usage": "hedged"}\n')
    with pytest.raises(InputError, match="entry 1"):
        CachedJudge(Scripted({}), path)


def test_a_cache_file_replays_as_a_record_and_an_unknown_question_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with CachedJudge(Scripted({"one": ["1"]}), path) as kept:
        read_answers(kept, questions("one"), number)
    record = RecordedJudge.load(path)
    assert read_answers(record, questions("one"), number) == [1]
    with pytest.raises(InputError, match="no recorded answer to the count question 'two'"):
        read_answers(record, questions("two"), number)


def test_estimate_counts_characters_by_four_and_prices_per_million() -> None:
    asked = questions("x" * 4_000_001, "y" * 3)
    expected = Estimate.of(asked, answer_tokens=500, input_price=2.0, output_price=10.0)
    assert (expected.requests, expected.input_tokens, expected.output_tokens) == (2, 1_000_001, 1000)
    assert expected.cost == pytest.approx(2.000002 + 0.01)
    assert "2 requests" in str(expected)
    assert Estimate.of(asked, 500).cost is None
