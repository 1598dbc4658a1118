"""The whole way from pictures to a page, stage by stage, each skipped when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probekit import jobs
from probekit.errors import InputError
from probekit.files import digest, write_jsonl
from probekit.jobs import ExtractJob, RunJob
from probekit.mentions import Vocabulary
from probekit.pipeline.folder import RunFolder
from probekit.pipeline.run_checks import check, refuse_another, refuse_another_store
from probekit.pipeline.stages import Stages, inputs_of
from probekit.pipeline.tracing import LateModel


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
        from probekit.report import load_evaluation, results_table
        from probekit.report.run import choose_mix
        from probekit.report.terminal import show, standard_output

        console = standard_output()
        evaluation = load_evaluation(self.folder.root)
        table = results_table(evaluation, choose_mix(evaluation, None))
        show([table], str(self.folder.root / "table.csv"))
        named = ", ".join(f"{count} {name.replace('_', '-')}" for name, count in self.counts.items())
        console.print(f"mentions: {named}")
        console.print(f"page:  {self.folder.page}", soft_wrap=True)
        console.print(f"store: {self.folder.store}", soft_wrap=True)
        console.print(f"next:  probekit ls {self.folder.store}", soft_wrap=True)


def demo_job(out: Path, pictures: int, seed: int) -> RunJob:
    """The embedded model's values of a run; draws the pictures that are not there yet."""
    from probekit.organism import write_images
    from probekit.organism.images import REFERENCES

    if pictures < 1:
        raise InputError("at least one picture is needed", hint="Give --pictures 1000.")
    job = jobs.make(
        RunJob,
        model={"name": "organism"},
        images=out / "images",
        references=out / "images" / REFERENCES,
        out=out,
        vocabulary="organism",
        usage="grammar",
        batch=64,
        limit=pictures,
    )
    refuse_another(RunFolder(out), job, traced=())
    write_images(job.images, pictures, seed)
    return job


def run(job: RunJob) -> RunSummary:
    """Do all stages of a run that are not done; the job is saved first.

    A new folder is begun when all that is given, the model included, has been looked at. Pictures or
    captions that were added since are put behind what the folder holds; when fewer are asked for, the
    results are those of the fewer, and what the folder holds of others stays.

    Raises:
        InputError: bad input of any stage, or a folder that belongs to another job.
    """
    folder, stages = RunFolder(job.out), Stages(job.out)
    refuse_another(folder, job)
    words = Vocabulary.of(job.vocabulary)
    names = check(job, words)
    refuse_another_store(folder, _extraction(job, folder), words, names, stages)
    counts = _trace(job, folder, stages, words, names)
    _train_and_evaluate(job, folder, stages)
    _report(folder, stages)
    return RunSummary(folder, counts)


def _trace(
    job: RunJob, folder: RunFolder, stages: Stages, words: Vocabulary, names: Sequence[str]
) -> dict[str, int]:
    """What the model is needed for; it is let go before the detectors are trained."""
    model = LateModel(job.model)
    if not folder.job.exists():
        model.get()
    if job.texts is None:
        jobs.save(job, folder.job)
        _describe(job, model, folder)
    else:
        _adopt(job, model, folder, stages)
    _mentions(job, folder, stages, words)
    counts = _labels(job, folder, stages, words, names)
    _extract(job, model, folder, names)
    return counts


def _describe(job: RunJob, model: LateModel, folder: RunFolder) -> None:
    from probekit.pipeline.describe import describe

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


def _adopt(job: RunJob, model: LateModel, folder: RunFolder, stages: Stages) -> None:
    """Captions by others as the run's texts; a file that was traced is only added to."""
    from probekit.pipeline.texts import adopted, beginning_kept, read_captions

    assert job.texts is not None
    inputs = inputs_of(job.texts, job.question, job.model.digest(), job.limit)
    if stages.done("texts", inputs, folder.generations):
        jobs.save(job, folder.job)
        return
    captions = read_captions(job.texts, job.images, job.limit)
    lines = adopted(model.get()[1], job.question, captions)
    traced = folder.generations.exists() and folder.store.exists()
    kept = traced and beginning_kept(lines, folder.generations)
    jobs.save(job, folder.job)
    if not kept:
        write_jsonl(folder.generations, lines)
    stages.finish("texts", inputs)


def _mentions(job: RunJob, folder: RunFolder, stages: Stages, words: Vocabulary) -> None:
    inputs = inputs_of(folder.generations, words.digest)
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
        folder.generations, words, tokenizer.decode, folder.rows, folder.dropped, end_ids=tokenizer.end_ids
    )
    stages.finish("vocabulary", words.digest)
    stages.finish("mentions", inputs)


def _labels(
    job: RunJob, folder: RunFolder, stages: Stages, words: Vocabulary, names: Sequence[str]
) -> dict[str, int]:
    """Label the mentions in the texts of the job's pictures; the folder may hold more."""
    from probekit.labels import LabelSet
    from probekit.pipeline.label import label

    inputs = inputs_of(
        folder.rows, job.references, job.usage, Path(job.usage), words.digest, digest(list(names))
    )
    if not stages.done("labels", inputs, folder.labels):
        label(
            folder.generations, folder.rows, job.references, words, job.usage, folder.labels, only=set(names)
        )
        stages.finish("labels", inputs)
    return LabelSet.load(folder.labels).counts()


def _extract(job: RunJob, model: LateModel, folder: RunFolder, names: Sequence[str]) -> None:
    from probekit.pipeline.extract import extract

    extract(_extraction(job, folder), model, set(names))


def _extraction(job: RunJob, folder: RunFolder) -> ExtractJob:
    from probekit.pipeline.extract import captures_of

    return ExtractJob(
        model=job.model,
        generations=folder.generations,
        rows=folder.rows,
        images=job.images,
        out=folder.store,
        captures=captures_of(job.detectors),
        shard_examples=job.shard_examples,
        batch_tokens=job.batch_tokens,
        own_texts=job.texts is None,
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
