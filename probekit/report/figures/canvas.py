"""The style of every figure and how one becomes SVG, PNG or a piece of a page."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probekit.files import write_atomically
from probekit.report.markup import Html

Real = float | int

COLOURS: tuple[str, ...] = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
"""Okabe and Ito's palette without its yellow, which is too pale on white: told apart by every kind of
colour vision, and always together with a marker or a dash pattern."""
MARKERS: tuple[str, ...] = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (8, 2)),
    (0, (3, 1)),
    "-",
)
INK, GRID, PAPER = "#1f2328", "#d0d7de", "#fefefe"
WIDTH, HEIGHT = 5.6, 3.5
"""Inches. At this width the smallest text is about 9 px on a telephone."""

ROOM = 0.97
"""Part of an axis that its label may take: a page's own font may be wider than the one measured."""
PASSES = 4
"""Most rounds of folding labels and laying out again."""
LINE = 0.18
"""Inches of a line of text."""
SHORTEST = 12
"""Characters below which a label is not folded."""
LINES = 2
"""Lines of a legend that the height of a drawing allows for."""
_CHARACTERS = 64  # of legend text in one line, line samples counted as seven

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "axes.linewidth": 0.8,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "svg.fonttype": "none",
    "svg.hashsalt": "probekit",
}


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds a drawing.

    Attributes:
        name: file stem, unique within a page.
        title: what is shown, readable alone.
        x: label of the horizontal axis, unit included.
        y: label of the vertical axis, unit included.
        alt: what a reader who cannot see it should know.
        caption: what to look for, and which command gives the numbers.
    """

    name: str
    title: str
    x: str = ""
    y: str = ""
    alt: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Figure:
    """A drawing that is made when it is asked for; the same input gives the same bytes."""

    frame: Frame
    draw: Callable[[Any], None]
    width: float = WIDTH
    height: float = HEIGHT

    def svg(self, title: bool = True) -> str:
        """An SVG document; text stays text."""
        return self._render("svg", title=title).decode()

    def png(self, dots_per_inch: int = 160) -> bytes:
        """A PNG picture."""
        return self._render("png", dpi=dots_per_inch)

    def save(self, path: Path) -> Path:
        """Write as the suffix says, ``.svg`` or ``.png``.

        Raises:
            ValueError: any other suffix.
        """
        if path.suffix == ".svg":
            write_atomically(path, self.svg())
        elif path.suffix == ".png":
            write_atomically(path, self.png())
        else:
            raise ValueError(f"figures are written as .svg or .png, not {path.name!r}")
        return path

    def _render(self, kind: str, *, title: bool = True, dpi: int = 72) -> bytes:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Drawing

        with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE, "savefig.dpi": dpi}):
            drawing = Drawing(figsize=(self.width, self.height), layout="constrained", facecolor=PAPER)
            FigureCanvasAgg(drawing)
            axes = drawing.add_subplot()
            self.draw(axes)
            axes.set(xlabel=literal(self.frame.x), ylabel=literal(self.frame.y))
            if title:
                axes.set_title(literal(self.frame.title), wrap=True)
            _fold_labels(drawing, axes)
            out = io.BytesIO()
            # a date or a version in the file would make equal figures differ
            metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
            drawing.savefig(out, format=kind, metadata=metadata)
        return out.getvalue()


def no_data(axes: Any) -> None:
    """Say in an empty drawing that it is empty."""
    axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", va="center", fontsize=12)
    axes.set(xticks=[], yticks=[])


def _fold_labels(drawing: Any, axes: Any) -> None:
    """Fold axis labels that are longer than their axis, which would be cut at the edge of the drawing.

    A folded label takes room from the axes, so this is done until nothing more changes.
    """
    whole = {label: label.get_text() for label in (axes.xaxis.label, axes.yaxis.label)}
    for _ in range(PASSES):
        drawing.draw_without_rendering()
        before = [label.get_text() for label in whole]
        _fold(axes.yaxis.label, whole[axes.yaxis.label], axes, "height")
        _fold(axes.xaxis.label, whole[axes.xaxis.label], axes, "width")
        if [label.get_text() for label in whole] == before:
            return
        taller = axes.xaxis.label.get_text().count("\n") - before[0].count("\n")
        _grow(drawing, taller)


def _fold(label: Any, whole: str, axes: Any, side: str) -> None:
    room = ROOM * getattr(axes.get_window_extent(), side)
    for characters in range(len(label.get_text()), SHORTEST, -1):
        if getattr(label.get_window_extent(), side) <= room:
            return
        label.set_text(
            "\n".join(textwrap.fill(line, characters, break_on_hyphens=False) for line in whole.split("\n"))
        )


def _grow(drawing: Any, lines: int) -> None:
    """Make a drawing taller by so many lines of text, which would otherwise be taken from its axes."""
    width, height = drawing.get_size_inches()
    drawing.set_size_inches(width, height + LINE * max(lines, 0))


def literal(value: str) -> str:
    """Text that matplotlib must not read as mathematics: a lone ``$`` in a name is a dollar sign."""
    return value.replace("$", r"\$")


def legend_below(axes: Any, entries: int) -> None:
    """A legend under the plot, where it covers nothing; as many abreast as fit the width."""
    if entries > 1:
        handles, labels = axes.get_legend_handles_labels()
        abreast = max(1, min(3, entries, _CHARACTERS // (max(map(len, labels)) + 7)))
        _grow(axes.figure, -(-len(handles) // abreast) - LINES)
        axes.figure.legend(handles, labels, loc="outside lower center", ncols=abreast)


def inline(figure: Figure) -> Html:
    """The SVG for a page: no document head, ids of its own, colours that follow the page's theme."""
    svg = figure.svg(title=False)
    svg = re.sub(r"^.*?(?=<svg)", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\s*xmlns(:\w+)?="[^"]*"', "", svg, count=2)
    svg = svg.replace("xlink:href=", "href=")
    name = re.sub(r"\W", "-", figure.frame.name)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    svg = svg.replace(INK, "currentColor").replace(GRID, "var(--line)").replace(PAPER, "none")
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r'\1 role="presentation"', svg, count=1)
    return Html(svg)
