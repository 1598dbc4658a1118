"""The whole way from pictures to a page, stage by stage, each skipped when it is done."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from probekit import jobs
from probekit.errors import InputError
from probekit.files import read_json, read_jsonl
from probekit.jobs import RunJob
from probekit.pipeline.folder import RunFolder
from probekit.pipeline.stages import Stages, inputs_of
from probekit.pipeline.tracing import LateModel

if TYPE_CHECKING:
    from probekit.mentions import Vocabulary


@dataclass(frozen=True)
class RunSummary:
    """Where a run's results are.

    Attributes:
        folder: the run.
        counts: labelled mentions per class.
    """

    folder: RunFolder
    counts: dict[str, int]

    def show(self) -> None:
        """Print the table, then where page and store are and what to try next."""
        from rich.console import Console

        from probekit.report import load_evaluation, results_table, to_terminal
        from probekit.report.run import choose_mix

        console = Console(markup=False)
        evaluation = load_evaluation(self.folder.root)
        table = results_table(evaluation, choose_mix(evaluation, None))
        console.print(to_terminal(table, console.width))
        named = ", ".join(f"{count} {name.replace('_', '-')}" for name, count in self.counts.items())
        console.print(f"mentions: {named}", highlight=False)
        console.print(f"page:  {self.folder.page}", soft_wrap=True)
        console.print(f"store: {self.folder.store}", soft_wrap=True)
        console.print(f"next:  probekit ls {self.folder.store}", soft_wrap=True)


def demo_job(out: Path, pictures: int, seed: int) -> RunJob:
    """The embedded model's values of a run; draws the pictures that are not there yet."""
    from probekit.organism import write_images

    if pictures < 1:
        raise InputError("at least one picture is needed", hint="Give --pictures 1000.")
    references = write_images(out / "images", pictures, seed)
    return jobs.make(
        RunJob,
        model={"name": "organism"},
        images=out / "images",
        references=references,
        out=out,
        vocabulary="organism",
        usage="grammar",
        batch=64,
    )


def run(job: RunJob) -> RunSummary:
    """Do all stages of a run that are not done; the job is saved first.

    A new folder is begun when all that is given, the model included, has been looked at.

    Raises:
        InputError: bad input of any stage, or a folder that belongs to another job.
    """
    folder, stages = RunFolder(job.out), Stages(job.out)
    _refuse_another(folder, job)
    _check(job)
    counts = _trace(job, folder, stages)
    _train_and_evaluate(job, folder, stages)
    _report(folder, stages)
    return RunSummary(folder, counts)


def _trace(job: RunJob, folder: RunFolder, stages: Stages) -> dict[str, int]:
    """What the model is needed for; it is let go before the detectors are trained."""
    model = LateModel(job.model)
    if not folder.job.exists():
        model.get()
    jobs.save(job, folder.job)
    _describe(job, model, folder, stages)
    _mentions(job, folder, stages)
    counts = _labels(job, folder, stages)
    _extract(job, model, folder)
    return counts


def _refuse_another(folder: RunFolder, job: RunJob) -> None:
    """Refuse a folder whose texts another job made."""
    if folder.job.exists():
        before = read_json(folder.job)
        if not isinstance(before, dict):
            raise InputError("not the job of a run", where=str(folder.job), hint="Give another --out.")
        same = ("model", "question", "max_new_tokens", "images", "texts")
        now = job.model_dump(mode="json")
        changed = [name for name in same if before.get(name) != now[name]]
        if changed:
            raise InputError(
                f"the folder belongs to a run with another {', '.join(changed)}",
                where=str(folder.root),
                hint="Give another --out.",
            )


def _check(job: RunJob) -> None:
    """What can be wrong is looked at before the long work: vocabulary, references, detectors, files."""
    from probekit.mentions.references import presence
    from probekit.pipeline.describe import pictures
    from probekit.pipeline.extract import captures_of

    captures_of(job.detectors)
    if job.usage not in ("rules", "grammar") and not Path(job.usage).is_file():
        raise InputError(
            f"usage is judged by 'rules' or a file of labels, and there is no file {job.usage}",
            hint="`probekit label` writes such a file.",
        )
    if job.texts is not None and not any(True for _ in read_jsonl(job.texts, ("image",))):
        raise InputError("no captions", where=str(job.texts))
    known = presence(job.references, _vocabulary(job))
    shown = pictures(job.images, job.limit)
    if all(known.get(picture.image_id) is None for picture in shown):
        raise InputError(
            f"the references name none of the {len(shown)} pictures of {job.images}",
            where=str(job.references),
            hint=f"The first picture is {shown[0].path.name}; names must agree, but for the suffix.",
        )


def _describe(job: RunJob, model: LateModel, folder: RunFolder, stages: Stages) -> None:
    from probekit.pipeline.describe import describe

    if job.texts is not None:
        inputs = inputs_of(job.texts, job.question, job.model.digest())
        if not stages.done("texts", inputs, folder.generations):
            from probekit.pipeline.texts import adopt

            adopt(model, job.question, job.texts, job.images, folder.generations)
            stages.finish("texts", inputs)
        return
    describe(
        jobs.GenerateJob(
            model=job.model,
            images=job.images,
            out=folder.generations,
            question=job.question,
            max_new_tokens=job.max_new_tokens,
            batch=job.batch,
            limit=job.limit,
        ),
        lambda: model.get()[0],
    )


def _mentions(job: RunJob, folder: RunFolder, stages: Stages) -> None:
    inputs = inputs_of(folder.generations, job.vocabulary, Path(job.vocabulary))
    if stages.done("mentions", inputs, folder.rows, folder.dropped):
        return
    from probekit.families import load_tokenizer
    from probekit.mentions.extract import mention_rows

    tokenizer = load_tokenizer(
        job.model.name,
        revision=job.model.revision,
        trust_remote_code=job.model.trust_remote_code,
        offline=job.model.offline,
    )
    mention_rows(
        folder.generations,
        _vocabulary(job),
        tokenizer.decode,
        folder.rows,
        folder.dropped,
        end_ids=tokenizer.end_ids,
    )
    stages.finish("mentions", inputs)


def _vocabulary(job: RunJob) -> Vocabulary:
    from probekit.mentions import Vocabulary

    path = Path(job.vocabulary)
    if path.suffix in (".yaml", ".yml", ".json"):
        return Vocabulary.load(path)
    return Vocabulary.named(job.vocabulary)


def _labels(job: RunJob, folder: RunFolder, stages: Stages) -> dict[str, int]:
    from probekit.labels import LabelSet
    from probekit.pipeline.label import label

    inputs = inputs_of(folder.rows, job.references, job.usage, Path(job.usage), job.vocabulary)
    if not stages.done("labels", inputs, folder.labels):
        label(folder.generations, folder.rows, job.references, _vocabulary(job), job.usage, folder.labels)
        stages.finish("labels", inputs)
    return LabelSet.load(folder.labels).counts()


def _extract(job: RunJob, model: LateModel, folder: RunFolder) -> None:
    from probekit.pipeline.extract import captures_of, extract

    extract(
        jobs.ExtractJob(
            model=job.model,
            generations=folder.generations,
            rows=folder.rows,
            images=job.images,
            out=folder.store,
            captures=captures_of(job.detectors),
            shard_examples=job.shard_examples,
            batch_tokens=job.batch_tokens,
            own_texts=job.texts is None,
        ),
        model,
    )


def _train_and_evaluate(job: RunJob, folder: RunFolder, stages: Stages) -> None:
    manifest = folder.store / "manifest.jsonl"
    inputs = inputs_of(folder.labels, manifest, job.detectors, job.mixes, job.seeds, job.natural_share)
    if stages.done("evaluate", inputs, folder.evaluation, folder.scores):
        return
    from probekit.evaluation.run import evaluate, train

    train(
        folder.store,
        folder.labels,
        folder.heads,
        detectors=job.detectors,
        mixes=job.mixes,
        seeds=job.seeds,
        natural_share=job.natural_share,
    )
    evaluate(
        folder.store,
        folder.labels,
        folder.heads,
        folder.evaluation,
        scores=folder.scores,
        detectors=job.detectors,
        mixes=job.mixes,
        seeds=job.seeds,
        natural_share=job.natural_share,
    )
    stages.finish("evaluate", inputs)


def _report(folder: RunFolder, stages: Stages) -> None:
    inputs = inputs_of(folder.evaluation, folder.scores, folder.labels, folder.rows)
    if stages.done("report", inputs, folder.page):
        return
    from probekit.report.run import report

    report(folder.root)
    stages.finish("report", inputs)
