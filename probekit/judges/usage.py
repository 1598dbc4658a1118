"""Usage asked of a model: is it the object, is it asserted, by which mechanism not, is it a compound."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from probekit.errors import InputError
from probekit.judges import rules
from probekit.judges.base import Judge, MalformedError, Question, Unread, read_answers
from probekit.judges.cache import CachedJudge
from probekit.judges.decide import MECHANISMS, USAGES, first_step, non_assertive
from probekit.judges.estimate import Estimate
from probekit.judges.prompts import fill
from probekit.judges.verdict import UsageItem, Verdict
from probekit.labels import Usage

CAPTIONS_PER_CALL = 6
"""Mentions asked about together; six captions a call in NAME-Bench 3.3."""

ANSWER_TOKENS = 30
"""Expected in the answer about one mention: an id, two choices and a short phrase."""

Json = dict[str, Any]


@runtime_checkable
class UsageJudge(Protocol):
    """Judges the usage of mentions; ``source`` names who says so in labels."""

    @property
    def source(self) -> str:
        """Short name and version."""
        ...

    def judge(
        self, items: Sequence[UsageItem], advance: Callable[[int], None] = lambda _: None
    ) -> list[Verdict]:
        """One verdict for each item, in order; ``advance`` is told of each item done."""
        ...


@dataclass(frozen=True)
class RuleUsageJudge:
    """The rule judge behind the common interface."""

    @property
    def source(self) -> str:
        """``rules-`` and the version of the rules."""
        return f"rules-{rules.VERSION}"

    def judge(
        self, items: Sequence[UsageItem], advance: Callable[[int], None] = lambda _: None
    ) -> list[Verdict]:
        """Judge each item from its sentence."""
        found = []
        for item in items:
            found.append(rules.usage(item.caption, item.start, item.end, item.category))
            advance(1)
        return found


@dataclass(frozen=True)
class ModelUsageJudge:
    """Asks a model in three steps and maps its answers by rule (`decide`).

    Attributes:
        model: who is asked.
        compounds: who is asked about compounds, when another, cheaper model does that; else ``model``.
        per_call: mentions in one question.
    """

    model: Judge
    compounds: Judge | None = None
    per_call: int = CAPTIONS_PER_CALL

    def __post_init__(self) -> None:
        if self.per_call < 1:
            raise InputError(f"captions per call must be at least 1, not {self.per_call}")

    @property
    def source(self) -> str:
        """Kind of judge and model."""
        identity = self.model.identity
        return ":".join(identity[name] for name in ("judge", "model", "source") if name in identity)

    def questions(self, items: Sequence[UsageItem]) -> list[Question]:
        """The questions of the first step; what is asked after them depends on the answers."""
        return [question for _, question in self._grouped("usage", dict(enumerate(items)), {})]

    def estimate(
        self, items: Sequence[UsageItem], input_price: float | None = None, output_price: float | None = None
    ) -> Estimate:
        """What the first step will take, answers already kept left out."""
        questions = self.questions(items)
        if isinstance(self.model, CachedJudge):
            questions = self.model.missing(questions)
        return Estimate.of(questions, ANSWER_TOKENS * self.per_call, input_price, output_price)

    def judge(
        self, items: Sequence[UsageItem], advance: Callable[[int], None] = lambda _: None
    ) -> list[Verdict]:
        """Judge ``items``; an answer twice unread makes its items ambiguous, with the reason in the note."""
        found: dict[int, Verdict] = {}
        numbered = dict(enumerate(items, start=1))

        def settle(number: int, verdict: Verdict) -> None:
            found[number] = verdict
            advance(1)

        triggers: dict[int, str] = {}
        for number, answer in self._ask(self.model, "usage", numbered, {}, _read_usage):
            if isinstance(answer, Unread):
                settle(number, Verdict(Usage.AMBIGUOUS, note=f"unread: {answer.reason}"))
            elif (verdict := first_step(answer["refers"], answer["usage"], answer["trigger"])) is not None:
                settle(number, verdict)
            else:
                triggers[number] = answer["trigger"]

        rest = {number: numbered[number] for number in triggers}
        mechanisms = dict(self._ask(self.model, "mechanism", rest, triggers, _read_mechanism))
        asked = {number: item for number, item in rest.items() if not isinstance(mechanisms[number], Unread)}
        compounds = dict(self._ask(self.compounds or self.model, "compound", asked, {}, _read_compound))
        for number in rest:
            mechanism, compound = mechanisms[number], compounds.get(number)
            if isinstance(mechanism, Unread) or compound is None or isinstance(compound, Unread):
                unread = mechanism if isinstance(mechanism, Unread) else compound
                reason = unread.reason if isinstance(unread, Unread) else "no answer"
                settle(number, Verdict(Usage.AMBIGUOUS, triggers[number], f"unread: {reason}"))
            else:
                larger = compound["expression"] if compound["compound"] else None
                settle(number, non_assertive(mechanism["mechanism"], larger, triggers[number]))
        return [found[number] for number in numbered]

    def _grouped(
        self, kind: str, items: Mapping[int, UsageItem], triggers: Mapping[int, str]
    ) -> list[tuple[list[int], Question]]:
        """Questions of one step, each with the numbers of the items it asks about.

        Ids restart at 1 in each question, so that equal groups are equal questions for the cache.
        """
        numbers = list(items)
        found = []
        for first in range(0, len(numbers), self.per_call):
            group = numbers[first : first + self.per_call]
            entries = [_entry(place, items[n], triggers.get(n)) for place, n in enumerate(group, start=1)]
            found.append((group, Question(kind, fill(kind, entries))))
        return found

    def _ask(
        self,
        judge: Judge,
        kind: str,
        items: Mapping[int, UsageItem],
        triggers: Mapping[int, str],
        read: Callable[[Json], Json],
    ) -> Iterator[tuple[int, Json | Unread]]:
        """Ask one step about all ``items``; yields (number, answer)."""
        grouped = self._grouped(kind, items, triggers)

        def read_group(position: int, text: str) -> list[Json]:
            return _read_array(text, len(grouped[position][0]), read)

        answers = read_answers(judge, [question for _, question in grouped], read_group)
        for (group, _), answer in zip(grouped, answers, strict=True):
            for place, number in enumerate(group):
                yield number, answer if isinstance(answer, Unread) else answer[place]


def _entry(place: int, item: UsageItem, trigger: str | None) -> Json:
    entry: Json = {"id": place, "category": item.category, "mention": item.mention, "caption": item.marked}
    return entry if trigger is None else {**entry, "trigger": trigger}


def _read_array(text: str, count: int, read: Callable[[Json], Json]) -> list[Json]:
    """The answer's JSON array, in the order of its ids 1 to ``count``.

    Raises:
        MalformedError: not an array, an id missing or doubled, a value outside its choices.
    """
    first, last = text.find("["), text.rfind("]")
    try:
        values = json.loads(text[first : last + 1]) if 0 <= first < last else None
    except (json.JSONDecodeError, RecursionError) as error:
        raise MalformedError(f"not JSON: {error}") from None
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise MalformedError("no JSON array of objects")
    by_id = {value.get("id"): value for value in values if isinstance(value.get("id"), int)}
    if len(values) != count or sorted(by_id) != list(range(1, count + 1)):
        raise MalformedError(f"ids 1 to {count} are needed once each")
    return [read(by_id[place]) for place in range(1, count + 1)]


def _choice(value: Json, field: str, choices: Sequence[object]) -> object:
    answer = value.get(field)
    if not any(answer is choice or (isinstance(choice, str) and answer == choice) for choice in choices):
        raise MalformedError(f"{field} must be one of {', '.join(map(str, choices))}, not {answer!r}")
    return answer


def _text(value: Json, field: str) -> str:
    answer = value.get(field, "")
    if not isinstance(answer, str):
        raise MalformedError(f"{field} must be text, not {answer!r}")
    return answer


def _read_usage(value: Json) -> Json:
    return {
        "refers": _choice(value, "refers", (True, False)),
        "usage": _choice(value, "usage", USAGES),
        "trigger": _text(value, "trigger"),
    }


def _read_mechanism(value: Json) -> Json:
    return {"mechanism": _choice(value, "mechanism", tuple(MECHANISMS))}


def _read_compound(value: Json) -> Json:
    return {
        "compound": _choice(value, "compound", (True, False)),
        "expression": _text(value, "expression"),
    }
