"""The Tri-Layer study in one go: questions, answers under four conditions, one pass, scores, report.

OUT/job.json
OUT/pictures, questions.jsonl       of the embedded model's own questions
OUT/images                          the black and the noise pictures
OUT/questions-C.jsonl, answers-C.jsonl, conflicts.jsonl
OUT/evidence.jsonl, cost.jsonl      what the pass gave, and what it computed
OUT/store                           states of the full answers, with --logits factored
OUT/tri_layer.jsonl, tri_layer.csv  a line a sample
OUT/summary.json, *.md, *.csv, tri_layer.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from probekit import jobs
from probekit.errors import InputError
from probekit.evaluation.tri_layer_summary import TriLayerSummary, summarise
from probekit.files import read_json, write_json
from probekit.jobs import TriLayerJob
from probekit.pipeline.answer import check_texts
from probekit.pipeline.tracing import LateModel
from probekit.pipeline.tri_layer import prepare, run
from probekit.pipeline.tri_layer_lines import LINES, write_samples
from probekit.pipeline.tri_layer_questions import make_questions
from probekit.pipeline.tri_layer_trace import Cost, Effort, cost_of
from probekit.scores.anchors import load_anchors

JOB = "job.json"


@dataclass(frozen=True)
class TriLayerResult:
    """Where a study's results are, and what they say.

    Attributes:
        out: its folder.
        samples: how many samples it has.
        summary: what was found.
        cost: tokens of all its passes.
        page: the page to read.
    """

    out: Path
    samples: int
    summary: TriLayerSummary
    cost: Cost
    page: Path

    def show(self) -> None:
        """Print the tables, then what was computed, where the results are, and what to try next."""
        from probekit.report.terminal import show, standard_output
        from probekit.report.tri_layer_tables import terminal_tables

        console = standard_output()
        show(terminal_tables(self.summary), str(self.out / "tables"))
        cost = self.cost
        ratio = "" if cost.ratio is None else f", {cost.ratio:.1f} times as many"
        for label, text in (
            ("tokens", f"{cost.computed:,} computed for {cost.texts:,} texts, {cost.distinct:,} distinct; "
                       f"a plain loop computes {cost.loop:,}{ratio}"),
            ("page", self.page),
            ("results", f"{self.out / LINES} and summary.json"),
            ("next", f"probekit selective {self.out / 'tri_layer.csv'}"),
        ):  # fmt: skip
            console.print(f"{label + ':':9}{text}", soft_wrap=True, highlight=False)


def tri_layer(job: TriLayerJob) -> TriLayerResult:
    """Do all steps of a study that are not done; the job is saved before the model is asked.

    A new folder is begun when questions, pictures, references, anchors and model have been looked at.

    Raises:
        InputError: bad questions, pictures, references or anchors; or a folder of another job.
    """
    sets = _anchors(job)
    _refuse_another(job)
    model = LateModel(job.model)
    new = not (job.out / JOB).exists()
    questions = make_questions(job, model.get if new else None)
    if new:
        asked = [{"example_id": e.example_id, "prompt": e.question} for e in questions.examples]
        check_texts(model.get()[1], asked)
    jobs.save(job, job.out / JOB)
    study = prepare(
        questions.examples,
        questions.images,
        job.out,
        objects=questions.objects,
        synonyms=questions.synonyms,
        anchors=sets,
        seed=job.seed,
    )
    effort = Effort(job.batch_tokens, job.shard_samples, job.logits == "factored")
    run(study, model, max_new_tokens=job.max_new_tokens, batch=job.batch, effort=effort)
    samples = write_samples(
        study,
        job.model.name,
        fraction=job.fraction,
        max_new_tokens=job.max_new_tokens,
        tasks=questions.tasks,
        priors=questions.priors,
    )
    found = summarise(samples.rows, samples.lines, draws=job.draws, seed=job.seed)
    cost = cost_of(job.out)
    source = {
        "model": job.model.name,
        "samples": len(samples.rows),
        "conditions": [str(c) for c in study.conditions],
        "anchors": {name: {"set": held.name, "digest": held.digest} for name, held in study.anchors.items()},
        "choices": {**asdict(samples.choices), "digest": samples.choices.digest},
        "tokens": {**asdict(cost), "ratio": cost.ratio, "replay_agreement": cost.agreement},
    }
    write_json(job.out / "summary.json", {**source, **found.record(), "sweep_range": found.sweep_range})
    from probekit.report.tri_layer import write_tri_layer

    page = write_tri_layer(
        job.out, found, samples.rows, samples.lines, source, f"probekit tri-layer {job.model.name}"
    )
    return TriLayerResult(job.out, len(samples.rows), found, cost, page)


def _refuse_another(job: TriLayerJob) -> None:
    """Refuse a folder that another model or other settings filled, before its job is written over."""
    path = job.out / JOB
    if not path.exists():
        return
    value = read_json(path)
    try:
        before = jobs.make(TriLayerJob, **value) if isinstance(value, dict) else None
    except InputError:
        before = None
    if before is None:
        raise InputError("not the job of a Tri-Layer study", where=str(path), hint="Give another --out.")
    changed = ["max_new_tokens"] if before.max_new_tokens != job.max_new_tokens else []
    if before.model.digest() != job.model.digest():
        changed.insert(0, "model")
    if changed:
        raise InputError(
            f"the folder belongs to a study with another {', '.join(changed)}",
            where=str(job.out),
            hint="Give another --out.",
        )


def _anchors(job: TriLayerJob) -> Mapping[str, str]:
    """The sets by the picture they speak of; one of each at most."""
    found: dict[str, str] = {}
    for name in job.anchors:
        condition = load_anchors(name).condition
        if condition in found:
            raise InputError(
                f"anchor sets {found[condition]} and {name} are both for {condition}",
                hint="Give one set for blind and one for noise.",
            )
        found[condition] = name
    return found
