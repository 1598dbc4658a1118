"""From options to a model judge with its cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from probekit.errors import InputError
from probekit.judges.base import Judge
from probekit.judges.cache import CachedJudge
from probekit.judges.endpoint import EndpointJudge
from probekit.judges.hf import HuggingFaceJudge
from probekit.judges.pictures import LONGEST_SIDE
from probekit.judges.recorded import RecordedJudge


class Kind(StrEnum):
    """Who judges."""

    RULES = "rules"
    OPENAI = "openai"
    HF = "hf"
    RECORDED = "recorded"

    @classmethod
    def of(cls, name: str, *, rules: bool = True) -> Kind:
        """The kind of a name; ``endpoint`` is another name of ``openai``.

        Args:
            rules: whether the rules can be asked for.

        Raises:
            InputError: there is no such kind.
        """
        known = [kind for kind in cls if rules or kind is not cls.RULES]
        found = cls.OPENAI if name == "endpoint" else name
        if found not in known:
            raise InputError(f"unknown judge {name!r}", hint=f"Known: {', '.join(known)}, endpoint.")
        return cls(found)


@dataclass(frozen=True)
class Choice:
    """A model judge as the user asks for it.

    Attributes:
        kind: any but ``rules``.
        model: name at the endpoint, or hub name or folder; the record's path for ``recorded``.
        second_model: another model of the same kind for the compound check.
        base_url, key_variable, concurrency, requests_per_minute, retries: of an endpoint.
        batch_size, revision, device: of a local model.
        temperature: of an endpoint; 0 for the likeliest answer.
        longest_side: of a picture sent to an endpoint, in pixels; longer ones are scaled down.
    """

    kind: Kind
    model: str | None
    second_model: str | None = None
    base_url: str | None = None
    key_variable: str = "OPENAI_API_KEY"
    concurrency: int = 8
    requests_per_minute: float | None = None
    retries: int = 6
    batch_size: int = 4
    revision: str | None = None
    device: str | None = None
    temperature: float = 0.0
    longest_side: int = LONGEST_SIDE

    def build(self) -> Judge:
        """The judge of ``model``.

        Raises:
            InputError: no model is named, or the kind is not a model.
        """
        if not self.model:
            raise InputError(f"--judge {self.kind} needs --model", hint="A model's name, or a record's file.")
        if self.kind is Kind.OPENAI:
            return EndpointJudge(
                self.model,
                self.base_url,
                self.key_variable,
                self.concurrency,
                self.retries,
                requests_per_minute=self.requests_per_minute,
                temperature=self.temperature,
                longest_side=self.longest_side,
            )
        if self.kind is Kind.HF:
            return HuggingFaceJudge(self.model, self.revision, self.device, self.batch_size)
        if self.kind is Kind.RECORDED:
            return RecordedJudge.load(Path(self.model))
        raise InputError(f"{self.kind} is not a model judge")


@contextmanager
def opened(choice: Choice, cache: Path | None) -> Iterator[tuple[Judge, Judge | None]]:
    """The judge, and the one for compounds when it is another, both remembering their answers.

    Args:
        choice: what is asked for.
        cache: file of answers; the second judge's stands beside it. ``None`` keeps nothing.
    """
    first = choice.build()
    second = replace(choice, model=choice.second_model).build() if choice.second_model else None
    if cache is None or choice.kind is Kind.RECORDED:
        yield first, second
        return
    with ExitStack() as stack:
        kept = stack.enter_context(CachedJudge(first, cache))
        beside = cache.with_name(f"{cache.stem}.compounds{cache.suffix}")
        yield kept, None if second is None else stack.enter_context(CachedJudge(second, beside))
