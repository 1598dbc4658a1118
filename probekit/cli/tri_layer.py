"""``probekit trilayer``: LAD, VNS, CS and their taxonomy for one model and one benchmark."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from probekit.cli.options import Draws, Seed, cell, interval, show, table_of
from probekit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probekit.benchmarks.example import Example
    from probekit.scores.tri_layer import TriLayerRow

KINDS = ("plain", "gqa", "aokvqa", "vqa", "pope")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("trilayer")(trilayer)


def trilayer(
    model: Annotated[str, typer.Argument(help="A folder, a name on the hub, or 'organism'.")],
    out: Annotated[Path, typer.Option(help="Folder of the study.", show_default=False)],
    questions: Annotated[Path | None, typer.Option(help="Questions; for 'organism' they are drawn.")] = None,
    kind: Annotated[str, typer.Option(help=f"Form of the questions: {', '.join(KINDS)}.")] = "plain",
    annotations: Annotated[Path | None, typer.Option(help="vqa: the annotations file.")] = None,
    images: Annotated[Path | None, typer.Option(help="Folder from which image paths start.")] = None,
    objects: Annotated[
        Path | None,
        typer.Option(help="Objects of each image, as for `pope splits`; without it no conflict condition."),
    ] = None,
    blind_anchors: Annotated[
        str, typer.Option(help="Anchor set for black: a name or a YAML file.")
    ] = "black-1",
    noise_anchors: Annotated[
        str, typer.Option(help="Anchor set for noise: a name or a YAML file.")
    ] = "noise-1",
    task: Annotated[str, typer.Option(help="Name of the task in the rows.")] = "all",
    limit: Annotated[
        int | None, typer.Option(help="Only the first so many questions; organism: 200.")
    ] = None,
    max_new_tokens: Annotated[int, typer.Option(help="Longest answer.")] = 64,
    fraction: Annotated[float, typer.Option(help="Share of positions averaged in VNS.")] = 0.3,
    lad: Annotated[str, typer.Option(help="eq1 or best.")] = "eq1",
    gen: Annotated[str, typer.Option(help="Whose answer competes in CS: blind or full.")] = "blind",
    batch: Annotated[int, typer.Option(help="Questions answered at once.", min=1)] = 16,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16, float16, or auto.")] = "auto",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, or map: spread over all GPUs.")] = "auto",
    draws: Draws = 1000,
    seed: Seed = 0,
) -> None:
    """Ask a model under full, blind, noise and conflict pictures, trace once, and place every sample.

    For example: probekit trilayer organism --out runs/trilayer. A rerun goes on; with other --fraction,
    --lad or --gen it only computes the scores again.
    """
    from itertools import islice

    from probekit import jobs
    from probekit.benchmarks.pope_splits import load_annotations
    from probekit.benchmarks.tri_layer_world import world_questions
    from probekit.files import read_json, write_json
    from probekit.pipeline.tri_layer import prepare, run
    from probekit.pipeline.tri_layer_rows import rows_of
    from probekit.scores.anchors import load_anchors
    from probekit.scores.choices import Choices
    from probekit.scores.tri_layer import save_rows

    digests = {k: load_anchors(v).digest for k, v in (("blind", blind_anchors), ("noise", noise_anchors))}
    choices = Choices(fraction, lad, gen, max_new_tokens, anchors=digests)  # type: ignore[arg-type]
    name, anchors = model, {"blind": blind_anchors, "noise": noise_anchors}
    if questions is None:
        if model != "organism":
            raise InputError("give --questions FILE", hint=f"Its form is --kind: {', '.join(KINDS)}.")
        world = world_questions(out, limit or 200, seed)
        study = prepare(
            world.examples,
            world.root,
            out,
            objects=world.objects,
            synonyms=world.synonyms,
            anchors=anchors,
            seed=seed,
        )
    else:
        known = {} if objects is None else load_annotations(objects)
        held = {Path(image).stem: names for image, names in known.items()}
        examples = list(islice(_read(kind, questions, annotations), limit))
        study = prepare(examples, images or questions.parent, out, objects=held, anchors=anchors, seed=seed)
    if model == "organism":
        from probekit.organism import path

        model = str(path())
    spec = jobs.make(jobs.ModelSpec, name=model, dtype=dtype, device=device)
    run(study, spec, max_new_tokens=max_new_tokens, batch=batch)
    rows = rows_of(out, name, task, choices)
    save_rows(out / "tri_layer.csv", rows)
    _print(rows, draws, seed)
    summary = read_json(out / "summary.json")
    write_json(out / "summary.json", {**summary, "choices": choices.digest})
    if summary["ratio"] is not None:
        typer.echo(
            f"{summary['texts']} texts, {summary['tokens_computed']:,} tokens computed; a plain loop "
            f"computes {summary['tokens_of_a_plain_loop']:,} ({summary['ratio']:.1f} times as many)"
        )
    typer.echo(f"Rows: {out / 'tri_layer.csv'}; choices {choices.digest}")


def _read(kind: str, questions: Path, annotations: Path | None) -> Sequence[Example]:
    from probekit.benchmarks import pope, tri_layer

    if kind == "plain":
        return list(tri_layer.read_plain(questions))
    if kind == "gqa":
        return list(tri_layer.read_gqa_spatial(questions))
    if kind == "aokvqa":
        return list(tri_layer.read_aokvqa(questions))
    if kind == "vqa":
        if annotations is None:
            raise InputError("--kind vqa needs --annotations")
        return list(tri_layer.read_vqa_counting(questions, annotations))
    if kind == "pope":
        return list(pope.load_questions(questions).examples())
    raise InputError(f"--kind {kind}", hint=f"Known: {', '.join(KINDS)}.")


def _print(rows: Sequence[TriLayerRow], draws: int, seed: int) -> None:
    from probekit.scores.taxonomy import PLACED, SHORT, check_refusals
    from probekit.scores.tri_layer import diagnose, moments, response_rates, selective_prediction

    table = table_of("Scores, mean and SD", "", "blind", "noise", "conflict")
    for score in ("lad", "vns", "cs"):
        names = [score, f"{score}_noise", *(["vns_conflict"] if score == "vns" else [])]
        found = [moments(rows, name)[:2] for name in names]
        cells = ["n/a" if math.isnan(mean) else f"{mean:.2f}±{spread:.2f}" for mean, spread in found]
        table.add_row(score.upper(), *cells, *[""] * (3 - len(cells)))
    show(table)
    diagnosis = diagnose(rows)
    table = table_of("Taxonomy, %", "", *(SHORT[c] for c in PLACED))
    table.add_row("share", *(cell(diagnosis.shares.share[c], 100, 1) for c in PLACED))
    table.add_row("accuracy", *(cell(diagnosis.accuracy[c], 100, 1) for c in PLACED))
    show(table)
    rates = response_rates(rows, draws=draws, seed=seed)
    chosen = selective_prediction(rows, draws=draws, seed=seed)
    table = table_of("Responses, %", "", "value [95 %]")
    for label, value in (
        ("accuracy", rates.accuracy),
        ("SC blind", rates.sc_blind),
        ("SC noise", rates.sc_noise),
        ("SC conflict", rates.sc_conflict),
        ("accuracy at 50 % coverage", chosen.accuracy_at),
    ):
        table.add_row(label, interval(value, 100, 1))
    show(table)
    refusals = check_refusals([row.category() for row in rows], [row.refused for row in rows])
    typer.echo(
        f"Refused on black: {cell(refusals.refused, 100, 1)} %; of Visual Sycophancy samples: "
        f"{cell(refusals.sycophancy_in_truth_refusal, 100, 1)} %"
    )
