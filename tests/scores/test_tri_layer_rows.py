"""Rows of the Tri-Layer study on disk, their tables, and confidences read from files."""

import math
from pathlib import Path

import numpy as np
import pytest

from probekit.errors import InputError
from probekit.files import write_jsonl
from probekit.labels import LabelSet, RowLabel, Usage
from probekit.rows import RowKey
from probekit.scores.confidences import load_confidences
from probekit.scores.taxonomy import Category
from probekit.scores.tri_layer import (
    TriLayerRow,
    correlation,
    diagnose,
    load_rows,
    moments,
    response_rates,
    save_rows,
    selective_prediction,
)

ROWS = (
    TriLayerRow("m", "pope", "1", "a", 1.0, 2.0, 3.0, correct=True, sc_blind=True, sc_noise=True),
    TriLayerRow("m", "pope", "2", "a", 2.0, 0.5, 3.0, correct=False, sc_blind=False, sc_noise=False),
    TriLayerRow("m", "gqa", "3", "b", 2.0, 2.0, 3.0, correct=True, sc_blind=True, sc_noise=None),
    TriLayerRow("m", "gqa", "4", "c", 2.0, 2.5, math.nan, correct=None, sc_blind=None, sc_noise=True),
)


def same(a: TriLayerRow, b: TriLayerRow) -> bool:
    return repr(a) == repr(b)


def test_rows_survive_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    save_rows(path, ROWS)
    assert all(same(a, b) for a, b in zip(load_rows(path), ROWS, strict=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,task,sample_id\nm,t,s\n", "line 1.*image_id"),
        ("model,task,sample_id,image_id,nope\nm,t,s,i,1\n", "line 1.*nope"),
        ("model,task,sample_id,image_id,lad\nm,t,s,i,x\n", "line 2.*'lad' is 'x'"),
        ("model,task,sample_id,image_id,correct\nm,t,s,i,yes\n", "line 2.*'correct'"),
        ("model,task,sample_id,image_id,lad\nm,t,s,i\n", "line 2.*no cell"),
        ("model,task,sample_id,image_id\nm,t,,i\n", "line 2.*empty"),
    ],
)
def test_faulty_rows_name_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_rows(path)


def test_tables() -> None:
    rates = response_rates(ROWS, draws=0)
    assert (rates.accuracy.value, rates.accuracy.n, rates.accuracy.excluded) == (pytest.approx(2 / 3), 3, 1)
    mean, sd, n = moments(ROWS, "vns")
    assert (mean, n) == (pytest.approx(1.75), 4)
    assert sd == pytest.approx(np.std([2.0, 0.5, 2.0, 2.5], ddof=1))
    found = diagnose(ROWS, fewest=1)
    assert found.shares.n == 3
    assert found.shares.undefined == 1
    assert found.accuracy[Category.PERCEPTUAL_BLINDNESS] == 1.0
    assert math.isnan(diagnose(ROWS).accuracy[Category.PERCEPTUAL_BLINDNESS])


def test_correlation_counts_labels_as_numbers_and_needs_variation() -> None:
    rows = [
        TriLayerRow("m", "t", str(i), str(i), sc_blind=a, sc_noise=b)
        for i, (a, b) in enumerate([(True, True), (False, False), (True, True), (False, True), (None, True)])
    ]
    r, n = correlation(rows, "sc_blind", "sc_noise")
    assert n == 4
    assert r == pytest.approx(np.corrcoef([1, 0, 1, 0], [1, 0, 1, 1])[0, 1])
    assert math.isnan(correlation(ROWS, "cs", "vns")[0])


def test_confidences_of_tri_layer_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    save_rows(path, ROWS)
    (found,) = load_confidences(path)
    assert found.values.tolist() == [1.0, 0.5, 4.0]
    assert found.correct.tolist() == [True, False, True]
    assert found.unlabelled == 1
    assert selective_prediction(ROWS, draws=0).accuracy_at.value == 1.0


def test_confidences_of_a_plain_table(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("confidence,correct,image_id\n0.5,1,a\n,0,b\n0.1,,c\n")
    (found,) = load_confidences(path)
    assert found.correct.tolist() == [True, False]
    assert np.isnan(found.values).tolist() == [False, True]
    assert found.unlabelled == 1
    path.write_text("confidence,correct\n0.5,maybe\n")
    with pytest.raises(InputError, match="line 2"):
        load_confidences(path)
    path.write_text("score\n0.5\n")
    with pytest.raises(InputError, match="Needed"):
        load_confidences(path)


def test_confidences_of_a_run_join_labels_and_negate_scores(tmp_path: Path) -> None:
    usages = [(Usage.EXISTENTIAL, True), (Usage.EXISTENTIAL, False), (Usage.HEDGED, False)]
    keys = [RowKey("e", i) for i in range(3)]
    LabelSet.of(RowLabel(k, u, p) for k, (u, p) in zip(keys, usages, strict=True)).save(
        tmp_path / "labels" / "labels.jsonl"
    )
    write_jsonl(
        tmp_path / "rows.jsonl", ({"example_id": "e", "index": i, "image_id": "img"} for i in range(3))
    )
    (tmp_path / "scores.csv").write_text(
        "detector,variant,mix,seed,split,example_id,index,score,threshold,flagged\n"
        "svar,v,none,0,test,e,0,0.2,0.5,0\n"
        "svar,v,none,0,test,e,1,0.9,0.5,1\n"
        "svar,v,none,0,test,e,2,0.4,0.5,0\n"
        "svar,v,none,0,calibration,e,0,0.2,0.5,0\n"
    )
    (found,) = load_confidences(tmp_path)
    assert found.name == "svar (none, seed 0)"
    assert found.values.tolist() == [-0.2, -0.9]
    assert found.correct.tolist() == [True, False]
    assert found.images == ("img", "img")
    assert found.unlabelled == 1
