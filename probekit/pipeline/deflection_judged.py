"""A file of verdicts, such as a judge's, in the place of the rules' outcomes of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from probekit.benchmarks.deflection import Sample
from probekit.errors import InputError
from probekit.metrics.deflection_responses import DeflectionResponse, load_responses


def overrule(
    path: Path, responses: Sequence[DeflectionResponse], samples: Sequence[Sample]
) -> tuple[DeflectionResponse, ...]:
    """The responses with the file's verdicts where it has any; the rules decide about the others.

    Raises:
        InputError: a line is about another answer than this run's, or the file holds no verdict.
    """
    own = {(response.sample.sample_id, response.scenario): response.text for response in responses}
    verdicts: dict[tuple[str, str], DeflectionResponse] = {}
    for judged in load_responses(path, samples):
        key = (judged.sample.sample_id, judged.scenario)
        if key not in own or own[key].strip() != judged.text.strip():
            raise InputError(
                f"the response to {key[0]!r} under {key[1]} is not that of this run",
                where=str(path),
                hint="Judge this run's own answers.jsonl, and forced/answers.jsonl apart from it.",
            )
        if judged.judged is not None:
            verdicts[key] = judged
    if not verdicts:
        raise InputError("no verdicts", where=str(path), hint="'outcome' of a line is its verdict.")
    return tuple(
        response
        if (found := verdicts.get((response.sample.sample_id, response.scenario))) is None
        else replace(response, judged=found.judged, judge=found.judge or path.name)
        for response in responses
    )
