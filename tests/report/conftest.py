"""A run folder made up from nothing: its numbers are random, its shape is that of a real one."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from probekit.benchmarks.ghost import GhostCategory, GhostImage, Manifest
from probekit.evaluation.ghost_detectors import judge_detectors
from probekit.evaluation.ghost_evidence import GhostRows, analyse
from probekit.evaluation.ghost_store import QUANTITIES
from probekit.evaluation.ghost_summary import GhostSummary
from probekit.evaluation.records import Evaluation, Record
from probekit.evaluation.scores import COLUMNS
from probekit.labels import LabelSet, RowLabel, Usage
from probekit.metrics.rates import GhostResponse, evaluate
from probekit.rows import RowKey

TRAINED = ("lookback", "hidden_mid", "hidden_last", "text_only")
UNTRAINED = ("svar", "nll", "entropy", "position")
MIXES = ("none", "natural", "10", "30", "100", "max")
OBJECTS = {
    "ball": (200, 60, 40), "kite": (40, 90, 200), "cup": (30, 150, 90), "boat": (150, 90, 40),
    "lamp": (230, 180, 40), "fish": (120, 60, 160),
}  # fmt: skip
SUBTYPES = (Usage.HEDGED, Usage.DEPICTIVE, Usage.PURPOSE, Usage.NEGATION)
SENTENCES = {
    Usage.EXISTENTIAL: "There is a {} in the scene.",
    Usage.HEDGED: "Further back there is possibly a {}.",
    Usage.DEPICTIVE: "A poster of a {} hangs on the wall.",
    Usage.PURPOSE: "A stand for a {} is on the left.",
    Usage.NEGATION: "No {} is visible.",
}


def build_run(run: Path, images: int = 12, seed: int = 0, mixes: tuple[str, ...] = MIXES) -> Path:
    """Write a run folder with all inputs of a report."""
    rng = random.Random(seed)
    (run / "images").mkdir(parents=True)
    generations, rows, labels = [], [], []
    for number in range(images):
        name, example = f"{number:06d}", f"{number:06d}-describe"
        present = rng.sample(sorted(OBJECTS), 3)
        _draw(run / "images" / f"{name}.png", present, rng)
        text, token = "The picture shows a small scene.", 7
        for index in range(rng.randint(3, 7)):
            usage = rng.choices([Usage.EXISTENTIAL, *SUBTYPES], [8, 1, 1, 1, 1])[0]
            inside = rng.random() < (0.9 - 0.09 * index)
            category = rng.choice(present if inside else sorted(set(OBJECTS) - set(present)))
            before, after = SENTENCES[usage].split("{}")
            start = len(text) + 1 + len(before)
            text = f"{text} {before}{category}{after}"
            span = {"start": start, "end": start + len(category), "token": token + 3, "token_end": token + 3}
            token += len(before.split()) + len(after.split()) + 1
            row = {"example_id": example, "index": index, "image_id": name, "category": category}
            rows.append({**row, "surface": category, **span, "tokens": 0, "occurrences": 1})
            key = RowKey(example, index)
            labels.append(RowLabel(key, usage, category in present, "grammar"))
        generations.append(
            {"example_id": example, "image_id": name, "image": f"{name}.png", "text": text, "finished": True}
        )
    _lines(run / "generations.jsonl", generations)
    _lines(run / "rows.jsonl", rows)
    _lines(run / "dropped.jsonl", [{**rows[0], "reason": "compound"}])
    label_set = LabelSet.of(labels)
    label_set.save(run / "labels" / "labels.jsonl")
    (run / "job.json").write_text(json.dumps({"model": "toy"}))
    _scores(run / "scores.csv", label_set, images, rng, mixes)
    _evaluation(rng, mixes).save(run / "evaluation.json")
    return run


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A run with every input and one mix: no curves to draw, so that a report is quick."""
    return build_run(tmp_path / "run", mixes=MIXES[:1])


@pytest.fixture(scope="module")
def full_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with several mixes, for tests that only read it or write the same report again."""
    return build_run(tmp_path_factory.mktemp("full") / "run", mixes=("none", "natural", "30"))


@pytest.fixture
def make_run() -> Callable[..., Path]:
    """`build_run`, for tests that need their own."""
    return build_run


def _lines(path: Path, values: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def _draw(path: Path, present: list[str], rng: random.Random) -> None:
    picture = Image.new("RGB", (96, 96), (235, 240, 245))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 64, 96, 96), fill=(205, 215, 190))
    for i, name in enumerate(present):
        x, y = 8 + 28 * i, rng.randint(20, 60)
        pen.ellipse((x, y, x + 22, y + 22), fill=OBJECTS[name])
    picture.save(path)


def _scores(path: Path, labels: LabelSet, images: int, rng: random.Random, mixes: tuple[str, ...]) -> None:
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(COLUMNS)
        for detector in TRAINED + UNTRAINED:
            for mix in mixes if detector in TRAINED else mixes[:1]:
                for seed in range(3):
                    split = random.Random(seed)
                    order = list(range(images))
                    split.shuffle(order)
                    test = set(order[: images // 3 + 1])
                    for row in labels:
                        picture = int(row.key.example_id.split("-")[0])
                        where = "test" if picture in test else "calibration"
                        bump = {"hallucinated": 0.4, "non_assertive": 0.2}.get(str(row.label), 0.0)
                        score = "" if rng.random() < 0.01 else repr(rng.betavariate(2, 4) + bump)
                        flagged = str(float(score) > 0.6).lower() if score else ""
                        fields = (row.key.example_id, row.key.index, score, 0.6, flagged)
                        writer.writerow((detector, f"{detector}0123456789abcdef", mix, seed, where, *fields))


def _evaluation(rng: random.Random, mixes: tuple[str, ...]) -> Evaluation:
    records = []
    for detector in UNTRAINED + TRAINED:  # not the order of the shelf, on purpose
        for mix in mixes if detector in TRAINED else mixes[:1]:
            for population in ("all", "position_matched"):
                for measure, subtypes in (
                    ("auroc", ("all",)),
                    ("tpr", ("all",)),
                    ("fpr_concrete", ("all",)),
                    ("fpr_non_assertive", ("all", *map(str, SUBTYPES))),
                ):
                    for subtype in subtypes:
                        value = rng.uniform(0.05, 0.95)
                        missing = detector == "nll" and subtype == "negation"
                        numbers = (float("nan"),) * 3 if missing else (value, value - 0.04, value + 0.03)
                        variant = f"{detector}0123456789abcdef"
                        place = (detector, variant, mix, measure, population, subtype)
                        records.append(Record(*place, *numbers, 0 if missing else rng.randint(200, 2000)))
    counts = {
        "mentions": {"concrete": 1204, "hallucinated": 311, "non_assertive": 402, "excluded": 37},
        "unscored": {"svar": {"rows": 3, "reason": "a feature is missing or not finite"}},
        "unserved": {"glsim": ["image_similarity[layer=last]"]},
        "thresholds": [{"detector": "svar", "seed": seed, "value": 0.5 + seed} for seed in range(3)],
    }
    provenance = {
        "model": "organism", "revision": "0" * 40, "store": "a" * 16,
        "versions": {"torch": "2.9", "transformers": "5.24"}, "seeds": [0, 1, 2],
    }  # fmt: skip
    return Evaluation(tuple(records), counts, provenance)


class Parsed(HTMLParser):
    """What a browser would see: elements, the text of each, nothing of our own code."""

    VOID = ("meta", "input", "img", "br", "hr", "link")

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> is out of order"

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self._open), data))

    def named(self, name: str) -> list[dict[str, str | None]]:
        """Attributes of every element called ``name``."""
        return [attributes for element, attributes in self.elements if element == name]

    def words(self, *within: str) -> str:
        """Text inside elements of the names given, scripts and styles left out."""
        kept = [
            text
            for path, text in self.texts
            if not {"script", "style"} & set(path) and (not within or set(within) & set(path))
        ]
        return " ".join(" ".join(kept).split())


@pytest.fixture(scope="session")
def parse() -> type[Parsed]:
    """An HTML parser as oracle."""
    return Parsed


EVIL = '<img src=x onerror="alert(1)"></td></table><script>alert(2)</script>'
CATEGORIES = (GhostCategory.TEXT_BLUR, GhostCategory.ANALOG_DECOY, GhostCategory.HUMAN_INTENT)


def build_ghost(images: int = 15) -> tuple[GhostSummary, list[dict], Manifest]:
    """A summary of made answers, their lines and their set."""
    rng = np.random.default_rng(0)
    held = [
        GhostImage(f"images/p{n:02d}.png", CATEGORIES[n % 3],
                   ("the name on the badge", "the time on the clock", "a microphone")[n % 3])
        for n in range(images)
    ]  # fmt: skip
    flagged = ("The name is Smith.", "10:10", "Yes.")
    responses, lines = [], []
    for n, image in enumerate(held):
        for tone in range(1, 6):
            said = rng.random() < 0.15 * tone
            text = flagged[n % 3] if said else "No."
            responses.append(GhostResponse(image, tone, text, 4 if said else 1))
            lines.append({
                "example_id": f"{image.image_id}-tone{tone}", "image_id": image.image_id,
                "image": image.image, "category": str(image.category), "tone": tone,
                "target": image.target, "text": text + (EVIL if n == 0 else ""),
                "prompt": f"Is it there? {EVIL if n == 1 else ''}", "hallucinated": bool(said),
                "rule": "made", "score": 4 if said else 1, "image_mass": 0.25, "vns": None, "entropy": 1.5,
            })  # fmt: skip
    verdict = np.array([float(line["hallucinated"]) for line in lines])
    rows = GhostRows(tuple(r.image.image_id for r in responses), tuple(r.tone for r in responses),
                     tuple(r.image.category for r in responses), verdict)  # fmt: skip
    values = {name: rng.normal(size=len(lines)) for name in QUANTITIES}
    scores = {f"detector {n}": rng.normal(size=len(lines)) + verdict for n in range(9)}
    summary = GhostSummary(
        rates=evaluate(responses, draws=30),
        score_source="recorded scores",
        quantities=analyse(rows, values, draws=30),
        layers=np.full((5, 4), 0.25),
        tones=(1, 2, 3, 4, 5),
        blocks=(2, 3),
        detectors=judge_detectors(rows, scores, draws=30),
        trained={"detector 8": "mix natural, 3 heads"},
        left_out={"halp": "needs heads"},
        unserved={},
        missing=dict.fromkeys(QUANTITIES, 0) | {"vns": 3},
        counts={"responses": len(lines), "without_verdict": 2, "without_label": 4, "not_traced": 3},
    )
    return summary, lines, Manifest(Path(), tuple(held))


@pytest.fixture(scope="session")
def made() -> Callable[..., tuple[GhostSummary, list[dict[str, object]], Manifest]]:
    """Makes a Ghost run's summary, the lines of its answers and its set, of so many pictures."""
    return build_ghost


@pytest.fixture(scope="session")
def evil() -> str:
    """What one made answer and one made prompt hold, which must do nothing on a page."""
    return EVIL
