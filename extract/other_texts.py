"""Do other models show the same signs on texts they did not write?

Question: what do a run's mentions look like from inside models that are merely made to say them, and do
the detectors find the same hallucinations there?
Input: a YAML file with ``run`` (a run's folder), ``models`` (names or folders) and ``out``.
Artefact: OUT/MODEL/, a run a model, with store and evaluation.json. `python -m
analysis.teacher_forced_control` compares each with the run of that model on its own captions.

    python -m extract.other_texts configs/extract/other_texts.yaml
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from typer import BadParameter

from probekit import jobs
from probekit.cli.names import split
from probekit.errors import InputError, run_telling
from probekit.files import read_json
from probekit.pipeline.folder import RunFolder
from probekit.pipeline.run import run
from probekit.yaml_files import read_yaml

KEPT = ("images", "references", "vocabulary", "usage")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", type=Path)
    parser.add_argument(
        "--detectors", "--detector", action="append", help="only these; several with commas, or repeated"
    )
    given = parser.parse_args(arguments)
    try:
        detectors = split(given.detectors)
    except BadParameter as error:
        parser.error(error.format_message())
    study = read_yaml(given.study)
    missing = {"run", "models", "out"} - set(study if isinstance(study, dict) else ())
    if missing:
        raise InputError(f"missing {', '.join(sorted(missing))}", where=str(given.study))
    source = RunFolder(Path(study["run"]))
    before = read_json(source.job)
    if not isinstance(before, dict) or not set(KEPT) <= set(before):
        raise InputError("not the job of a run", where=str(source.job))
    for model in study["models"]:
        # the texts, not their token ids: another model has other tokens
        job = jobs.make(
            jobs.RunJob,
            model={"name": str(model)},
            texts=source.generations,
            out=Path(study["out"]) / Path(str(model)).name,
            detectors=detectors,
            **{name: before[name] for name in KEPT},
        )
        run(job).show()


if __name__ == "__main__":
    run_telling(main)
