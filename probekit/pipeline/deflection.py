"""DeflectionBench in one go: samples, answers under every scenario, one traced pass, tables, page.

OUT/job.json
OUT/set/                         the embedded model's own samples
OUT/answers.jsonl                free to decline; OUT/forced/answers.jsonl where declining is not offered
OUT/store, OUT/forced/store      first token and whole of every answer
OUT/deflection.json, deflection.html, tables/
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from probekit.benchmarks.deflection import Sample, Scenario, load_samples
from probekit.benchmarks.deflection_wording import Wording
from probekit.benchmarks.deflection_world import IMAGES, KINDS, SAMPLES, WORDING, make_deflection
from probekit.errors import InputError
from probekit.evaluation.deflection_store import DeflectionTrace, load_trace
from probekit.evaluation.deflection_summary import DeflectionSummary, summarise
from probekit.files import Json, read_json, read_jsonl, sha256, write_json
from probekit.jobs import ModelSpec
from probekit.metrics.deflection_responses import DeflectionResponse, load_responses
from probekit.pipeline.deflection_answers import (
    Prompt,
    answer_prompts,
    check_prompts,
    prompts_of,
    read_answers,
)
from probekit.pipeline.deflection_ask import beside
from probekit.pipeline.deflection_clusters import clusters_of_prompts
from probekit.pipeline.deflection_judged import overrule
from probekit.pipeline.deflection_questions import least_of
from probekit.pipeline.deflection_trace import trace_prompts
from probekit.pipeline.pope_trace import Cost
from probekit.pipeline.tracing import LateModel

ORGANISM = "organism"
ANSWERS, STORE, NUMBERS, JOB = "answers.jsonl", "store", "deflection.json", "job.json"


@dataclass(frozen=True)
class DeflectionJob:
    """A run of the benchmark.

    Attributes:
        model: what is asked.
        out: folder of the run.
        samples: JSON Lines of samples; the embedded model makes its own when absent.
        images: folder of their pictures.
        wording: JSON of the sentences; by default ``wording.json`` beside the samples, else the project's.
        per_kind: samples of each kind of the embedded model's own.
        least_distractors: fewer are refused, where a scenario shows distractors.
        scenarios: under which samples are asked.
        judged, judged_forced: verdicts about the answers, and the forced ones, which overrule the rules.
        max_new_tokens: longest answer.
        batch: prompts answered at once.
        batch_tokens: tokens of one traced batch, which bounds memory.
        shard_prompts: answers in one shard of a store.
        trace: whether answers go through the model once more.
        draws: bootstrap draws behind each interval.
        seed: of the order of the evidence, the folds, the bootstrap and the embedded model's samples.
    """

    model: ModelSpec
    out: Path
    samples: Path | None = None
    images: Path | None = None
    wording: Path | None = None
    per_kind: int = 25
    least_distractors: int = 5
    max_new_tokens: int = 32
    batch: int = 16
    batch_tokens: int = 8192
    shard_prompts: int = 128
    trace: bool = True
    draws: int = 1000
    seed: int = 0
    scenarios: tuple[Scenario, ...] = tuple(Scenario)
    judged: Path | None = None
    judged_forced: Path | None = None


@dataclass(frozen=True)
class DeflectionRun:
    """Where a run's results are, and what they say."""

    out: Path
    summary: DeflectionSummary
    cost: Cost
    page: Path

    def show(self) -> None:
        """Print the tables, then what was computed, and where the results are."""
        from probekit.report.deflection_tables import terminal_tables
        from probekit.report.terminal import show, standard_output

        console = standard_output()
        show(terminal_tables(self.summary), str(self.out / "tables"))
        for note in self.summary.notes:
            console.print(f"note: {note}", highlight=False)
        for what, whose in self.summary.whose.items():
            if what == "free" or self.summary.forced_apart:
                console.print(f"{what} answers: {whose.sentence()}", soft_wrap=True, highlight=False)
        cost = self.cost
        told = (
            f"{cost.computed:,} computed of {cost.distinct:,} distinct; {cost.unshared:,} without shared "
            "prefixes"
            if cost.computed
            else "none computed, the stores were whole or not wanted"
        )
        for label, text in (("tokens", told), ("page", self.page), ("results", self.out / NUMBERS)):
            console.print(f"{label + ':':9}{text}", soft_wrap=True, highlight=False)


def deflection(job: DeflectionJob) -> DeflectionRun:
    """Do all steps that are not done; a new folder is begun when inputs and model have been looked at.

    Raises:
        InputError: bad samples, pictures or wording, a prompt beyond the model's context, or a folder of
            another run.
    """
    model, new = LateModel(job.model), not (job.out / JOB).exists()
    samples_file, images, wording_file = _files(job, model)
    least = least_of(job.scenarios, alone=False, least=job.least_distractors)
    samples = load_samples(samples_file, least_distractors=least)
    wording = Wording() if wording_file is None else Wording.load(wording_file)
    source = {
        "model": job.model.name,
        "samples": str(samples_file),
        "samples_sha256": sha256(samples_file),
        "wording": wording.digest(),
        "seed": job.seed,
        "max_new_tokens": job.max_new_tokens,
        **({} if job.scenarios == tuple(Scenario) else {"scenarios": list(job.scenarios)}),
    }
    apart = wording.offers_declining or any(sample.choices for sample in samples)
    if job.judged_forced is not None and not apart:
        raise InputError(
            "no answers are forced apart from the free ones",
            where=str(job.judged_forced),
            hint="Leave --judged-forced out.",
        )
    identity = {**source, "model": job.model.digest(), "samples": len(samples)}
    _refuse_another(job.out, identity)
    posed = [
        prompts_of(samples, images, wording, seed=job.seed, forced=forced, scenarios=job.scenarios)
        for forced in (False, True)
    ]
    if new:
        check_prompts(model, posed[0])
        check_prompts(model, posed[1])
    write_json(job.out / JOB, identity)
    free, trace, cost = _variant(job, model, samples, posed[0], job.out, forced=False)
    if job.judged is not None:
        free = overrule(job.judged, free, samples)
    forced = free
    if apart:
        forced, trace, spent = _variant(job, model, samples, posed[1], job.out / "forced", forced=True)
        cost += spent
        if job.judged_forced is not None:
            forced = overrule(job.judged_forced, forced, samples)
    clusters = clusters_of_prompts(posed[0])
    found = summarise(
        free, forced, trace, forced_apart=apart, clusters=clusters.of, draws=job.draws, seed=job.seed
    )
    if clusters.note:
        found = replace(found, notes=(*found.notes, clusters.note))
    write_json(job.out / NUMBERS, {**source, **found.record()})
    from probekit.report.deflection import write_deflection

    page = write_deflection(job.out, found, free, images, source, f"probekit deflection run {job.model.name}")
    return DeflectionRun(job.out, found, cost, page)


def _files(job: DeflectionJob, model: LateModel) -> tuple[Path, Path, Path | None]:
    """Samples, pictures and wording; the embedded model's own are made first."""
    if job.samples is not None:
        return job.samples, *beside(job.samples, job.images, job.wording)
    if job.model.name != ORGANISM:
        raise InputError(
            "no samples",
            hint="Give --samples FILE and --images DIR; only the embedded model, 'organism', brings its own.",
        )
    made = job.out / "set"
    if not (made / SAMPLES).exists():
        # the job is written after the samples, so this is the folder of something else
        if (job.out / JOB).exists():
            raise InputError(
                "the folder belongs to another run", where=str(job.out), hint="Give another --out."
            )
        if job.wording is not None:
            Wording.load(job.wording)
        model.get()
        make_deflection(made, job.per_kind, job.seed)
    if (held := sum(1 for _ in read_jsonl(made / SAMPLES))) != (wanted := job.per_kind * len(KINDS)):
        raise InputError(
            f"{held} samples, {wanted} are asked for", where=str(made), hint="Give another --out."
        )
    return made / SAMPLES, made / IMAGES, job.wording or made / WORDING


def _refuse_another(out: Path, identity: Json) -> None:
    """Refuse the folder of another run."""
    path = out / JOB
    if path.exists():
        before = read_json(path)
        if not isinstance(before, dict):
            raise InputError("not the job of a run", where=str(path), hint="Give another --out.")
        names = dict.fromkeys([*identity, "scenarios"])
        if changed := [name for name in names if before.get(name) != identity.get(name)]:
            raise InputError(
                f"the folder belongs to a run with another {', '.join(changed)}",
                where=str(out),
                hint="Give another --out.",
            )


def _variant(
    job: DeflectionJob,
    model: LateModel,
    samples: Sequence[Sample],
    prompts: Sequence[Prompt],
    folder: Path,
    *,
    forced: bool,
) -> tuple[tuple[DeflectionResponse, ...], DeflectionTrace | None, Cost]:
    """Answers, judged by rules, in the order of the prompts; and their evidence."""
    answers = answer_prompts(
        model, prompts, folder / ANSWERS, max_new_tokens=job.max_new_tokens, batch=job.batch, choose=forced
    )
    lines = read_answers(answers, prompts)
    trace, cost = None, Cost()
    if job.trace:
        cost = trace_prompts(
            model,
            prompts,
            lines,
            folder / STORE,
            shard_prompts=job.shard_prompts,
            batch_tokens=job.batch_tokens,
        )
        trace = load_trace(folder / STORE, [prompt.example_id for prompt in prompts])
    return _in_order(prompts, load_responses(answers, samples)), trace, cost


def _in_order(
    prompts: Sequence[Prompt], responses: Sequence[DeflectionResponse]
) -> tuple[DeflectionResponse, ...]:
    held = {(response.sample.sample_id, response.scenario): response for response in responses}
    return tuple(held[prompt.sample.sample_id, prompt.posed.scenario] for prompt in prompts)
