"""The two offline studies, run as their users run them."""

import subprocess
import sys
from pathlib import Path

from probekit.scores.tri_layer import TriLayerRow, save_rows

ROOT = Path(__file__).resolve().parents[2]


def study(name: str, *arguments: object) -> str:
    command = [sys.executable, "-m", f"analysis.{name}", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_ghost_consistency_writes_its_table(tmp_path: Path) -> None:
    assert "32 checks, 11 inconsistent" in study("ghost_consistency", "--out", tmp_path)
    lines = (tmp_path / "ghost_consistency.csv").read_text().splitlines()
    assert len(lines) == 33
    assert sum(line.endswith(",inconsistent") for line in lines) == 11


def test_tri_layer_tables_from_rows(tmp_path: Path) -> None:
    rows = [
        TriLayerRow(
            model,
            "pope",
            f"s{i}",
            f"i{i}",
            lad=3.0,
            vns=0.5 if i < small else 2.0,
            cs=1.0,
            correct=i >= small,
            sc_blind=i % 2 == 0,
            sc_noise=i % 2 == 0,
            refused=i % 4 == 0,
        )
        for model, small in (("small", 8), ("large", 2))
        for i in range(20)
    ]
    save_rows(tmp_path / "rows.csv", rows)
    study("tri_layer_tables", tmp_path / "rows.csv", "--out", tmp_path / "out", "--pair", "small", "large")
    table4 = (tmp_path / "out" / "table4.md").read_text().splitlines()
    assert table4[2].startswith("| small | 0.0 | 40.0 | 60.0 | 0.0 | — | 0.0 | 100.0 | — | 60.0 |")
    table7 = (tmp_path / "out" / "table7.md").read_text()
    assert "| large | 90.0" in table7
    assert "1.000 (n=20)" in (tmp_path / "out" / "correlations.md").read_text()
    assert len(list((tmp_path / "out").glob("*.md"))) == 9
