"""A Ghost run in one go: a set, questions at five tones, answers, rates, a traced pass, a page.

OUT/job.json
OUT/set                              pictures and manifest, where one is drawn
OUT/questions.jsonl, responses.jsonl
OUT/store                            a row an answer: what detectors read at its first token
OUT/positions                        a row a token: statistics, and divergence on the black picture
OUT/trace.jsonl                      tokens that each shard took
OUT/ghost.jsonl                      a line an answer: verdict, quantities, scores
OUT/ghost.json, ghost.html, tables   what was found
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probekit import jobs
from probekit.benchmarks.ghost import Manifest, load_manifest, questions, write_questions
from probekit.benchmarks.ghost_prompts import Prompts, load_prompts
from probekit.errors import InputError
from probekit.evaluation.ghost_store import captures_of
from probekit.files import digest, read_json, read_jsonl, sha256, write_json, write_jsonl
from probekit.jobs import GhostJob
from probekit.metrics.rates import GhostResponse, load_responses
from probekit.pipeline.answer import answer_all, check_texts, read_questions
from probekit.pipeline.ghost_answers import read_answers
from probekit.pipeline.ghost_trace import Cost, cost_of, trace_answers
from probekit.pipeline.ghost_view import View, remember
from probekit.pipeline.tracing import LateModel
from probekit.store import Store

if TYPE_CHECKING:
    from probekit.evaluation.ghost_summary import GhostSummary

JOB, QUESTIONS, RESPONSES, LINES = "job.json", "questions.jsonl", "responses.jsonl", "ghost.jsonl"
WORLD = "organism"
"""Name of the embedded model, which is asked about its own world."""


@dataclass(frozen=True)
class GhostRun:
    """A run's parts, made from its job.

    Attributes:
        job: as saved.
        manifest: its set.
        prompts: how it asks.
    """

    job: GhostJob
    manifest: Manifest
    prompts: Prompts

    @property
    def responses(self) -> Path:
        """The model's answers."""
        return self.job.out / RESPONSES


@dataclass(frozen=True)
class GhostFound:
    """Where a traced run's results are, and what they say.

    Attributes:
        out: its folder.
        summary: what was found.
        cost: tokens of all its passes.
        page: the page to read.
    """

    out: Path
    summary: GhostSummary
    cost: Cost
    page: Path

    def show(self, *, rates: bool = True) -> None:
        """Print the tables, then what was computed, where the results are, and what to try next.

        Args:
            rates: H-Rate and H-Score as well.
        """
        from probekit.report.ghost_tables import terminal_tables
        from probekit.report.terminal import show, standard_output

        console = standard_output()
        show(terminal_tables(self.summary, rates=rates), str(self.out / "tables"))
        cost = self.cost
        ratio = f", {cost.loop / cost.computed:.1f} times as many" if cost.computed else ""
        for label, text in (
            ("tokens", f"{cost.computed:,} computed for {cost.texts:,} texts; every answer alone on both "
                       f"pictures is {cost.loop:,}{ratio}; the pass gives back {cost.replayed:,} of "
                       f"{cost.answered:,} answer tokens"),
            ("page", self.page),
            ("results", f"{self.out / LINES} and ghost.json"),
            ("next", f"probekit ls {self.out / 'store'}"),
        ):  # fmt: skip
            console.print(f"{label + ':':9}{text}", soft_wrap=True, highlight=False)


def prepare(job: GhostJob, model: LateModel | None = None) -> GhostRun:
    """Draw the set where none is given, write the questions, and save the job.

    A new folder is begun when prompts, manifest, pictures and model have been looked at.

    Args:
        model: the job's, where other work shares it.

    Raises:
        InputError: a bad manifest or bad prompts, a missing picture, an unknown detector, a model that cannot
            be loaded, or a folder of another run.
    """
    from probekit.benchmarks.ghost_make import make_ghost
    from probekit.benchmarks.ghost_world import make_world_ghost

    _refuse_another(job)
    captures_of(job.detectors)
    own_world, prompts, new = job.model.name == WORLD, _prompts(job), not (job.out / JOB).exists()
    path = job.manifest or job.out / "set" / "manifest.jsonl"
    given = None if job.manifest is None else load_manifest(path)
    model = model or LateModel(job.model)
    if new:
        if given is not None:
            _refuse_missing(given, path)
        model.get()
    if given is None and not path.exists():
        (make_world_ghost if own_world else make_ghost)(path.parent, job.per_category, job.seed)
    run = GhostRun(job, given or load_manifest(path), prompts)
    _refuse_other_questions(run)
    if new:
        asked = questions(run.manifest, run.prompts)
        check_texts(model.get()[1], [{"example_id": q.example_id, "prompt": q.question} for q in asked])
    write_questions(job.out / QUESTIONS, run.manifest, run.prompts)
    jobs.save(job, job.out / JOB)
    return run


def load_run(out: Path, given: GhostJob | None = None, **changes: Any) -> GhostRun:
    """A run from its folder.

    Args:
        given: the job of a folder that has none.
        changes: fields of the job, or ``dtype`` and ``device`` of its model, to be used in place of the
            run's; ``None`` leaves one alone.

    Raises:
        InputError: the folder holds no answers, or no job and none is given.
    """
    file = out / JOB
    if not (out / RESPONSES).exists():
        raise InputError("no responses.jsonl here", where=str(out), hint="First: probekit ghost run MODEL.")
    if given is None:
        if not file.exists():
            raise InputError(
                "the folder does not say which model answered", where=str(out), hint="Name it with --model."
            )
        given = _read_job(file)
    wanted = {name: value for name, value in changes.items() if value is not None}
    loading: dict[str, Any] = {name: wanted.pop(name) for name in ("dtype", "device") if name in wanted}
    model: dict[str, Any] = {**given.model.model_dump(), **loading}
    # the folder may have moved since
    job = jobs.make(GhostJob, **(given.model_dump() | wanted | {"out": out, "model": model}))
    manifest = job.manifest or out / "set" / "manifest.jsonl"
    return GhostRun(job, load_manifest(manifest), _prompts(job))


def ask(run: GhostRun, model: LateModel) -> Path:
    """Answer every question that is not answered yet; returns the file of answers."""
    job, asked = run.job, run.job.out / QUESTIONS
    identity = digest([job.model.digest(), sha256(asked), job.max_new_tokens])
    return answer_all(
        model,
        read_questions(asked),
        identity,
        run.manifest.root,
        run.responses,
        max_new_tokens=job.max_new_tokens,
        batch=job.batch,
    )


def trace(run: GhostRun, model: LateModel, view: View | None = None) -> GhostFound:
    """Trace what is not traced yet, then analyse and write the page.

    Raises:
        InputError: the answers lack token ids, a detector is unknown, heads do not fit, or the judged
            responses are not this run's.
    """
    from probekit.evaluation.ghost_summary import summarise
    from probekit.report.ghost import write_ghost

    view, job = view or View(), run.job
    responses = load_responses(run.responses, run.manifest)
    if view.judged is not None:
        responses = _judged(view.judged, responses, run.manifest)
    trace_answers(job, model, read_answers(run.responses, run.manifest))
    summary, lines = summarise(
        job.out,
        responses,
        policy=view.policy,
        detectors=job.detectors,
        heads=view.heads,
        mix=view.mix,
        draws=job.draws,
        seed=job.seed,
    )
    asked = {str(line["example_id"]): line["prompt"] for _, line in read_jsonl(run.responses)}
    lines = [{**line, "prompt": asked[line["example_id"]]} for line in lines]
    write_jsonl(job.out / LINES, lines)
    cost = cost_of(job.out)
    header = Store.unchecked(job.out / "store").header
    source = {
        "model": header.model,
        "revision": header.revision,
        "family": header.family,
        "dtype": header.dtype,
        "prompts": {"name": run.prompts.name, "digest": run.prompts.digest},
        "set": run.manifest.digest,
        "pictures": {str(c): n for c, n in run.manifest.counts().items() if n},
        "policy": {**asdict(view.policy), "digest": view.policy.digest},
        "h_score": summary.score_source,
        "image_mass_blocks": list(summary.blocks),
        "tokens": asdict(cost),
        "store": header.job_digest,
        "versions": dict(header.versions),
    }
    write_json(job.out / "ghost.json", {**source, **summary.record()})
    command = f"probekit ghost run {job.model.name} --out {job.out.name}"
    page = write_ghost(job.out, summary, lines, run.manifest, run.prompts, source, command)
    remember(job.out, view)
    return GhostFound(job.out, summary, cost, page)


def _prompts(job: GhostJob) -> Prompts:
    from probekit.benchmarks.ghost_world import PROMPTS

    return load_prompts(job.prompts or (PROMPTS if job.model.name == WORLD else None))


def _judged(path: Path, answers: Sequence[GhostResponse], manifest: Manifest) -> tuple[GhostResponse, ...]:
    """Responses with a judge's scores, which must be about the very answers that are traced."""
    own = {(answer.image.image_id, answer.tone): answer.text for answer in answers}
    judged = load_responses(path, manifest)
    for response in judged:
        key = (response.image.image_id, response.tone)
        if key not in own or own[key].strip() != response.text.strip():
            raise InputError(
                f"the response to {key[0]!r} at tone {key[1]} is not that of this run",
                where=str(path),
                hint="Judge this run's own responses.jsonl.",
            )
    return judged


def _refuse_missing(manifest: Manifest, path: Path) -> None:
    """Refuse a set that lacks a picture before anything is asked about the others."""
    for image in manifest.images:
        if not (manifest.root / image.image).is_file():
            raise InputError(
                f"no picture {image.image} (sample {image.image_id})",
                where=str(path),
                hint="Pictures lie where the manifest says, starting from its own folder.",
            )


def _refuse_other_questions(run: GhostRun) -> None:
    """Refuse other words or another set for answers that are there, before anything is overwritten."""
    path = run.job.out / QUESTIONS
    if not path.exists() or not run.responses.exists():
        return
    before = [(line.get("example_id"), line.get("image"), line.get("prompt")) for _, line in read_jsonl(path)]
    if before != [(q.example_id, q.image, q.question) for q in questions(run.manifest, run.prompts)]:
        raise InputError(
            "the answers here are to other questions: the prompts or the set have changed",
            where=str(run.job.out),
            hint="Give another --out.",
        )


def _read_job(path: Path) -> GhostJob:
    """The job that a run saved."""
    value = read_json(path)
    try:
        if isinstance(value, dict):
            return jobs.make(GhostJob, **value)
    except InputError:
        pass
    raise InputError("not the job of a Ghost run", where=str(path), hint="Give another folder.")


def _refuse_another(job: GhostJob) -> None:
    """Refuse a folder that another model or other settings filled."""
    path = job.out / JOB
    if not path.exists():
        return
    before = _read_job(path)
    drawn = () if job.manifest else ("per_category", "seed")
    changed = [n for n in ("manifest", "max_new_tokens", *drawn) if getattr(before, n) != getattr(job, n)]
    if before.model.digest() != job.model.digest():
        changed.insert(0, "model")
    if changed:
        raise InputError(
            f"the folder belongs to a run with another {', '.join(changed)}",
            where=str(job.out),
            hint="Give another --out.",
        )
