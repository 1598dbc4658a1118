"""Terminal tables lose no character of any cell, at any width, and name what they leave out."""

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from probekit.evaluation.records import Evaluation, Record
from probekit.report.tables import Column, Estimate, Table, results_table
from probekit.report.terminal import to_terminal

WIDTHS = (200, 160, 120, 100, 81, 80, 79, 60, 40, 24)
NUMBERS = Table(
    "Contrasts of two groups of samples under pictures that were replaced by other ones",
    (Column("score", "Score"), Column("first", "Higher in"), Column("second", "than in"),
     Column("auroc", "AUROC"), Column("mean", "Mean, first"), Column("other", "Mean, second"),
     Column("n", "n")),
    tuple(
        (f"lad_{n}", "another real picture", "black", Estimate(1.0, 0.98 + n / 1000, 1.0),
         Estimate(-3.125 - n, -3.25 - n, -1.0625), Estimate(0.809, 0.734, 0.877), f"{n + 1} - 36")
        for n in range(3)
    ),
    "AUROC 0.5: no difference; below 0.5: lower, not higher. Intervals of 95 % resample pictures.",
)  # fmt: skip


def printed(table: Table, width: int, files: str = "") -> list[str]:
    """What a terminal of this width shows, which itself cuts whatever is too long."""
    console = Console(width=width, file=io.StringIO(), record=True, markup=False, highlight=False)
    console.print(to_terminal(table, width, files))
    return console.export_text().splitlines()


def squeezed(lines: list[str]) -> str:
    return "".join("".join(lines).split())


@pytest.mark.parametrize("width", WIDTHS)
def test_no_number_is_cut_at_any_width(width: int) -> None:
    lines = printed(NUMBERS, width)
    assert max(map(len, lines)) <= width
    shown = squeezed(lines)
    assert "\u2026" not in shown
    for n in range(3):
        assert f"{n + 1}-36" in shown
        assert f"{-3.125 - n:.3f}" in shown
    assert shown.count("0.809") == 3
    for at in range(len(shown)):
        # a bracket that opens is closed, as no interval has text between its ends
        if shown[at] == "[":
            assert "]" in shown[at : at + 16]


@pytest.mark.parametrize("width", WIDTHS)
def test_captions_wrap_and_lose_no_word(width: int) -> None:
    assert "".join(NUMBERS.caption.split()) in squeezed(printed(NUMBERS, width))


def test_where_intervals_go_the_reader_is_told_and_files_are_named_only_if_there_are_any() -> None:
    bare = " ".join(" ".join(printed(NUMBERS, 60)).split())
    assert "Too narrow here for intervals" in bare
    assert "files" not in bare
    assert "has them" not in bare
    assert "runs/x/tables has them" in " ".join(" ".join(printed(NUMBERS, 60, "runs/x/tables")).split())
    assert "Too narrow" not in " ".join(printed(NUMBERS, 200, "runs/x/tables"))


@pytest.mark.parametrize("width", WIDTHS)
def test_texts_are_folded_whole(width: int) -> None:
    long = "a/very/long/path/without/any/blank/that/no/terminal/holds/" * 3
    table = Table("Paths", (Column("p", "Path"), Column("n", "Count")), ((long, 12_345), ("b", 7)))
    lines = printed(table, width)
    assert max(map(len, lines)) <= width
    if width > 60:  # stacked or folded, the pieces of the path stand below one another
        pieces = [line.split()[0] for line in lines if "/" in line]
        assert "".join(pieces) == long
    assert "12,345" in squeezed(lines)


def test_columns_that_are_left_out_are_named(full_run: Path) -> None:
    evaluation = Evaluation.load(full_run / "evaluation.json")
    table = results_table(evaluation, "natural")
    for width, gone in ((200, ()), (120, ("Variant",)), (80, ("Variant", "FPR hedged", "FPR purpose"))):
        text = " ".join(" ".join(printed(table, width)).split())
        shown, _, note = text.partition("Too narrow here for ")
        assert bool(note) == bool(gone)
        assert all(name in note and name not in shown for name in gone)


@pytest.mark.parametrize("width", [200, 160, 100, 80])
def test_every_auroc_of_an_evaluation_is_whole(full_run: Path, width: int) -> None:
    evaluation = Evaluation.load(full_run / "evaluation.json")
    lines = printed(results_table(evaluation, "natural"), width)
    assert max(map(len, lines)) <= width
    shown = " ".join(lines)
    for r in evaluation.records:
        if (r.mix, r.measure) == ("natural", "auroc"):
            assert f"{r.value:.3f}" in shown
            if "intervals" not in shown.split("Too narrow")[-1]:
                assert f"[{r.low:.3f}, {r.high:.3f}]" in shown


def test_markup_is_text() -> None:
    record = Record("[bold]x[/bold]", "x", "none", "auroc", "all", "all", 0.625, 0.6, 0.7, 50)
    shown = "\n".join(printed(results_table(Evaluation((record,)), "none"), 200))
    assert "[bold]x[/bold]" in shown
    assert "0.625 [0.600, 0.700]" in shown


def test_numbers_end_below_one_another() -> None:
    table = Table(
        "T", (Column("a", "Name"), Column("p", "p")), (("x", "0.25"), ("yy", "n/a"), ("z", "< 0.001"))
    )
    ends = {
        len(line.rstrip()) for line in printed(table, 80) if line.strip().startswith(("x", "yy", "z", "Name"))
    }
    assert len(ends) == 1


def test_output_that_is_no_terminal_is_wide() -> None:
    code = (
        "from probekit.report.terminal import show; from probekit.report.tables import *; "
        "show([Table('T', tuple(Column(f'c{n}', f'Column {n}') for n in range(8)), "
        "((Estimate(0.5, 0.25, 0.75),) * 8,))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={"PATH": "", "OMP_NUM_THREADS": "1"})  # fmt: skip
    assert done.stdout.count("0.500 [0.250, 0.750]") == 8
    assert len({line for line in done.stdout.splitlines() if "0.500" in line}) == 1


def test_stacked_rows_hold_every_cell() -> None:
    names = [f"{a}{b}" for a, b in itertools.product("abcdef", "0123456789")]
    table = Table("Many", tuple(Column(n, n) for n in names), (tuple(float(i) for i in range(60)),))
    shown = printed(table, 80)
    for i, name in enumerate(names[1:], 1):
        assert f"{name}: {i:.3f}" in "\n".join(shown)
