"""Figures: the same bytes twice, valid documents, numbers drawn where they belong."""

from __future__ import annotations

import io
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

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
