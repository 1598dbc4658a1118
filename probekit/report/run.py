"""From a run folder to its table and its page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probekit.errors import InputError
from probekit.evaluation.records import Evaluation
from probekit.files import inside, read_json, read_jsonl, sha256, write_atomically
from probekit.labels import LabelSet
from probekit.report.captions import Mention, read_captions, read_mentions
from probekit.report.formats import to_csv, to_latex, to_markdown
from probekit.report.gallery import gallery_section
from probekit.report.held_out import Choice, read_held_out
from probekit.report.markup import tag
from probekit.report.page import Section, write_page
from probekit.report.pictures import Album
from probekit.report.summary import (
    counts_section,
    mixing_section,
    position_section,
    reading_section,
    results_section,
)
from probekit.report.tables import full_table, mix_shown, mixes, results_table, variants

PREFERRED_MIX = "natural"
PREFERRED_DETECTOR = "hidden_mid"


_NO_GALLERY = Section(
    "Pictures and their captions", tag("p", "Not shown; the top of this page says what is missing.")
)


@dataclass(frozen=True)
class ReportPaths:
    """What a report wrote.

    Attributes:
        page: the HTML page.
        csv: every detector, variant and mix, full precision.
        markdown: one table for each mix.
        latex: one table for each mix.
        figures: the SVG files.
        mix: the mix that the page shows first.
        missing: what the run folder lacks, one sentence each.
    """

    page: Path
    csv: Path
    markdown: Path
    latex: Path
    figures: tuple[Path, ...]
    mix: str
    missing: tuple[str, ...]


def report(run: Path, *, detector: str | None = None, mix: str | None = None) -> ReportPaths:
    """Write table.csv, table.md, table.tex, figures/*.svg and report.html into a run folder.

    Nothing is computed that is not in the run's files; the same files give the same bytes.

    Args:
        run: a run folder with evaluation.json; scores, texts, labels and images are used when there.
        detector: detector that the gallery shows first; by default hidden_mid, else the first.
        mix: mix that table and gallery show first; by default natural, else the first.

    Raises:
        InputError: evaluation.json is missing, a file is damaged, or the detector or the mix is not in
            the evaluation.
    """
    evaluation = load_evaluation(run)
    mix = choose_mix(evaluation, mix)
    shown = _choose_detector(evaluation, detector, mix)
    missing = [
        f"{name}: not evaluated, for want of {', '.join(map(str, needs))}."
        for name, needs in evaluation.counts.get("unserved", {}).items()
    ]
    labels = _labels(run, missing)
    mentions = _mentions(run, labels, missing)
    sections = [
        results_section(evaluation, mix),
        mixing_section(evaluation),
        position_section(mention for own in mentions.values() for mention in own),
        _gallery(run, evaluation, mentions, shown, mix, missing),
        counts_section(_counts(run, evaluation, labels, mentions)),
    ]
    sections.insert(0, reading_section(missing))

    tables = [results_table(evaluation, each) for each in mixes(evaluation)]
    write_atomically(run / "table.csv", to_csv(full_table(evaluation)))
    write_atomically(run / "table.md", "\n".join(to_markdown(table) for table in tables))
    write_atomically(run / "table.tex", "\n".join(to_latex(table) for table in tables))
    figures = tuple(
        figure.save(run / "figures" / f"{figure.frame.name}.svg")
        for section in sections
        for figure in section.figures
    )
    provenance = _provenance(run, evaluation)
    write_page(
        run / "report.html",
        f"Which mentions to doubt: {provenance.get('model', 'a vision-language model')}",
        sections,
        provenance,
        "Does the model see what it says, and can its insides tell when it does not?",
    )
    return ReportPaths(
        page=run / "report.html",
        csv=run / "table.csv",
        markdown=run / "table.md",
        latex=run / "table.tex",
        figures=figures,
        mix=mix,
        missing=tuple(missing),
    )


def load_evaluation(run: Path) -> Evaluation:
    """The evaluation of a run folder.

    Raises:
        InputError: there is none yet, or it is damaged.
    """
    path = run / "evaluation.json"
    if not path.is_file():
        raise InputError(
            "no such file" if run.is_dir() else "no such run folder",
            where=str(path if run.is_dir() else run),
            hint="`probekit evaluate` writes it; `probekit demo` and `probekit run` do all steps.",
        )
    return Evaluation.load(path)


def choose_mix(evaluation: Evaluation, mix: str | None) -> str:
    """``mix`` if the evaluation has it; by default natural, else the first.

    Raises:
        InputError: the evaluation has no such mix.
    """
    known = mixes(evaluation)
    if mix is None:
        return PREFERRED_MIX if PREFERRED_MIX in known else (known[0] if known else "none")
    if mix not in known:
        raise InputError(f"no mix {mix!r} in this evaluation", hint=f"It has {', '.join(known) or 'none'}.")
    return mix


def _choose_detector(evaluation: Evaluation, name: str | None, mix: str) -> Choice | None:
    usable = [
        Choice(detector, variant, own)
        for detector, variant in variants(evaluation)
        if (own := mix_shown(evaluation, detector, variant, mix)) is not None
    ]
    for choice in usable:
        if choice.detector == (name or PREFERRED_DETECTOR):
            return choice
    if name is not None:
        known = ", ".join(dict.fromkeys(choice.detector for choice in usable))
        raise InputError(f"no detector {name!r} with mix {mix!r} in this evaluation", hint=f"It has {known}.")
    return usable[0] if usable else None


def _labels(run: Path, missing: list[str]) -> LabelSet:
    path = run / "labels" / "labels.jsonl"
    if path.is_file():
        return LabelSet.load(path)
    missing.append(
        "labels/labels.jsonl: no mention can be marked right or wrong; `probekit label` writes it."
    )
    return LabelSet()


def _mentions(run: Path, labels: LabelSet, missing: list[str]) -> dict[str, tuple[Mention, ...]]:
    path = run / "rows.jsonl"
    if path.is_file():
        return dict(read_mentions(path, labels))
    missing.append("rows.jsonl: no positions and no gallery; `probekit mentions` writes it.")
    return {}


def _gallery(
    run: Path,
    evaluation: Evaluation,
    mentions: dict[str, tuple[Mention, ...]],
    choice: Choice | None,
    mix: str,
    missing: list[str],
) -> Section:
    lacking = [name for name in ("scores.csv", "generations.jsonl") if not (run / name).is_file()]
    if "scores.csv" in lacking:
        missing.append("scores.csv: no gallery; `probekit evaluate` writes it.")
    if "generations.jsonl" in lacking:
        missing.append("generations.jsonl: no gallery; `probekit generate` writes it.")
    if lacking or choice is None or not mentions:
        return _NO_GALLERY
    wanted = {pair: own for pair in variants(evaluation) if (own := mix_shown(evaluation, *pair, mix))}
    held_out = read_held_out(run / "scores.csv", wanted)
    captions = read_captions(run / "generations.jsonl", mentions)
    if choice not in held_out:
        missing.append(f"scores.csv has no test rows of {choice.detector}, mix {choice.mix}.")
        if not held_out:
            return _NO_GALLERY
        choice = next(iter(held_out))
    folder = _images(run)
    if not folder.is_dir():
        missing.append("The image folder is not there; captions are shown without their pictures.")
    album = Album(lambda image: inside(folder, image, where=str(run / "generations.jsonl")))
    return gallery_section(captions, held_out, choice, album)


def _images(run: Path) -> Path:
    job = run / "job.json"
    named = read_json(job).get("images") if job.is_file() else None
    if not isinstance(named, str):
        return run / "images"
    # as the job says it: inside the run, absolute or from where the command was given; a run folder
    # that has moved keeps what it holds
    candidates = (run / named, Path(named), run / "images")
    return next((path for path in candidates if path.is_dir()), run / "images")


def _counts(
    run: Path, evaluation: Evaluation, labels: LabelSet, mentions: dict[str, tuple[Mention, ...]]
) -> dict[str, Any]:
    counts: dict[str, Any] = dict(evaluation.counts)
    if len(labels):
        counts["labelled mentions of the run"] = labels.counts()
        # a run made of more pictures before keeps their rows, and labels none of them
        bare = [sum(labels.get(mention.key) is None for mention in own) for own in mentions.values()]
        others = sum(n for n, own in zip(bare, mentions.values(), strict=True) if n == len(own))
        if others and counts.get("unlabelled") == sum(bare):
            counts["unlabelled"] = {
                "of other pictures, none of whose mentions has a label": others,
                "of labelled pictures": sum(bare) - others,
            }
    path = run / "dropped.jsonl"
    if path.is_file():
        reasons = Counter(str(value.get("reason", "no reason")) for _, value in read_jsonl(path))
        counts["mentions dropped before labelling"] = dict(sorted(reasons.items())) or 0
    return counts


def _provenance(run: Path, evaluation: Evaluation) -> dict[str, Any]:
    names = ("evaluation.json", "scores.csv", "generations.jsonl", "rows.jsonl", "labels/labels.jsonl")
    found = {name: sha256(run / name) for name in names if (run / name).is_file()}
    provenance = dict(evaluation.provenance)
    if "model" in provenance and Path(str(provenance["model"])).is_absolute():
        # a page is passed on; where its maker keeps models is not a reader's business
        provenance["model"] = "/".join(Path(str(provenance["model"])).parts[-2:])
    return {**provenance, "SHA-256 of the files read": found}
