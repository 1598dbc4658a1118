"""``probekit pope``, ``pope-splits``, ``pope-score``, ``pope-audit``: questions made, asked and audited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from probekit.cli.model import (
    BatchTokens,
    Device,
    Dtype,
    Model,
    Offline,
    Prompt,
    Quantization,
    RemoteCode,
    Revision,
    model_spec,
)
from probekit.cli.numbers import number

QUESTIONS = "Yes/no questions: POPE's files, or JSON Lines of question_id, image, text and label."
ANSWERS = "JSON Lines of question_id and answer, in any order."
EXCLUDE = "List of question ids with known wrong labels, one a line; off by default."
ALLOW = "Score this readout although it covers less than 0.99 of the answers; may be repeated."


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("pope")(pope)
    app.command("pope-splits")(splits)
    app.command("pope-score")(score)
    app.command("pope-audit")(audit)


def pope(
    model: Model,
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Further files of questions.")
    ] = None,
    questions: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE [FILE ...]",
            help="Yes/no questions, one file a split: POPE's files, or JSON Lines of question_id, image, "
            "text and label. The embedded model makes its own when there are none.",
        ),
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of the questions' pictures.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the audit.")] = Path("runs/pope"),
    suffix: Annotated[str, typer.Option(help="Put behind each question, such as ' Answer yes or no.'.")] = "",
    allow_uncovered: Annotated[list[str] | None, typer.Option(help=ALLOW)] = None,
    images_count: Annotated[
        int | None, typer.Option(help="Pictures of the embedded model's own questions. Default 100.")
    ] = None,
    max_new_tokens: Annotated[int | None, typer.Option(help="Longest answer. Default 8.")] = None,
    batch: Annotated[int | None, typer.Option(help="Questions answered at once. Default 16.")] = None,
    batch_tokens: BatchTokens = None,
    draws: Annotated[int | None, typer.Option(help="Bootstrap draws an interval. Default 1000.")] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of intervals, calibration pictures and the embedded model's questions.")
    ] = 0,
    revision: Revision = None,
    dtype: Dtype = "auto",
    device: Device = "auto",
    quantization: Quantization = None,
    prompt: Prompt = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
) -> None:
    """Ask a model yes/no questions, trace its answers once, and read them in every way.

    For example: probekit pope organism --out runs/pope
    or: probekit pope llava-hf/llava-1.5-7b-hf --questions coco_pope_random.json coco_pope_popular.json
    --images val2014 --out runs/pope-llava

    Readouts that did not see the answers are refused. Each step is skipped when it is done, so the same
    command resumes an audit.
    """
    from probekit import jobs
    from probekit.pipeline.pope import pope as whole

    job = jobs.make(
        jobs.PopeJob,
        model=model_spec(model, revision, dtype, device, quantization, prompt, trust_remote_code, offline),
        out=out,
        questions=(*(questions or ()), *(more or ())),
        images=images,
        suffix=suffix,
        max_new_tokens=max_new_tokens,
        batch=batch,
        batch_tokens=batch_tokens,
        pictures=images_count,
        allow_uncovered=tuple(allow_uncovered or ()),
        draws=draws,
        seed=seed,
    )
    whole(job).show()


def splits(
    annotations: Annotated[
        Path,
        typer.Argument(
            help="JSON Lines of image and objects, a JSON object of image to objects, or COCO instances."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Questions, JSON Lines; with --kind all, a folder.")],
    kind: Annotated[
        str, typer.Option(help="random, popular, adversarial, or all: how absent objects are picked.")
    ] = "random",
    images: Annotated[int | None, typer.Option(help="Pictures to sample; all when not given.", min=1)] = None,
    pairs: Annotated[int, typer.Option(help="Yes/no pairs a picture.", min=1)] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the sample and of random picks.")] = 0,
    suffix: Annotated[str, typer.Option(help="Put behind each question.")] = "",
) -> None:
    """Make balanced POPE questions from any annotation of objects, reproducibly.

    For example: probekit pope-splits instances_val2017.json --kind all --images 500 --out pope/
    """
    from probekit.benchmarks.pope_splits import KINDS, generate_split, load_annotations, save_split

    objects = load_annotations(annotations)
    for name in KINDS if kind == "all" else (kind,):
        split = generate_split(objects, name, pairs=pairs, images=images, seed=seed, suffix=suffix)
        path = out / f"{name}.jsonl" if kind == "all" else out
        save_split(split, path)
        typer.echo(
            f"{path}: {len(split.rows)} questions on {split.images} pictures, half of them yes; "
            f"{len(split.skipped)} pictures skipped for want of {pairs} objects or of absent ones"
        )


def score(
    questions: Annotated[Path, typer.Argument(help=QUESTIONS)],
    answers: Annotated[Path, typer.Argument(help=ANSWERS)],
    readout: Annotated[str, typer.Option(help="string_parse, or pope_official: no or else yes.")] = (
        "string_parse"
    ),
    exclude: Annotated[Path | None, typer.Option(help=EXCLUDE)] = None,
    allow_uncovered: Annotated[list[str] | None, typer.Option(help=ALLOW)] = None,
    draws: Annotated[int, typer.Option(help="Bootstrap draws behind each interval.", min=0)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """F1, precision, recall, accuracy, yes-ratio and unknown share of written answers.

    Intervals resample pictures. The file of questions is named with its hash and row count.
    """
    from probekit.evaluation.pope_score import score_answers
    from probekit.files import json_text

    found = score_answers(
        questions,
        answers,
        readout,
        exclude=exclude,
        allow_uncovered=allow_uncovered or (),
        draws=draws,
        seed=seed,
    )
    typer.echo(json_text(found.record()) if as_json else found.text())


def audit(
    questions: Annotated[Path, typer.Argument(help=QUESTIONS)],
    answers: Annotated[Path, typer.Argument(help=ANSWERS)],
    out: Annotated[Path, typer.Option(help="Folder of the page and the JSON file.")],
    logits: Annotated[
        Path | None,
        typer.Option(help="Logits at the first answer position, .npy, a row for each line of the answers."),
    ] = None,
    forms: Annotated[
        Path | None,
        typer.Option(help="Log-probabilities of all forms of yes and no, .npy, a row for each answer."),
    ] = None,
    attention: Annotated[
        Path | None,
        typer.Option(help="Image attention of the last prompt token by layer and head, .npy."),
    ] = None,
    certainty: Annotated[
        str | None, typer.Option(help="Column of the answers file with an external image-text score.")
    ] = None,
    tokenizer: Annotated[Path | None, typer.Option(help="The model's tokenizer.json, or its folder.")] = None,
    context: Annotated[str, typer.Option(help="End of the prompt, where the answer begins.")] = "ASSISTANT:",
    exclude: Annotated[Path | None, typer.Option(help=EXCLUDE)] = None,
    allow_uncovered: Annotated[list[str] | None, typer.Option(help=ALLOW)] = None,
    calibration_share: Annotated[
        float, number(help="Share of pictures on which corrections are tuned.", above=0.0, below=1.0)
    ] = 0.3,
    draws: Annotated[int, typer.Option(help="Bootstrap draws behind each interval.", min=0)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap and the calibration pictures.")] = 0,
) -> None:
    """Read the same answers in every way, say which ways saw them, and what the choice decides.

    Writes audit.json and audit.html. Without logits and tokenizer only the written answers are audited.
    """
    from probekit.evaluation.pope_audit import audit as run
    from probekit.evaluation.pope_inputs import load_inputs
    from probekit.evaluation.pope_record import save_audit
    from probekit.report.pope import pope_page

    inputs = load_inputs(
        questions,
        answers,
        logits=logits,
        forms=forms,
        attention=attention,
        certainty=certainty,
        tokenizer=tokenizer,
        context=context.replace("\\n", "\n"),
        exclude=exclude,
    )
    found = run(
        inputs,
        allow_uncovered=allow_uncovered or (),
        calibration_share=calibration_share,
        draws=draws,
        seed=seed,
    )
    save_audit(found, out / "audit.json")
    command = f"probekit pope-audit {questions.name} {answers.name}"
    page = pope_page(out / "audit.html", {questions.stem: found}, command=command)
    for result in found.readouts.values():
        told = f"refused: {result.refused}" if result.scores is None else f"F1 {result.scores.f1}"
        typer.echo(f"{result.name:26}coverage {result.coverage:.4f}  {told}")
    typer.echo(f"reference: {found.reference}\npage: {page}\nnumbers: {out / 'audit.json'}")
