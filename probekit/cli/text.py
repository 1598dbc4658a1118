"""``probekit mentions`` and ``probekit chair``: object words of captions, and their rates."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from probekit.cli.model import Offline, RemoteCode, Revision
from probekit.cli.throne import throne
from probekit.errors import InputError

if TYPE_CHECKING:
    from probekit.mentions import Vocabulary
    from probekit.mentions.captions import Caption
    from probekit.mentions.extract import MentionCounts
    from probekit.metrics.chair import Chair, Rate, UsageJudge

Captions = Annotated[
    Path,
    typer.Argument(
        help="JSON Lines with `caption` or `text`, and an id; or texts of `probekit generate`.",
        show_default=False,
    ),
]
Words = Annotated[
    str,
    typer.Option(help="name-bench, chair, chair-sentences, organism, or a YAML or JSON file of your own."),
]
Complete = Annotated[
    bool,
    typer.Option("--complete-sentences", help="Leave out an unfinished last sentence; the summary says so."),
]


def mentions(
    captions: Captions,
    out: Annotated[Path, typer.Option(help="Mentions, one a line.", show_default=False)],
    vocabulary: Words = "name-bench",
    dropped: Annotated[
        Path | None, typer.Option(help="Also write object words in another sense, with the expression.")
    ] = None,
    complete_sentences: Complete = False,
    model: Annotated[
        str | None,
        typer.Option(
            help="Texts of `generate`: the model whose tokens they are. Default: as noted beside the texts.",
            show_default=False,
        ),
    ] = None,
    revision: Revision = None,
    trust_remote_code: RemoteCode = False,
    offline: Offline = False,
) -> None:
    """Find every object word of captions: caption id, start, end, surface, category.

    Of texts that `probekit generate` wrote the rows also have example_id, index and tokens, which `label`,
    `extract` and all that follows need; the model's tokenizer is loaded for it. A mention at the cut end
    of a text is left out.
    """
    from dataclasses import asdict

    from probekit.files import Json, distinct, write_jsonl
    from probekit.mentions import Vocabulary, other_senses
    from probekit.mentions.captions import caption_rows, read_captions
    from probekit.pipeline.describe import noted_model

    distinct(out, captions, dropped)
    if dropped is not None:
        distinct(dropped, captions)
    words = Vocabulary.of(vocabulary)
    if model is not None or (not complete_sentences and _generated(captions)):
        if complete_sentences:
            raise InputError(
                "rows with tokens are found in whole texts; mentions at a cut end are left out anyway",
                hint="Leave out --complete-sentences or --model.",
            )
        name = model or noted_model(captions)
        if name is None:
            raise InputError(
                "the texts have token ids, and nothing says of which model",
                where=str(captions),
                hint="Name it with --model.",
            )
        from probekit.families import load_tokenizer
        from probekit.mentions.extract import mention_rows

        tokenizer = load_tokenizer(
            name, revision=revision, trust_remote_code=trust_remote_code, offline=offline
        )
        made = mention_rows(captions, words, tokenizer.decode, out, dropped, end_ids=tokenizer.end_ids)
        _print_rows(made, words, out, dropped)
        return
    trimmed = _Trimmed(read_captions(captions), wanted=complete_sentences)
    rows: list[Json] = []
    hidden: list[Json] = []
    for caption in trimmed:
        rows += caption_rows(caption, words)
        hidden += [
            {"caption_id": caption.caption_id, **asdict(other)} for other in other_senses(caption.text, words)
        ]
    write_jsonl(out, rows)
    if dropped is not None:
        write_jsonl(dropped, hidden)
    typer.echo(
        f"{len(rows):,} mentions in {trimmed.seen:,} captions, vocabulary {words.name} ({words.digest})"
    )
    typer.echo(f"{len(hidden):,} object words in another sense left out")
    trimmed.say()
    typer.echo(f"Mentions: {out}" + (f"; left out: {dropped}" if dropped is not None else ""))


def _generated(captions: Path) -> bool:
    """Whether the first line is a generation with token ids."""
    from probekit.files import read_jsonl

    first = next(read_jsonl(captions), (0, {}))[1]
    return {"example_id", "token_ids"} <= set(first)


def _print_rows(made: "MentionCounts", words: "Vocabulary", out: Path, dropped: Path | None) -> None:
    typer.echo(
        f"{made.rows:,} mentions with tokens in {made.texts:,} texts, "
        f"vocabulary {words.name} ({words.digest})"
    )
    for reason, count in made.dropped.items():
        typer.echo(f"left out, {reason}: {count:,}")
    typer.echo(f"Mentions: {out}" + (f"; left out: {dropped}" if dropped is not None else ""))


def chair(
    captions: Captions,
    objects: Annotated[
        Path | None,
        typer.Option(
            help="What is in each image: COCO instances JSON, JSON Lines of image and objects, or one JSON "
            "object of image id to objects. Without it the rates are n/a.",
            show_default=False,
        ),
    ] = None,
    vocabulary: Words = "chair",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    per_caption: Annotated[
        Path | None, typer.Option(help="Also write each caption's mentions and rates, one a line.")
    ] = None,
    complete_sentences: Complete = False,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap over images.")] = 0,
) -> None:
    """CHAIR_i and CHAIR_s with intervals, and beside them the rates that count only claims of presence."""
    import json

    from probekit.files import write_jsonl
    from probekit.mentions import Vocabulary
    from probekit.mentions.captions import read_captions
    from probekit.mentions.references import presence
    from probekit.metrics.chair import chair as pool
    from probekit.metrics.chair import count

    words = Vocabulary.of(vocabulary)
    references = None if objects is None else presence(objects, words)
    trimmed = _Trimmed(read_captions(captions), wanted=complete_sentences)
    counts = list(count(trimmed, references, words, _rule_judge()))
    result = pool(counts, words, seed=seed)
    if per_caption is not None:
        write_jsonl(per_caption, (one.to_json() for one in counts))
    if as_json:
        trim = {"complete_sentences": complete_sentences, "trimmed_captions": trimmed.trimmed}
        outside = {} if references is None else dict(references.outside)
        typer.echo(json.dumps({**result.to_json(), **trim, "objects_left_out": outside}))
        return
    _print_chair(result)
    trimmed.say()
    if references is not None and references.outside:
        left_out = ", ".join(f"{name} {count}" for name, count in references.outside.items())
        typer.echo(f"Objects of the references that the vocabulary leaves out: {left_out}")
    if per_caption is not None:
        typer.echo(f"Per caption: {per_caption}")


def _print_chair(result: "Chair") -> None:
    found = f"{result.all_mentions:,} mentions in {result.all_captions:,} captions"
    typer.echo(f"Vocabulary {result.vocabulary}: {found}")
    if result.unknown_images:
        typer.echo(f"{result.unknown_images:,} captions left out: no references for their image")
    lines = [("CHAIR_i", result.chair_i), ("CHAIR_s", result.chair_s)]
    if result.aware is not None:
        lines += [
            ("CHAIR_i, claims only", result.aware.chair_i),
            ("CHAIR_s, claims only", result.aware.chair_s),
            ("non-assertive share", result.aware.non_assertive_share),
            ("  of the hallucinated", result.aware.non_assertive_among_hallucinated),
        ]
    for name, one in lines:
        typer.echo(f"{name:<22} {_percent(one)}")


def _percent(rate: "Rate") -> str:
    """A share in percent with its interval and counts, ``n/a`` when it is not defined."""
    one = rate.estimate
    if math.isnan(one.value):
        return "n/a"
    interval = "no interval" if math.isnan(one.low) else f"95 % [{100 * one.low:.2f}, {100 * one.high:.2f}]"
    return f"{100 * one.value:6.2f} %  {interval}  {rate.count:,} of {rate.out_of:,}"


def _rule_judge() -> "UsageJudge":
    from probekit.judges.rules import usage
    from probekit.labels import Usage

    def judge(caption: str, start: int, end: int, category: str) -> Usage:
        return usage(caption, start, end, category).usage

    return judge


class _Trimmed:
    """Captions as they pass, without unfinished last sentences when that is wanted, counting both."""

    def __init__(self, captions: "Iterable[Caption]", *, wanted: bool) -> None:
        self.captions, self.wanted = captions, wanted
        self.seen = self.trimmed = self.emptied = 0

    def __iter__(self) -> "Iterator[Caption]":
        from probekit.mentions.captions import complete_sentences

        for caption in self.captions:
            short = complete_sentences(caption) if self.wanted else caption
            self.seen += 1
            self.trimmed += short is not caption
            self.emptied += short is not caption and not short.text
            yield short

    def say(self) -> None:
        """State what the option did; nothing when it was not asked for."""
        if self.wanted:
            typer.echo(
                f"Complete sentences only: {self.trimmed:,} of {self.seen:,} captions lost an unfinished "
                f"last sentence, {self.emptied:,} of them all their text"
            )


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("mentions")(mentions)
    app.command("chair")(chair)
    app.command("throne")(throne)
