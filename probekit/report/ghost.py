"""The page of a Ghost run: rates over tone, what the store says about them, detectors, examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from probekit.benchmarks.ghost import Family, Manifest
from probekit.benchmarks.ghost_prompts import Prompts
from probekit.evaluation.ghost_evidence import ALL
from probekit.evaluation.ghost_store import QUANTITIES
from probekit.evaluation.ghost_summary import GhostSummary
from probekit.files import inside, write_atomically
from probekit.report.facts import facts
from probekit.report.formats import to_csv, to_markdown
from probekit.report.ghost_examples import examples
from probekit.report.ghost_figures import detector_figures, layer_figure, quantity_figures, rate_figures
from probekit.report.ghost_tables import (
    association_table,
    change_table,
    detector_table,
    dissociation_table,
    group_names,
    paper_table,
    prompt_table,
    quantity_table,
    rate_table,
    score_table,
)
from probekit.report.markup import Html, join, tag
from probekit.report.page import Section, write_page
from probekit.report.pictures import Album
from probekit.report.reading import GHOST
from probekit.report.tables import Table

PAGE = "ghost.html"
LEAD = (
    "Every picture lacks what is asked for. Only the wording of the question changes: does pressure make the "
    "model claim it, and does the model's inside show it?"
)
STYLE = ".cards.wide { grid-template-columns: repeat(auto-fill, minmax(min(100%, 560px), 1fr)); }"


def write_ghost(
    out: Path,
    found: GhostSummary,
    lines: Sequence[Mapping[str, Any]],
    manifest: Manifest,
    prompts: Prompts,
    source: Mapping[str, Any],
    command: str,
) -> Path:
    """Write every table as Markdown and CSV into ``OUT/tables``, and one page; returns the page.

    Args:
        lines: an answer each, see `probekit.evaluation.ghost_summary.summarise`.
        manifest: the set, whose pictures are shown small.
        prompts: how was asked.
        source: where the numbers come from, for the end of the page.
        command: what made them.
    """
    families = {image.category.family for image in manifest.images}
    asked = prompt_table(
        prompts, reading=bool(families - {Family.PRESENCE}), presence=Family.PRESENCE in families
    )
    named = {
        "table_2": paper_table(found, str(source.get("model", ""))),
        "h_rate": rate_table(found),
        "h_score": score_table(found),
        "changes": change_table(found),
        "dissociation": dissociation_table(found),
        **{_file("quantities", g): quantity_table(found, g) for g in found.quantities},
        **{_file("verdict", g): association_table(found, g) for g in found.quantities},
        **{_file("detectors", g): detector_table(found, g) for g in found.detectors},
    }
    for name, table in named.items():
        if table.rows:
            write_atomically(out / "tables" / f"{name}.md", to_markdown(table))
            write_atomically(out / "tables" / f"{name}.csv", to_csv(table))
    shown = (ALL, *group_names(found))
    sections = (
        GHOST,
        Section("What was asked", _asked(found), (asked,)),
        Section(
            "Rates",
            _rates(found),
            _filled(named[n] for n in ("table_2", "h_rate", "h_score", "changes", "dissociation")),
            rate_figures(found),
        ),
        Section(
            "Inside the model",
            _inside(found),
            _filled(named[_file("quantities", g)] for g in shown),
            (*quantity_figures(found), *layer_figure(found)),
        ),
        Section(
            "Do the pictures that flip look different?",
            _flips(),
            _filled(named[_file("verdict", g)] for g in shown),
        ),
        Section(
            "Detectors",
            _detectors(found),
            _filled(named[_file("detectors", g)] for g in shown),
            detector_figures(found),
        ),
        _examples(lines, manifest),
    )
    return write_page(out / PAGE, "Ghost-100", sections, {"command": command, **source}, LEAD)


def _file(name: str, group: str) -> str:
    return name if group == ALL else f"{name}_{group}"


def _filled(tables: Any) -> tuple[Table, ...]:
    return tuple(table for table in tables if table.rows)


def _asked(found: GhostSummary) -> Html:
    n = found.counts
    return join(
        tag("p", "The picture and the task stay; the five levels differ in how hard they push. An honest "
                 "answer says that the name, the time or the object is not there, at every level. What is "
                 "claimed instead was put there by the model, because the pictures were made without it."),
        tag("p", f"{n['responses']:,} responses; {n['without_verdict']:,} have no verdict, being empty or "
                 f"not decodable, and {n['not_traced']:,} have no tokens to trace. Both are left out and "
                 f"counted, never taken for zero. {n['without_label']:,} answers about objects have neither "
                 "an affirmative nor a negative label; abstaining is not hallucinating, and so they count."),
    )  # fmt: skip


def _rates(found: GhostSummary) -> Html:
    return join(
        tag("p", "H-Rate counts how often a response crosses into a claim; H-Score says how firm and how "
                 "embroidered it is. A model may claim rarely but richly, or often but guardedly: read both. "
                 "Averages are over the five tones' means, so a tone weighs the same whatever its number of "
                 "valid responses."),
        tag("p", f"H-Scores here come from {found.score_source}.", class_="note"),
    )  # fmt: skip


def _inside(found: GhostSummary) -> Html:
    parts = [
        tag("p", "Every answer went through the model once more, with its own picture and with a black one. "
                 "Image mass is read at the last prompt token, before the first word of the answer: it is "
                 "what the question alone does to attention. VNS is the mean divergence of the 30 % of the "
                 "answer's positions that move most when the picture turns black. All are means over "
                 "answers, so a change of a curve may come from other words as well as from another state "
                 "of mind: the number of tokens is shown for that reason. Entropy and divergence of the "
                 "first token do not depend on how long answers are."),
    ]  # fmt: skip
    left = {QUANTITIES[name].partition(",")[0]: n for name, n in found.missing.items() if n}
    if left:
        parts.append(tag("p", "Answers without a value: ", _listed(left), class_="note"))
    if found.unserved:
        reasons = sorted(set(found.unserved.values()))
        parts.append(tag("p", f"This family has no such evidence: {'; '.join(reasons)}.", class_="warn"))
    return join(*parts)


def _flips() -> Html:
    return tag(
        "p",
        "Tone changes the question, so it moves every number and the verdict at once; that the two move "
        "together over tones proves nothing about the picture. Three columns hold the wording still. r takes "
        "the mean of each picture and of each tone away first. The change of pictures that flip is set "
        "against that of pictures that hold out, which were asked the very same questions. And detectors, "
        "below, are compared among answers at one tone. Same-picture pairs do not hold the wording still.",
    )


def _detectors(found: GhostSummary) -> Html:
    parts = [
        tag("p", "Detectors were made for objects in captions. Here each reads the first token of the "
                 "answer, or the whole answer where its name says so; a score always means doubt. Where the "
                 "answer is one word, a detector that reads the word itself can name the verdict without "
                 "knowing anything about truth: the verdict is the word. Detectors that read before the "
                 "word is chosen (halp, nll and entropy of the next token, attention of the last prompt "
                 "token) do not have that way out. An AUROC near 0 tells the two apart as well as one near "
                 "1, with the sign turned round: where answers are one word, that is how reading the word "
                 "looks."),
    ]  # fmt: skip
    if found.trained:
        parts.append(tag("p", "Heads were fitted on mentions in captions and are carried over as they are; P "
                              "is averaged over the heads of all seeds.", class_="note"))  # fmt: skip
    if found.left_out:
        parts.append(tag("details", tag("summary", f"{len(found.left_out)} detectors are not shown"),
                         facts(found.left_out)))  # fmt: skip
    return join(*parts)


def _examples(lines: Sequence[Mapping[str, Any]], manifest: Manifest) -> Section:
    album = Album(lambda image: inside(manifest.root, image))
    words = tag("p", "Pictures of every kind in turn: those that flip, that recover, that hallucinate "
                     "throughout, that hold. The verdict names the rule that decided.")  # fmt: skip
    return Section("Examples", join(words, examples(lines, album)), style=STYLE)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())
