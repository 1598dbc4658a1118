"""The arguments that all studies take: a run folder, or a YAML file, and flags that win over it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from probekit import jobs


def study_job(about: str | None, arguments: Sequence[str] | None = None) -> jobs.StudyJob:
    """Read a study's command line.

    Args:
        about: the study's docstring, shown by ``--help``.
        arguments: the command line; that of the process when ``None``.

    Raises:
        InputError: the YAML file has faults; all are named.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run's folder, or a YAML file (see configs)")
    parser.add_argument("--other", action="append", type=Path, help="another run; may be repeated")
    parser.add_argument(
        "--detectors", "--detector", action="append", help="only these; several with commas, or repeated"
    )
    parser.add_argument("--mix", action="append", help="only this budget; may be repeated")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--labels", type=Path, help="default: RUN/labels/labels.jsonl")
    parser.add_argument("--out", type=Path, help="default: RUN/studies")
    given = parser.parse_args(arguments)
    values: dict[str, Any] = {
        "others": given.other,
        "detectors": [n.strip() for one in given.detectors or () for n in one.split(",")] or None,
        "mixes": given.mix,
        "seeds": given.seeds,
        "labels": given.labels,
        "out": given.out,
    }
    if given.run.suffix in (".yaml", ".yml"):
        return jobs.load(given.run, jobs.StudyJob, **values)
    return jobs.make(jobs.StudyJob, run=given.run, **{k: v for k, v in values.items() if v is not None})
