"""Do other models show the same signs on texts they did not write?

Question: what do a run's mentions look like from inside models that are merely made to say them?
Input: a YAML file with ``run`` (a run's folder), ``models`` (names or folders) and ``out``.
Artefact: OUT/MODEL/, one store a model, to be compared by ``python -m analysis.teacher_forced_control``.

    python -m extract.other_texts configs/extract/other_texts.yaml
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from probekit import jobs
from probekit.errors import InputError
from probekit.files import read_json
from probekit.pipeline.extract import captures_of, extract
from probekit.pipeline.folder import RunFolder
from probekit.yaml_files import read_yaml


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", type=Path)
    parser.add_argument("--detector", action="append", help="only what this detector needs; may be repeated")
    given = parser.parse_args(arguments)
    study = read_yaml(given.study)
    missing = {"run", "models", "out"} - set(study if isinstance(study, dict) else ())
    if missing:
        raise InputError(f"missing {', '.join(sorted(missing))}", where=str(given.study))
    run = RunFolder(Path(study["run"]))
    images = Path(read_json(run.job)["images"])
    for model in study["models"]:
        job = jobs.make(
            jobs.ExtractJob,
            model={"name": model},
            generations=run.generations,
            rows=run.rows,
            images=images,
            out=Path(study["out"]) / Path(model).name,
            captures=captures_of(given.detector),
            own_texts=False,
        )
        print(f"store: {extract(job)}")


if __name__ == "__main__":
    main()
