"""The audit of yes/no questions in one go: answer, trace, read in every way, report.

OUT/job.json, tokenizer.json
OUT/<split>/questions.jsonl, answers.jsonl, cost.json
OUT/<split>/store    first position of every answer: logits, attention, token statistics
OUT/<split>/forms    probability of every written form of several tokens
OUT/pope_audit.html, pope_audit.json, readouts.md, readouts.csv
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from probekit import jobs
from probekit.errors import InputError
from probekit.files import Json, digest, read_json
from probekit.jobs import PopeJob
from probekit.pipeline.answer import answer_all, check_texts
from probekit.pipeline.pope_questions import Split, make_splits
from probekit.pipeline.pope_trace import Cost, trace_split
from probekit.pipeline.stages import Stages, inputs_of
from probekit.pipeline.tracing import LateModel

READOUTS = (
    "string_parse",
    "pope_official",
    "legacy_2tok",
    "legacy_8tok",
    "dynamic_single",
    "dynamic_mass",
    "dynamic_mass_lower_bound",
)
"""Names that may be allowed although they do not cover the answers."""


@dataclass(frozen=True)
class PopeSummary:
    """Where an audit's results are.

    Attributes:
        out: its folder.
        splits: names of the splits.
        cost: what this run traced; nothing when the stores were whole.
    """

    out: Path
    splits: tuple[str, ...]
    cost: Cost

    @property
    def page(self) -> Path:
        """The page to read."""
        from probekit.report.pope_files import PAGE

        return self.out / PAGE

    def show(self) -> None:
        """Print the tables, then what was computed, where page and stores are, and what to try next."""
        from probekit.report.pope_files import NUMBERS, recorded_attention, recorded_readouts
        from probekit.report.terminal import show, standard_output

        console = standard_output()
        records = read_json(self.out / NUMBERS)
        tables = (recorded_readouts(records), recorded_attention(records))
        show([table for table in tables if table.rows], str(self.out / NUMBERS))
        cost, store = self.cost, self.out / self.splits[0] / "store"
        if cost.computed:
            console.print(
                f"tokens computed: {cost.computed:,} of {cost.distinct:,} distinct; "
                f"{cost.unshared:,} without shared prefixes",
                highlight=False,
            )
        else:
            console.print("tokens computed: none, the stores were whole", highlight=False)
        for label, text in (
            ("page", self.page),
            ("store", f"{store}" + (" and those of the other splits" if len(self.splits) > 1 else "")),
            ("next", f"probekit ls {store}"),
        ):
            console.print(f"{label + ':':7}{text}", soft_wrap=True, highlight=False)


def pope(job: PopeJob) -> PopeSummary:
    """Do all steps of an audit that are not done; the job is saved before the model is asked.

    A new folder is begun when questions, pictures and model have been looked at.

    Raises:
        InputError: bad questions or pictures, a readout that does not exist, or a folder of another job.
    """
    unknown = sorted(set(job.allow_uncovered) - set(READOUTS))
    if unknown:
        raise InputError(f"no readout {', '.join(unknown)}", hint=f"There are: {', '.join(READOUTS)}.")
    _refuse_another(job)
    model = LateModel(job.model)
    new = not (job.out / "job.json").exists()
    splits = make_splits(job, (lambda asked: check_texts(model.get()[1], asked)) if new else None)
    jobs.save(job, job.out / "job.json")
    cost = Cost()
    for split in splits:
        answers = _answer(job, model, split)
        cost += trace_split(job, model, split, answers)
    _audit(job, splits)
    return PopeSummary(job.out, tuple(split.name for split in splits), cost)


def _refuse_another(job: PopeJob) -> None:
    """Refuse a folder that another model or other settings filled."""
    path = job.out / "job.json"
    if not path.exists():
        return
    before, now = _identity(jobs.make(PopeJob, **read_json(path))), _identity(job)
    changed = [name for name in now if before.get(name) != now[name]]
    if changed:
        raise InputError(
            f"the folder belongs to an audit with another {', '.join(changed)}",
            where=str(job.out),
            hint="Give another --out.",
        )


def _identity(job: PopeJob) -> Json:
    found: Json = {
        "model": job.model.digest(),
        "suffix": job.suffix,
        "max_new_tokens": job.max_new_tokens,
        "shard_questions": job.shard_questions,
    }
    if not job.questions:
        found |= {"pictures": job.pictures, "seed": job.seed}
    return found | {"questions": "given" if job.questions else "the embedded model's"}


def _answer(job: PopeJob, model: LateModel, split: Split) -> Path:
    """Greedy answers, a line a question, with their token ids."""
    identity = digest([job.model.digest(), split.questions.sha256, job.suffix, job.max_new_tokens])
    return answer_all(
        model,
        split.asked(job.suffix),
        identity,
        split.images,
        split.folder / "answers.jsonl",
        max_new_tokens=job.max_new_tokens,
        batch=job.batch,
    )


def _audit(job: PopeJob, splits: tuple[Split, ...]) -> None:
    from probekit.report.pope_files import NUMBERS, PAGE, TABLE, write_audits

    read = [split.folder / part for split in splits for part in ("answers.jsonl", "store/manifest.jsonl")]
    read += [file for split in splits if (file := split.folder / "forms/manifest.jsonl").exists()]
    names = [split.name for split in splits]
    inputs = inputs_of(*read, job.out / "tokenizer.json", names, job.allow_uncovered, job.draws, job.seed)
    stages = Stages(job.out)
    results = [job.out / name for name in (NUMBERS, PAGE, f"{TABLE}.md", f"{TABLE}.csv")]
    if stages.done("audit", inputs, *results):
        return
    from probekit.evaluation.pope_audit import audit
    from probekit.evaluation.pope_store import load_split

    audits = {}
    for split in splits:
        found = load_split(split.folder)
        # the file as the user knows it; its bytes are the copy's
        named = replace(found, questions=replace(found.questions, path=str(split.source)))
        audits[split.name] = audit(named, allow_uncovered=job.allow_uncovered, draws=job.draws, seed=job.seed)
    write_audits(job.out, audits, f"probekit pope {job.model.name}")
    stages.finish("audit", inputs)
