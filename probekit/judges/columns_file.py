"""A judge's column written beside the responses it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.files import read_jsonl, write_jsonl
from probekit.judges.base import Unread
from probekit.judges.choose import Choice, opened
from probekit.judges.columns import Column, judge_column, questions
from probekit.judges.estimate import Consent, left_to_ask
from probekit.progress import progress

ANSWER_TOKENS = 16
"""Expected in one answer: an id and a verdict."""


def judge_file(
    choice: Choice,
    column: Column,
    responses: Path,
    items: Sequence[Mapping[str, Any] | None],
    name: str,
    out: Path,
    consent: Consent | None = None,
) -> str:
    """Judge ``items`` and write the lines of ``responses`` with the verdicts under ``name``.

    Answers are kept beside ``out``, so that a rerun asks only what is new. A response that is not asked
    about (``None``) or whose answer cannot be read has null; ``judge`` says who judged, ``unread`` why not.

    Args:
        consent: told what is left to be asked before anything is; without it nobody is told.

    Returns:
        One sentence on what was done.

    Raises:
        InputError: lines and items do not match, the output is the input, or no answer could be read.
    """
    if out.resolve() == responses.resolve():
        raise InputError("--out is the file of responses", where=str(out), hint="Choose another file.")
    lines = [value for _, value in read_jsonl(responses)]
    if len(lines) != len(items):
        raise InputError(f"{len(lines)} lines for {len(items)} responses", where=str(responses))
    asked = [item for item in items if item is not None]
    cache = out.with_name(f"{out.stem}.answers.jsonl")
    with ExitStack() as stack:
        judge, _ = stack.enter_context(opened(choice, cache))
        if consent is not None:
            consent(judge, left_to_ask(judge, questions(column, asked)), ANSWER_TOKENS)
        advance = stack.enter_context(progress("Judge", len(asked), "responses"))
        found = iter(judge_column(judge, column, asked, advance=advance))
        source = ":".join(judge.identity[k] for k in ("judge", "model", "source") if k in judge.identity)
        reasons: list[str] = []
        for line, item in zip(lines, items, strict=True):
            verdict = None if item is None else next(found)
            line.pop("unread", None)  # of an earlier judge's column, when these responses have one
            if isinstance(verdict, Unread):
                reasons.append(verdict.reason)
                line |= {name: None, "unread": verdict.reason}
            else:
                line |= {name: verdict}
            line["judge"] = source
    write_jsonl(out, lines)
    if reasons and len(reasons) == len(asked):
        raise InputError(
            f"none of {len(asked)} answers of {source} could be read; the first: {reasons[0]}",
            where=str(out),
            hint=f"Ask a more capable model. The answers are in {cache}; without it all are asked again.",
        )
    why = f" (the first: {reasons[0]})" if reasons else ""
    left = len(items) - len(asked)
    return f"{len(asked)} responses judged by {source}, {len(reasons)} unread{why}, {left} not asked: {out}"
