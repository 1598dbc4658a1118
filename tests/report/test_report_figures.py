"""Figures: the same bytes twice, valid documents, numbers drawn where they belong."""

from __future__ import annotations

import io
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from probekit.report.figures import (
    Figure,
    Frame,
    Point,
    Series,
    bar_figure,
    flow_figure,
    heat_figure,
    histogram_figure,
    inline,
    iso_f1_figure,
    line_figure,
    risk_coverage_figure,
    scatter_figure,
)

FRAME = Frame("a-name", "A <title> & more", "x, tokens", "y, share", "alt", "caption")
NAN = math.nan
KINDS: dict[str, Figure] = {
    "line": line_figure(
        FRAME,
        [Series("one", ["none", "10"], [0.1, NAN], [0.0, NAN], [0.2, NAN]), Series("two", ["10"], [0.4])],
        reference=0.1,
    ),
    "band": line_figure(FRAME, [Series("one", [1.0, 2.0], [0.1, 0.2], [0.0, 0.1], [0.2, 0.3])]),
    "risk": risk_coverage_figure(FRAME, [Series("one", [0.5, 1.0], [0.1, 0.2])]),
    "bar": bar_figure(FRAME, [Series("one", ["p", "q"], [0.1, NAN], [0.0, NAN], [0.2, NAN])], reference=0.5),
    "histogram": histogram_figure(FRAME, {"one": [1, 2, 2, 9], "two": np.array([3.0, NAN]), "none": []}),
    "heat": heat_figure(FRAME, np.array([[0.1, NAN, -0.4], [0.2, 0.3, 0.0]]), "Cohen's d", centre=0.0),
    "scatter": scatter_figure(FRAME, [Point("one", [0.1], [0.2]), Point("two", [0.3], [0.1])], diagonal=True),
    "iso": iso_f1_figure(FRAME, [Point("one", [0.8], [0.7])]),
    "flow": flow_figure(FRAME, {("yes", "yes"): 60, ("yes", "no"): 0, ("no", "yes"): 30, ("no", "no"): 10}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_same_bytes_twice_and_no_date(kind: str) -> None:
    first, second = KINDS[kind].svg(), KINDS[kind].svg()
    assert first == second
    assert "dc:date" not in first
    root = ET.fromstring(first)
    assert root.tag.endswith("svg")
    words = " ".join(element.text or "" for element in root.iter() if element.tag.endswith("text"))
    assert "A <title> & more" in words
    assert "x, tokens" in words


@pytest.mark.parametrize("kind", KINDS)
def test_inline_needs_nothing_and_keeps_its_ids_to_itself(kind: str) -> None:
    markup = inline(KINDS[kind])
    assert "http" not in markup
    assert "<style" not in markup
    assert "<!DOCTYPE" not in markup
    identifiers = re.findall(r'\bid="([^"]*)"', markup)
    assert identifiers
    assert all(identifier.startswith("a-name-") for identifier in identifiers)
    used = re.findall(r"url\(#([^)]*)\)", markup) + re.findall(r'href="#([^"]*)"', markup)
    assert set(used) <= set(identifiers)
    ET.fromstring(markup)


def test_png_and_svg_files(tmp_path: Path) -> None:
    figure = KINDS["line"]
    assert figure.save(tmp_path / "a" / "f.svg").read_text() == figure.svg()
    with Image.open(io.BytesIO(figure.save(tmp_path / "f.png").read_bytes())) as picture:
        assert picture.format == "PNG"
        assert picture.width == round(5.6 * 160)
    with pytest.raises(ValueError, match=r"f\.bmp"):
        figure.save(tmp_path / "f.bmp")


def test_a_dollar_sign_in_a_name_is_a_dollar_sign() -> None:
    odd = Frame("n", r"cost $\frac$ up", "$x", "y$")
    assert (
        r"cost $\frac$ up" in line_figure(odd, [Series("$a$", [1.0], [1.0]), Series("b", [1.0], [1.0])]).svg()
    )


def test_histogram_gives_shares_on_whole_bins() -> None:
    captured: list[tuple[np.ndarray, np.ndarray]] = []

    class Axes:
        """Stands in for matplotlib's axes."""

        figure = None

        def stairs(self, values: np.ndarray, edges: np.ndarray, **_: object) -> None:
            captured.append((values, edges))

        def set_ylim(self, **_: object) -> None: ...

    # one class needs no legend, so the stand-in suffices
    histogram_figure(FRAME, {"one": [0, 1, 1, 5, NAN]}, bins=20).draw(Axes())
    values, edges = captured[0]
    np.testing.assert_allclose(edges[:7], np.arange(-0.5, 6.0))
    np.testing.assert_allclose(values[:6], [0.25, 0.5, 0, 0, 0, 0.25])


def test_flow_names_every_state_with_its_count() -> None:
    svg = KINDS["flow"].svg()
    words = [element.text for element in ET.fromstring(svg).iter() if element.tag.endswith("text")]
    counts = [word for word in words if word and word.strip().isdigit()]
    assert sorted(counts) == ["10", "40", "60", "90"]


LONG = Frame(
    "long", "Where in depth the wording of a question moves the attention of a model on its picture",
    "mix of training examples; below it, how many non-assertive training examples there were in all of them",
    "attention mass on the image, mean over heads and blocks, in shares of the whole", "alt", "caption",
)  # fmt: skip
NAMES = ["a detector with a very long name", "another such detector", "a third"]
CROWDED: dict[str, Figure] = {
    "line": line_figure(LONG, [Series(n, ["T1", "T2"], [0.1, 0.3], [0.0, 0.2], [0.2, 0.4]) for n in NAMES]),
    "layers": line_figure(LONG, [Series(n, list(range(40)), [0.1] * 40) for n in NAMES], markers=False),
    "bar": bar_figure(
        replace(LONG, y=""), [Series(n, NAMES, [0.1, 0.2, 0.3]) for n in NAMES], limits=(0.0, 1.0)
    ),
    "histogram": histogram_figure(LONG, {n: [0.1, 0.2, 5.0] for n in NAMES}),
    "heat": heat_figure(LONG, np.arange(800.0).reshape(40, 20), "Cohen's d, pooled", centre=0.0),
    "scatter": scatter_figure(LONG, [Point(n, [0.1, 0.3], [0.2, 0.5]) for n in NAMES]),
    "iso": iso_f1_figure(LONG, [Point(n, [0.8], [0.7]) for n in NAMES]),
    "risk": risk_coverage_figure(LONG, [Series(n, [0.5, 1.0], [0.1, 0.2]) for n in NAMES]),
}


def laid_out(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[tuple[str, Any]]]:
    """The edge of a drawing and the box of every text that matplotlib draws in it."""
    from matplotlib.text import Text

    boxes: dict[int, tuple[str, Any]] = {}
    edge: list[Any] = []
    draw = Text.draw

    def measured(self: Any, renderer: Any, *arguments: Any, **options: Any) -> None:
        if self.get_text().strip() and self.get_visible():
            # drawn several times: what stands in the file is the last
            boxes[id(self)] = (self.get_text(), self.get_window_extent(renderer))
            edge[:] = [self.get_figure().bbox.frozen()]
        draw(self, renderer, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Text, "draw", measured)
        figure.png(100)
    return edge[0], list(boxes.values())


@pytest.mark.parametrize("kind", CROWDED)
def test_no_text_is_cut_or_lies_on_another(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    edge, found = laid_out(CROWDED[kind], monkeypatch)
    seen = [" ".join(words.split()) for words, _ in found]
    frame = CROWDED[kind].frame
    assert {label for label in (frame.x, frame.y) if label} <= set(seen)
    for words, box in found:
        assert box.x0 >= edge.x0 - 1, words
        assert box.x1 <= edge.x1 + 1, words
        assert box.y0 >= edge.y0 - 1, words
        assert box.y1 <= edge.y1 + 1, words
    for i, (words, box) in enumerate(found):
        for others, other in found[i + 1 :]:
            across = min(box.x1, other.x1) - max(box.x0, other.x0)
            along = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert across <= 1.5 or along <= 1.5, f"{words!r} lies on {others!r}"


def test_layers_are_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Series("a", list(range(15)), [0.1 * n for n in range(15)])
    _, found = laid_out(line_figure(Frame("f", "t", "layer", "mass"), [line]), monkeypatch)
    places = [words for words, _ in found if re.fullmatch(r"[\d.]+", words)]
    assert not any(re.fullmatch(r"\d+\.5", words) and float(words) > 1.5 for words in places)


EMPTY: dict[str, Figure] = {
    "line": line_figure(FRAME, [Series("one", ["T1"], [NAN], [NAN], [NAN])]),
    "none": line_figure(FRAME, []),
    "bar": bar_figure(FRAME, [Series("one", ["p"], [NAN])]),
    "histogram": histogram_figure(FRAME, {"one": [NAN], "two": []}),
    "heat": heat_figure(FRAME, np.full((2, 2), NAN), "d", centre=0.0),
    "scatter": scatter_figure(FRAME, [Point("one", [], [])]),
    "flow": flow_figure(FRAME, {("yes", "no"): 0}),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_an_empty_figure_says_so(kind: str) -> None:
    assert "no data" in EMPTY[kind].svg()
