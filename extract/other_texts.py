"""Do other models show the same signs on texts they did not write?

Question: what do a run's mentions look like from inside models that are merely made to say them, and do
the detectors find the same hallucinations there?
Input: a YAML file with ``run`` (a run's folder), ``models`` (names or folders) and ``out``.
Artefact: OUT/captions.jsonl, the run's texts without the empty ones, which no model can be made to say;
OUT/MODEL/, a run a model, with store and evaluation.json. `python -m analysis.teacher_forced_control`
compares each with the run of that model on its own captions.

    python -m extract.other_texts configs/extract/other_texts.yaml
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from typer import BadParameter

from probekit import jobs
from probekit.cli.names import split
from probekit.errors import InputError, run_telling
from probekit.files import read_json, read_jsonl, write_jsonl
from probekit.pipeline.folder import RunFolder
from probekit.pipeline.run import run
from probekit.yaml_files import read_yaml

logger = logging.getLogger(__name__)

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
    captions = Path(study["out"]) / "captions.jsonl"
    _write_captions(source.generations, captions)
    for model in study["models"]:
        job = jobs.make(
            jobs.RunJob,
            model={"name": str(model)},
            texts=captions,
            out=Path(study["out"]) / Path(str(model)).name,
            detectors=detectors,
            **{name: before[name] for name in KEPT},
        )
        run(job).show()


def _write_captions(generations: Path, captions: Path) -> None:
    """Write a run's texts as captions: not their token ids, as another model has other tokens.

    Empty texts are left out and counted.

    Raises:
        InputError: a line is no text of a run, or all texts are empty.
    """
    lines = [line for _, line in read_jsonl(generations, required=("image", "text", "finished"))]
    said = [line for line in lines if str(line["text"]).strip()]
    if not said:
        raise InputError("no text that is not empty", where=str(generations))
    if len(said) < len(lines):
        logger.warning(
            "%s: %d of %d texts are empty and left out", generations, len(lines) - len(said), len(lines)
        )
    write_jsonl(captions, ({name: line[name] for name in ("image", "text", "finished")} for line in said))


if __name__ == "__main__":
    run_telling(main)
