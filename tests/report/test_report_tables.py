"""Tables hold the evaluation's numbers, each where it belongs, and say what is missing and why."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import pytest

from probekit.detectors import DETECTORS
from probekit.evaluation.records import Evaluation, Record
from probekit.report.formats import to_csv, to_html, to_latex, to_markdown
from probekit.report.tables import Column, Estimate, Table, full_table, mixes, results_table

NAN = math.nan


def record(detector: str, mix: str, measure: str, value: float, **other: object) -> Record:
    fields: dict[str, object] = {
        "variant": detector, "population": "all", "subtype": "all",
        "low": value - 0.01, "high": value + 0.01, "n": 50,
    }  # fmt: skip
    return Record(detector=detector, mix=mix, measure=measure, value=value, **{**fields, **other})  # type: ignore[arg-type]


def test_csv_holds_every_number_to_the_last_bit(full_run: Path) -> None:
    evaluation = Evaluation.load(full_run / "evaluation.json")
    rows = {
        (row["detector"], row["variant"], row["mix"]): row
        for row in csv.DictReader(io.StringIO(to_csv(full_table(evaluation))))
    }
    checked = 0
    for r in evaluation.records:
        if r.population == "position_matched" and r.measure != "auroc":
            continue
        name = {
            "auroc": f"auroc_{r.population}",
            "tpr": "tpr",
            "fpr_concrete": "fpr_concrete",
            "fpr_non_assertive": "fpr_non_assertive" if r.subtype == "all" else f"fpr_{r.subtype}",
        }[r.measure]
        row = rows[r.detector, r.variant, r.mix]
        for part, value in (("", r.value), ("_low", r.low), ("_high", r.high)):
            if math.isnan(value):
                assert row[name + part] == "n/a"
            else:
                assert float(row[name + part]) == value
        assert int(row[f"{name}_n"]) == r.n
        checked += 1
    assert checked == len(rows) * 9


def test_rows_follow_the_shelf_then_appearance() -> None:
    names = ["zebra", "position", "svar", "hidden_mid", "aardvark"]
    table = results_table(Evaluation(tuple(record(n, "none", "auroc", 0.5) for n in names)), "none")
    shelf = [name for name in DETECTORS if name in names]
    assert [row[0] for row in table.rows] == [*shelf, "zebra", "aardvark"]


def test_mixes_in_the_order_of_budgets() -> None:
    order = ("other", "100", "max", "natural", "30", "none", "10")
    found = mixes(Evaluation(tuple(record("svar", mix, "tpr", 0.5) for mix in order)))
    assert found == ("none", "natural", "10", "30", "100", "max", "other")


def test_two_variants_are_two_rows() -> None:
    records = tuple(
        record("svar", "none", "auroc", v, variant=k) for k, v in (("aaaa", 0.25), ("bbbb", 0.75))
    )
    table = results_table(Evaluation(records), "none")
    values = [(row[1], row[3].value) for row in table.rows if isinstance(row[3], Estimate)]
    assert values == [("aaaa", 0.25), ("bbbb", 0.75)]


def test_untrained_detectors_stand_beside_every_mix_and_trained_ones_do_not() -> None:
    evaluation = Evaluation(
        (
            record("svar", "none", "auroc", 0.6),
            record("hidden_mid", "none", "auroc", 0.7),
            record("hidden_mid", "30", "auroc", 0.8),
            record("lookback", "none", "auroc", 0.7),
            record("lookback", "10", "auroc", 0.8),
        )
    )
    rows = {row[0]: row for row in results_table(evaluation, "30").rows}
    assert (rows["svar"][2], rows["svar"][3]) == ("none", Estimate(0.6, 0.59, 0.61, 50))
    assert rows["hidden_mid"][3] == Estimate(0.8, 0.8 - 0.01, 0.8 + 0.01, 50)
    absent = rows["lookback"][3]
    assert isinstance(absent, Estimate)
    assert math.isnan(absent.value)
    assert absent.reason == "not trained with mix 30"


def test_missing_is_said_with_its_reason_and_never_zero() -> None:
    evaluation = Evaluation(
        (
            record("nll", "none", "auroc", NAN, n=12),
            record("nll", "none", "fpr_non_assertive", NAN, subtype="negation", n=0),
        )
    )
    table = results_table(evaluation, "none")
    reasons = {
        column.key: cell.reason
        for column, cell in zip(table.columns, table.rows[0], strict=True)
        if isinstance(cell, Estimate)
    }
    assert reasons["auroc_all"] == "cannot be computed from these mentions"
    assert reasons["fpr_negation"] == "no mentions of this kind"
    assert reasons["tpr"] == "not in the evaluation"
    for written in (to_markdown(table), to_latex(table), to_html(table)):
        assert "n/a" in written
        assert "nan" not in written.lower().replace("n/a", "")
        assert "0.000" not in written
    assert 'title="no mentions of this kind"' in to_html(table)


def test_reasons_of_the_evaluation_come_first() -> None:
    place = {"detector": "nll", "variant": "nll", "mix": "none"}
    what = {"measure": "tpr", "population": "all", "subtype": "all"}
    counts = {
        "not_available": [
            {**place, **what, "seed": 0, "reason": "no calibration mention"},
            {**place, **what, "seed": 1, "reason": "no calibration mention"},
            {**place, "seed": 2, "reason": "fit refused"},
        ]
    }
    evaluation = Evaluation((record("nll", "none", "auroc", NAN), record("nll", "none", "tpr", NAN)), counts)
    cells = dict(
        zip((c.key for c in full_table(evaluation).columns), full_table(evaluation).rows[0], strict=True)
    )
    reasons = {key: cell.reason for key, cell in cells.items() if isinstance(cell, Estimate)}
    assert reasons["tpr"] == "no calibration mention"
    assert reasons["auroc_all"] == "fit refused"


def test_readers_see_percent_for_rates_and_shares_for_auroc() -> None:
    evaluation = Evaluation((record("svar", "none", "auroc", 0.8125), record("svar", "none", "tpr", 0.625)))
    line = to_markdown(results_table(evaluation, "none")).splitlines()[4]
    assert "| 0.812 [0.802, 0.823] |" in line
    assert "| 62.5 [61.5, 63.5] |" in line


@pytest.mark.parametrize("evil", ["a|b", "<b>x</b>", r"\input{x}", "100 %", "$x_1$", "two\nlines"])
def test_names_cannot_break_a_format(evil: str) -> None:
    table = Table(evil, (Column("name", "Name"), Column("n", "N")), ((evil, 1200),), evil)
    rows = [line for line in to_markdown(table).splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert all(line.replace("\\|", "").count("|") == 3 for line in rows)
    assert "<b>" not in to_markdown(table).split("###")[1].splitlines()[4]
    assert "<b>" not in to_html(table)
    latex = to_latex(table)
    assert "\\input{" not in latex
    assert "$x_1$" not in latex
    assert "100 %" not in latex.replace(r"\%", "")
    assert latex.count(r"\begin{") == latex.count(r"\end{") == 2


def test_csv_reads_back_text_with_commas_and_quotes() -> None:
    table = Table("t", (Column("name", "Name"), Column("n", "N")), (('a,"b"\nc', 3), ("d", 4)))
    assert list(csv.reader(io.StringIO(to_csv(table)))) == [["name", "n"], ['a,"b"\nc', "3"], ["d", "4"]]


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells under 1 columns"):
        Table("t", (Column("a", "A"),), (("x", "y"),))
