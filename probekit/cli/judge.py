"""The command that asks for opinions on how captions use their words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from probekit.cli.options import InputPrice, OutputPrice, PerMinute, announce
from probekit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probekit.judges.agreement import Agreement
    from probekit.judges.label import Row


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("label")(label)


def label(
    rows: Annotated[
        Path, typer.Argument(help="JSON Lines with caption, start, end, category.", show_default=False)
    ],
    judge: Annotated[str, typer.Option(help="rules, endpoint, hf or recorded.")] = "rules",
    out: Annotated[Path | None, typer.Option(help="Label file, JSON Lines; rerun to go on.")] = None,
    generations: Annotated[
        Path | None, typer.Option(help="JSON Lines with example_id and text, for rows without caption.")
    ] = None,
    references: Annotated[
        Path | None,
        typer.Option(
            help="What is in the pictures: COCO instances JSON, or JSON Lines of image or image_id, and "
            "objects. Labels then say whether the object is there."
        ),
    ] = None,
    vocabulary: Annotated[
        str, typer.Option(help="Of the rows and references: name-bench, chair, organism, or a file.")
    ] = "name-bench",
    against: Annotated[
        str | None, typer.Option(help="Field of the rows with reference labels: print the agreement.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print counts and agreement as JSON.")] = False,
    model: Annotated[str | None, typer.Option(help="Model of the judge; the record's file.")] = None,
    compound_model: Annotated[str | None, typer.Option(help="Another model for the compound check.")] = None,
    base_url: Annotated[str | None, typer.Option(help="endpoint: the endpoint.")] = None,
    key_variable: Annotated[
        str, typer.Option(help="endpoint: environment variable that holds the key.")
    ] = "OPENAI_API_KEY",
    cache: Annotated[
        Path | None, typer.Option(help="Answers kept here; beside --out when not given.")
    ] = None,
    captions_per_call: Annotated[int, typer.Option(help="Mentions in one question.", min=1)] = 6,
    concurrency: Annotated[int, typer.Option(help="endpoint: requests under way at once.", min=1)] = 8,
    requests_per_minute: PerMinute = None,
    retries: Annotated[int, typer.Option(help="endpoint: attempts after a failed one.", min=0)] = 6,
    batch_size: Annotated[int, typer.Option(help="hf: questions run together.", min=1)] = 4,
    revision: Annotated[str | None, typer.Option(help="hf: commit or tag of the model.")] = None,
    device: Annotated[str | None, typer.Option(help="hf: where it runs, such as cuda.")] = None,
    input_price: InputPrice = None,
    output_price: OutputPrice = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before paying.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Say what it would take, and stop.")] = False,
) -> None:
    """Judge how captions use each mention: claimed, hedged, denied, purpose, depicted, generic, no object.

    With --references the labels also say whether the object is in the picture, which train-probes and
    evaluate need: a claim is right or a hallucination only by that. It can be added to labels that are
    there: nothing is judged again.
    """
    from probekit.judges.choose import Choice, Kind, opened
    from probekit.judges.label import label_rows, read_rows
    from probekit.judges.usage import ModelUsageJudge, RuleUsageJudge
    from probekit.progress import progress

    kind = Kind.of(judge)
    if out is None and against is None and not estimate:
        raise InputError("give --out FILE for the labels, or --against FIELD to measure agreement")
    read = read_rows(rows, generations)
    if references is not None:
        from probekit.judges.label import with_presence
        from probekit.mentions import Vocabulary
        from probekit.mentions.references import presence

        read = with_presence(read, presence(references, Vocabulary.of(vocabulary)))
    reference = None if against is None else _reference(read, against)
    if kind is Kind.RULES:
        with progress("Judge", len(read), "mentions") as advance:
            verdicts = label_rows(read, RuleUsageJudge(), out, advance, advance)
    else:
        choice = Choice(
            kind,
            model,
            compound_model,
            base_url,
            key_variable,
            concurrency,
            requests_per_minute,
            retries,
            batch_size,
            revision,
            device,
        )
        beside = out.with_name(f"{out.stem}.answers.jsonl") if out is not None else None
        with opened(choice, cache or beside) as (first, second):
            by_model = ModelUsageJudge(first, second, captions_per_call)
            expected = by_model.estimate([row.item for row in read], input_price, output_price)
            announce(
                expected,
                yes or estimate,
                pays=expected.cost is not None,
                more="; mentions that claim nothing take two short questions more",
            )
            if estimate:
                return
            chunk = captions_per_call * max(concurrency, 40)
            with progress("Judge", len(read), "mentions") as advance:
                verdicts = label_rows(read, by_model, out, advance, advance, chunk)
    _report([str(verdict.usage) for verdict in verdicts], read, reference, as_json)
    if out is not None and not as_json:
        typer.echo(f"Labels: {out}")
        if all(row.kept.get("present") is None for row in read):
            typer.echo("Whether the objects are in the pictures is not said; --references FILE adds it.")


def _reference(rows: Sequence[Row], field: str) -> list[str]:
    for row in rows:
        if not isinstance(row.fields.get(field), str):
            raise InputError(f"no label in field {field!r}", where=row.where)
    return [row.fields[field] for row in rows]


def _report(
    judged: Sequence[str], rows: Sequence[Row], reference: Sequence[str] | None, as_json: bool
) -> None:
    from collections import Counter
    from dataclasses import asdict

    from probekit.files import json_text
    from probekit.judges.agreement import agreement

    compared = None
    if reference is not None:
        compared = agreement(reference, judged, [row.item.caption for row in rows])
    counts = Counter(judged)
    if as_json:
        value: dict[str, object] = {"counts": dict(counts.most_common())}
        if compared is not None:
            value["agreement"] = asdict(compared)
        typer.echo(json_text(value))
        return
    for name, count in counts.most_common():
        typer.echo(f"{name:<14}{count:>8}  {count / len(judged):7.2%}")
    if compared is not None:
        _print_agreement(compared)


def _print_agreement(compared: Agreement) -> None:
    low, high = compared.accuracy_interval
    typer.echo(f"\naccuracy {compared.accuracy:.3f} [{low:.3f}, {high:.3f}], {compared.n} rows")
    low, high = compared.kappa_interval
    typer.echo(f"Cohen's kappa {compared.kappa:.3f} [{low:.3f}, {high:.3f}]\n")
    typer.echo(
        f"{'class':<14}{'reference':>10}{'judged':>8}{'both':>6}{'precision':>11}{'recall':>8}{'kappa':>8}"
    )
    for name, one in compared.classes.items():
        shares = "".join(
            f"{'n/a' if value != value else format(value, '.3f'):>{width}}"
            for value, width in ((one.precision, 11), (one.recall, 8), (one.kappa, 8))
        )
        typer.echo(f"{name:<14}{one.reference:>10}{one.judged:>8}{one.both:>6}{shares}")
    errors = [
        f"{name} judged {other}: {count}"
        for name, row in compared.confusion.items()
        for other, count in row.items()
        if other != name
    ]
    typer.echo("\nconfusions: " + ("; ".join(errors) if errors else "none"))
