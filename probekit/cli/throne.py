"""``probekit throne``: language models vote on what captions say is there."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from probekit.labels import RowLabel
    from probekit.mentions.captions import Caption
    from probekit.mentions.find import Found
    from probekit.mentions.references import References
    from probekit.metrics.throne_score import MentionScore, ThroneScore
    from probekit.metrics.throne_votes import Ask, Pair


class About(StrEnum):
    """What the judges are asked about."""

    ALL = "all"
    MENTIONED = "mentioned"


class Read(StrEnum):
    """Which answers are votes for presence."""

    EXACT = "exact"
    BEGINS = "begins"


def throne(
    captions: Annotated[
        Path, typer.Argument(help="JSON Lines with `caption` or `text`, and `image_id`.", show_default=False)
    ],
    objects: Annotated[
        Path, typer.Option(help="What is annotated in each image, as for `chair`.", show_default=False)
    ],
    votes: Annotated[
        list[Path],
        typer.Option(
            help="Votes: JSON Lines as this command writes them, or THRONE's own answer files (.json), "
            "any number of them. With --judge, the one file that is filled.",
            show_default=False,
        ),
    ],
    judge: Annotated[
        list[str] | None,
        typer.Option(
            help="Ask this model: a Hugging Face name or folder (sequence-to-sequence or chat), or "
            "endpoint:MODEL. May be given several times; THRONE asks three.",
            show_default=False,
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(help="Your THRONE checkout, or a YAML file of questions.", show_default=False),
    ] = None,
    about: Annotated[
        About, typer.Option(help="About every COCO class, or only about those mentioned (NAME-Bench).")
    ] = About.ALL,
    vocabulary: Annotated[str, typer.Option(help="Which words are mentions, with --about mentioned.")] = (
        "name-bench"
    ),
    threshold: Annotated[
        list[int] | None,
        typer.Option(help="Yes votes needed; by default unanimous, all but one, and majority."),
    ] = None,
    reading: Annotated[
        Read, typer.Option(help="A vote for presence is an answer that is yes, or one that begins with yes.")
    ] = Read.EXACT,
    base_url: Annotated[str | None, typer.Option(help="Address of the endpoint.", show_default=False)] = None,
    device: Annotated[str | None, typer.Option(help="Where local judges run.", show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap over images.")] = 0,
) -> None:
    """Ask language models which objects a caption says are there, and score their votes."""
    import json

    from probekit.mentions import Vocabulary, find
    from probekit.mentions.captions import read_captions
    from probekit.mentions.coco import COCO_CATEGORIES
    from probekit.mentions.references import presence
    from probekit.metrics.throne_score import default_thresholds, score_classes, score_mentions
    from probekit.metrics.throne_votes import Pair, read_votes

    words = Vocabulary.named("chair") if about is About.ALL else Vocabulary.of(vocabulary)
    references = presence(objects, words)
    everything = list(read_captions(captions))
    known = [
        one for one in everything if one.image_id is not None and references.get(one.image_id) is not None
    ]
    mentions = (
        [(one, hit) for one in known for hit in find(one.text, words)] if about is not About.ALL else []
    )
    pairs = (
        [Pair(one.caption_id, name) for one in known for name in COCO_CATEGORIES]
        if about is About.ALL
        else list(dict.fromkeys(Pair(one.caption_id, hit.category) for one, hit in mentions))
    )
    if judge:
        _collect(judge, questions, known, pairs, votes, base_url, device)
    tallies = read_votes(votes, reading.value, COCO_CATEGORIES)
    number = next((one.votes for one in tallies.values()), 0)
    thresholds = tuple(threshold or default_thresholds(number)) if number else ()
    results: list[ThroneScore] | list[MentionScore]
    if about is About.ALL:
        truth = {one.caption_id: references.get(one.image_id) or frozenset() for one in known}
        results = [score_classes(known, truth, tallies, one, seed=seed) for one in thresholds]
    else:
        labels = _labels(mentions, references)
        results = [score_mentions(mentions, labels, tallies, one, seed=seed) for one in thresholds]
    left_out = len(everything) - len(known)
    if as_json:
        scores = [one.to_json() for one in results]
        typer.echo(json.dumps({"about": about.value, "unknown_images": left_out, "scores": scores}))
        return
    typer.echo(f"{len(known):,} captions, {number} votes on each of {len(pairs):,} questions")
    if left_out:
        typer.echo(f"{left_out:,} captions left out: no references for their image")
    for result in results:
        _print(result)
    if not results:
        typer.echo("n/a: there are no votes")


def _collect(
    judges: list[str],
    questions: Path | None,
    captions: "list[Caption]",
    pairs: "list[Pair]",
    votes: list[Path],
    base_url: str | None,
    device: str | None,
) -> None:
    from probekit.errors import InputError
    from probekit.metrics.throne_questions import load_questions
    from probekit.metrics.throne_votes import collect_votes

    if questions is None or len(votes) != 1 or votes[0].suffix == ".json":
        raise InputError(
            "--judge needs --questions and one --votes file of JSON Lines to fill",
            hint="The questions are in THRONE's repository; its licence does not let others ship them.",
        )
    asked = load_questions(questions)
    texts = {one.caption_id: one.text for one in captions}
    for name in judges:
        collect_votes(name, _ask(name, base_url, device), texts, pairs, asked, votes[0])


def _ask(name: str, base_url: str | None, device: str | None) -> "Ask":
    """The judge of a name on the command line."""
    from collections.abc import Sequence

    from probekit.judges.base import Judge, Question
    from probekit.judges.endpoint import EndpointJudge
    from probekit.judges.hf import HuggingFaceJudge
    from probekit.metrics.throne_models import MAX_LENGTH, ask_with_transformers, is_sequence_to_sequence

    judge: Judge
    if name.startswith("endpoint:"):
        judge = EndpointJudge(name.removeprefix("endpoint:"), base_url=base_url, max_tokens=MAX_LENGTH)
    elif is_sequence_to_sequence(name):
        return ask_with_transformers(name, device=device)
    else:
        judge = HuggingFaceJudge(name, device=device, max_new_tokens=MAX_LENGTH)

    def ask(prompts: Sequence[str]) -> list[str]:
        answers = dict(judge.answer([Question("throne", prompt) for prompt in prompts]))
        for one in answers.values():
            if one.failure:
                typer.echo(f"warning: {name} gave no answer, which counts as no: {one.failure}", err=True)
        return [answers[position].text for position in range(len(prompts))]

    return ask


def _labels(mentions: "list[tuple[Caption, Found]]", references: "References") -> "list[RowLabel]":
    from probekit.judges.rules import usage
    from probekit.labels import RowLabel
    from probekit.rows import RowKey

    return [
        RowLabel(
            RowKey(caption.caption_id, place),
            usage(caption.text, hit.start, hit.end, hit.category).usage,
            references.present(caption.image_id, hit.category),
            "rules",
        )
        for place, (caption, hit) in enumerate(mentions)
    ]


def _print(result: "ThroneScore | MentionScore") -> None:
    from probekit.metrics.throne_score import ThroneScore

    typer.echo(f"Threshold {result.threshold} of {result.votes} votes")
    if isinstance(result, ThroneScore):
        typer.echo(f"  disqualified {100 * result.disqualified:.1f} % of the classes")
        for name, scores in (("class-wise", result.class_wise), ("per image", result.per_image)):
            shown = (
                ("P", scores.precision),
                ("R", scores.recall),
                ("F1", scores.f1),
                ("F0.5", scores.f_half),
            )
            typer.echo(f"  {name:<11}" + "  ".join(f"{label} {one}" for label, one in shown))
        return
    for group in result.groups:
        extra = f", {group.disqualified} disqualified" if group.disqualified else ""
        typer.echo(f"  {group.group:<14} flagged {group.share} of {group.share.n}{extra}")
