"""Responses to DeflectionBench with their outcomes: a judge's where one is recorded, else the rules'."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probekit.benchmarks.deflection import Outcome, Sample, Scenario
from probekit.errors import InputError
from probekit.files import read_jsonl
from probekit.metrics.deflection_rules import judge


@dataclass(frozen=True)
class DeflectionResponse:
    """One response under one scenario.

    Attributes:
        sample: the question.
        scenario: the evidence it was given.
        text: what the model wrote.
        rules: outcome by the rules.
        judged: outcome by a recorded judge; ``None`` when there is none.
    """

    sample: Sample
    scenario: Scenario
    text: str
    rules: Outcome
    judged: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        """The judge's outcome, or else the rules'."""
        return self.rules if self.judged is None else self.judged


def load_responses(
    path: Path, samples: Sequence[Sample], *, skip: str | None = None
) -> tuple[DeflectionResponse, ...]:
    """Read ``{"text", "sample_id", "scenario"}`` or ``{"text", "example_id"}``, with an optional ``outcome``.

    An ``example_id`` is read as ``SAMPLE-SCENARIO``, as `probekit.benchmarks.deflection.pose` names them.

    Args:
        skip: lines that have this field are left out.

    Raises:
        InputError: an unknown sample, scenario or outcome, or a response given twice; file and line named.
    """
    known = {sample.sample_id: sample for sample in samples}
    seen: set[tuple[str, str]] = set()
    found: list[DeflectionResponse] = []
    for number, value in read_jsonl(path, required=("text",)):
        where = f"{path}, line {number}"
        if skip is not None and skip in value:
            continue
        key, scenario = value.get("sample_id"), value.get("scenario")
        if key is None:
            key, _, scenario = str(value.get("example_id", "")).rpartition("-")
        if not isinstance(key, str) or key not in known:
            raise InputError(f"sample {key!r} is not among the samples", where=where)
        if scenario not in tuple(Scenario):
            raise InputError(
                f"unknown scenario {scenario!r}", where=where, hint=f"Known: {', '.join(Scenario)}."
            )
        outcome = value.get("outcome")
        if outcome is not None and outcome not in tuple(Outcome):
            raise InputError(
                f"unknown outcome {outcome!r}", where=where, hint=f"Known: {', '.join(Outcome)}."
            )
        if not isinstance(value["text"], str):
            raise InputError("'text' must be a text", where=where)
        if (key, scenario) in seen:
            raise InputError(f"a second response to {key!r} under {scenario}", where=where)
        seen.add((key, scenario))
        found.append(
            DeflectionResponse(
                known[key],
                Scenario(scenario),
                value["text"],
                judge(value["text"], known[key].answers).outcome,
                None if outcome is None else Outcome(outcome),
            )
        )
    if not found:
        raise InputError("no responses", where=str(path))
    return tuple(found)
