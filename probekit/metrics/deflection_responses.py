"""Responses to DeflectionBench with their outcomes: a judge's where one is recorded, else the rules'."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from probekit.benchmarks.deflection import ALONE, Outcome, Sample, Scenario
from probekit.errors import InputError
from probekit.files import Json, read_jsonl
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
        judge: who that was, as the file says.
        distractor: the number of the only distractor it was given, in stage III; then the scenario is
            adversarial.
    """

    sample: Sample
    scenario: Scenario
    text: str
    rules: Outcome
    judged: Outcome | None = None
    judge: str = ""
    distractor: int | None = None

    @property
    def outcome(self) -> Outcome:
        """The judge's outcome, or else the rules'."""
        return self.rules if self.judged is None else self.judged


def load_responses(
    path: Path, samples: Sequence[Sample], *, alone: bool = False
) -> tuple[DeflectionResponse, ...]:
    """Read ``{"text", "sample_id", "scenario"}`` or ``{"text", "example_id"}``, with an optional ``outcome``.

    An ``example_id`` is read as ``SAMPLE-SCENARIO``, as `probekit.benchmarks.deflection.pose` names them. A
    line with ``sample_id`` and ``distractor`` (its number from 0) answers one distractor alone.

    Args:
        alone: keep responses to one distractor alone; otherwise they are left out.

    Raises:
        InputError: an unknown sample, scenario, distractor or outcome, or a response given twice; file and
            line named.
    """
    known = {sample.sample_id: sample for sample in samples}
    seen: set[tuple[str, str | int]] = set()
    found: list[DeflectionResponse] = []
    read = 0
    for number, value in read_jsonl(path, required=("text",)):
        read += 1
        if ALONE in value and not alone:
            continue
        where = f"{path}, line {number}"
        sample, under = _asked(value, known, where)
        outcome = value.get("outcome")
        if outcome is not None and outcome not in tuple(Outcome):
            raise InputError(
                f"unknown outcome {outcome!r}", where=where, hint=f"Known: {', '.join(Outcome)}."
            )
        if not isinstance(value["text"], str):
            raise InputError("'text' must be a text", where=where)
        if (sample.sample_id, under) in seen:
            to = f"distractor {under} of {sample.sample_id!r} alone"
            if isinstance(under, Scenario):
                to = f"{sample.sample_id!r} under {under}"
            raise InputError(f"a second response to {to}", where=where)
        seen.add((sample.sample_id, under))
        found.append(
            DeflectionResponse(
                sample,
                under if isinstance(under, Scenario) else Scenario.ADVERSARIAL,
                value["text"],
                judge(value["text"], sample.answers).outcome,
                None if outcome is None else Outcome(outcome),
                "" if outcome is None else str(value.get("judge") or ""),
                None if isinstance(under, Scenario) else under,
            )
        )
    if not read:
        raise InputError("no responses", where=str(path))
    return tuple(found)


def _asked(value: Json, known: Mapping[str, Sample], where: str) -> tuple[Sample, Scenario | int]:
    """The sample of a line, and its scenario or the number of its only distractor."""
    key, scenario, place = value.get("sample_id"), value.get("scenario"), value.get(ALONE)
    if key is None and ALONE not in value:
        key, _, scenario = str(value.get("example_id", "")).rpartition("-")
    if type(key) is int:
        key = str(key)
    if not isinstance(key, str) or key not in known:
        raise InputError(f"sample {key!r} is not among the samples", where=where)
    if ALONE in value:
        if type(place) is not int or not 0 <= place < len(known[key].distractors):
            raise InputError(f"sample {key!r} has no distractor {place!r}", where=where)
        return known[key], place
    if scenario not in tuple(Scenario):
        raise InputError(f"unknown scenario {scenario!r}", where=where, hint=f"Known: {', '.join(Scenario)}.")
    return known[key], Scenario(scenario)
