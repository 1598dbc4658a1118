"""What holds of every page: no value is shown as Python writes it, and every page says how to read it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probekit.benchmarks.deflection import Outcome, Sample, Scenario
from probekit.benchmarks.ghost import Manifest
from probekit.benchmarks.ghost_prompts import load_prompts
from probekit.benchmarks.pope import PopeQuestion, PopeQuestions
from probekit.benchmarks.pope_answers import PopeAnswers
from probekit.benchmarks.yesno import Answer
from probekit.evaluation.deflection_summary import summarise as summarise_deflection
from probekit.evaluation.pope_audit import audit
from probekit.evaluation.pope_inputs import PopeInputs
from probekit.evaluation.tri_layer_summary import SCORES, summarise
from probekit.metrics.deflection_responses import DeflectionResponse
from probekit.metrics.estimates import Estimate as Measured
from probekit.report.deflection import write_deflection
from probekit.report.facts import facts
from probekit.report.formats import p_value, to_csv, to_html, to_latex, to_markdown
from probekit.report.ghost import write_ghost
from probekit.report.markup import tag
from probekit.report.pope import pope_page
from probekit.report.run import report
from probekit.report.tables import Column, Estimate, Table
from probekit.report.tri_layer import write_tri_layer
from probekit.scores.tri_layer import TriLayerRow

CODE = re.compile(r"\b[A-Z]\w*\(\w+=")
SAMPLES = 24


def tri_layer_page(out: Path) -> Path:
    """A study of made scores: two samples a picture."""
    rng = np.random.default_rng(0)
    rows, lines = [], []
    for n in range(SAMPLES):
        scores = {name: float(rng.normal(2.0)) for name in SCORES}
        own = {name: value for name, value in scores.items() if name in TriLayerRow.__dataclass_fields__}
        said = {"sc_blind": n % 4 == 0, "sc_noise": False, "sc_conflict": n % 5 == 0, "refused": n % 2 == 0}
        names = ("m", "yes" if n % 2 else "where", f"s{n}", f"i{n // 2}")
        row = TriLayerRow(*names, **own, **said, correct=n % 3 > 0)
        rows.append(row)
        lines.append({
            **asdict(row), **scores, "prior": ("right", "wrong", "refused")[n % 3],
            "category_cs_full": row.category(), "category_noise": row.category(), "conflict_reason": "far",
        })  # fmt: skip
    found = summarise(rows, lines, draws=20)
    return write_tri_layer(out, found, rows, lines, {"model": "m"}, "a command")


def deflection_page(out: Path) -> Path:
    """A run of made answers over two kinds of samples."""
    held = []
    for n in range(SAMPLES):
        sample = Sample(f"s{n}", f"What is {n}?", f"{n}.png", (str(n),), (), (), "kb" if n % 2 else "web")
        for i, scenario in enumerate(Scenario):
            held.append(DeflectionResponse(sample, scenario, "x", tuple(Outcome)[(n + i) % 3]))
    found = summarise_deflection(held, held, None, forced_apart=False, draws=20)
    return write_deflection(out, found, held, out, {"model": "m"}, "a command")


def yes_no_page(out: Path) -> Path:
    """An audit of written answers."""
    questions = tuple(
        PopeQuestion(str(i), f"{i // 4}.png", "Is there a bus?", (Answer.YES, Answer.NO)[i % 2], "bus", i + 1)
        for i in range(40)
    )
    texts = tuple("Yes" if i % 3 else "No" for i in range(40))
    answers = PopeAnswers("a", "0" * 64, texts, (None,) * 40, 40, tuple(range(40)), {})
    found = audit(PopeInputs(PopeQuestions("q", "1" * 64, 40, questions), answers), draws=20)
    return pope_page(out / "page.html", {"popular": found})


def ghost_page(out: Path, summary: Any, lines: Any, manifest: Manifest) -> Path:
    """A run of made answers at five tones; its pictures are not there."""
    held = Manifest(out, manifest.images)
    return write_ghost(out, summary, lines, held, load_prompts(), {"model": "m"}, "a command")


@pytest.fixture(scope="module", params=["run", "tri_layer", "deflection", "pope", "ghost"])
def shown(
    request: pytest.FixtureRequest, tmp_path_factory: Any, full_run: Path, made: Any, parse: Any
) -> Any:
    """A page of every kind, as a browser reads it."""
    out = tmp_path_factory.mktemp("page")
    pages: dict[str, Callable[[], Path]] = {
        "run": lambda: report(full_run).page,
        "tri_layer": lambda: tri_layer_page(out),
        "deflection": lambda: deflection_page(out),
        "pope": lambda: yes_no_page(out),
        "ghost": lambda: ghost_page(out, *made()),
    }
    return parse(pages[request.param]().read_text(encoding="utf-8"))


def test_no_value_is_shown_as_python_writes_it(shown: Any) -> None:
    words = shown.words()
    assert CODE.search(words) is None
    assert not re.search(r"\b(nan|None|inf)\b", words)
    for _, attributes in shown.elements:
        assert not any(CODE.search(value or "") for value in attributes.values())


def test_every_page_says_how_to_read_it(shown: Any) -> None:
    headings = [" ".join(text.split()) for path, text in shown.texts if path[-1:] == ("h2",)]
    assert headings[0] == "How to read this page"


def test_abbreviations_of_tables_are_explained(tmp_path: Path, parse: Any) -> None:
    """Every abbreviation of the papers stands among the terms of its page."""
    known = {
        tri_layer_page(tmp_path): ("LAD", "VNS", "CS", "P.B.", "L.SC", "V.S.", "R.R."),
        yes_no_page(tmp_path): ("phi", "rho_N", "coverage"),
        deflection_page(tmp_path): ("confidence", "reliability gap"),
    }
    for page, terms in known.items():
        told = parse(page.read_text(encoding="utf-8")).words("dt")
        assert all(term in told for term in terms), page


@pytest.mark.parametrize(
    ("p", "told"),
    [(0.25, "0.250"), (0.0004, "< 0.001"), (0.0, "< 0.001"), (1.0, "1.000"), (0.001, "0.001"),
     (math.nan, "n/a"), (None, "n/a")],
)  # fmt: skip
def test_p_has_three_digits(p: float | None, told: str) -> None:
    assert p_value(p) == told


@pytest.mark.parametrize("at", [0, 1])
def test_an_estimate_is_formatted_in_any_column(at: int) -> None:
    cells: list[Any] = ["x", "y"]
    cells[at] = Estimate(0.625, 0.5, 0.75, 40)
    table = Table("t", (Column("a", "A", percent=True), Column("b", "B", percent=True)), (tuple(cells),))
    for write in (to_html, to_markdown, to_latex, to_csv):
        assert "Estimate" not in write(table)
    for write in (to_html, to_markdown, to_latex):
        assert "62.5" in write(table)
        assert "[50.0, 75.0]" in write(table)


def test_records_are_refused_where_they_are_no_text() -> None:
    measured = Measured(0.5, 0.25, 0.75, 4)
    with pytest.raises(TypeError, match="Estimate"):
        tag("p", measured)
    with pytest.raises(TypeError, match="Estimate"):
        Table("t", (Column("a", "A"),), ((measured,),))  # type: ignore[arg-type]
    assert "Estimate(" not in facts({"found": measured, "several": [measured, measured]})
    assert str(Estimate(0.5, 0.25, 0.75)) == "0.500 [0.250, 0.750]"
    assert str(Estimate(math.nan)) == "n/a"
