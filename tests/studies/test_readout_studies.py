"""The studies about readouts and effect sizes run as they are documented."""

import json
import os
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from probekit.benchmarks.pope_splits import KINDS, generate_split, save_split
from probekit.captures import InternalConfidence
from probekit.readouts.toys import byte_level_bpe, toy_logits
from probekit.store import Header, RowTable, StoreWriter

ROOT = Path(__file__).resolve().parents[2]


def run(module: str, *arguments: object) -> None:
    """Run a study in this process; studies are never imported."""
    before, path, folder = sys.argv, list(sys.path), Path.cwd()
    sys.argv = [module, *map(str, arguments)]
    sys.path.insert(0, str(ROOT))
    os.chdir(ROOT)
    try:
        runpy.run_module(f"analysis.{module}", run_name="__main__")
    finally:
        sys.argv, sys.path[:] = before, path
        os.chdir(folder)


def test_the_table_of_the_documentation_is_up_to_date(tmp_path: Path) -> None:
    run("readout_table", "--out", tmp_path / "readouts.md")
    assert (tmp_path / "readouts.md").read_text() == (ROOT / "docs" / "readouts.md").read_text()


def test_the_whole_audit_is_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer = byte_level_bpe()
    tokenizer.inner.save(str(tmp_path / "tokenizer.json"))
    rng = np.random.default_rng(0)
    names = ["dog", "cat", "bus", "oven", "kite", "cup", "person", "bench"]
    world = {f"{i}.png": rng.choice(names, 4, replace=False).tolist() for i in range(12)}
    for kind in KINDS:
        folder = tmp_path / kind
        split = generate_split(world, kind)
        save_split(split, folder / "questions.jsonl")
        said = tuple(" Yes" if row["label"] == "yes" else " No" for row in split.rows)
        np.save(folder / "logits.npy", toy_logits(tokenizer, said).astype(np.float32))
        if kind == "adversarial":
            np.save(folder / "attention.npy", rng.random((len(said), 4, 2)))
        lines = [
            json.dumps({"question_id": row["question_id"], "answer": answer}) + "\n"
            for row, answer in zip(split.rows, said, strict=True)
        ]
        (folder / "answers.jsonl").write_text("".join(lines))
    run("pope_audit", tmp_path, "--out", tmp_path / "out", "--draws", 10)
    record = json.loads((tmp_path / "out" / "pope_audit.json").read_text())
    assert list(record) == ["random", "popular", "adversarial"]
    for split in record.values():
        assert split["reference"] == "dynamic_single"
        assert split["readouts"]["dynamic_single"]["scores"]["f1"]["value"] == 1.0
        assert split["readouts"]["legacy_8tok"]["scores"] is None
    page = (tmp_path / "out" / "pope_audit.html").read_text()
    assert all(f"Running yes-rate, {kind}" in page for kind in KINDS)
    assert "refused" in capsys.readouterr().out
    header = (tmp_path / "out" / "readouts.csv").read_text().splitlines()[0]
    assert "coverage" in header


def test_effects_of_a_store(tmp_path: Path) -> None:
    rows = RowTable(
        *(np.array(column, dtype=object) for column in ([f"e{i}" for i in range(40)],)),
        np.zeros(40, dtype=np.int64),
        *(np.array(column, dtype=object) for column in ([f"{i}" for i in range(40)], ["dog"] * 40)),
        *(np.full(40, value) for value in (5, 6, 20, 30, 9, 1, 7)),
    )
    values = np.random.default_rng(0).random((40, 4)).astype(np.float32)
    values[::2, 3] += 1
    header = Header("0" * 16, "tiny", "r1", "llava", "sdpa", "float32", "t", {}, 1.0, 3, 2, 8, 11, 40, {})
    with StoreWriter.create(tmp_path / "store", header, (InternalConfidence(),)) as writer:
        writer.write(0, rows, {InternalConfidence(): values})
    groups = tmp_path / "groups.jsonl"
    groups.write_text(
        "".join(
            json.dumps({"example_id": f"e{i}", "index": 0, "group": ("right", "wrong")[i % 2]}) + "\n"
            for i in range(40)
        )
    )
    run(
        "effects",
        tmp_path / "store",
        "--groups",
        groups,
        "--capture",
        InternalConfidence().key,
        "--first",
        "right",
        "--second",
        "wrong",
        "--draws",
        10,
        "--out",
        tmp_path / "out",
    )
    record = json.loads((tmp_path / "out" / "effects.json").read_text())
    assert record["tests"] == 4
    assert [p[0] < 0.01 for p in record["p_rank_holm"]] == [False, False, False, True]
    page = (tmp_path / "out" / "effects.html").read_text()
    assert "Cohen" in page
    for told in (str(tmp_path / "store"), "selected:", "two-sided", "take rows for independent"):
        assert told in page
