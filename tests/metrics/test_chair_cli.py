"""``probekit mentions`` and ``probekit chair`` on the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "real"


def probekit(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", "from probekit.cli import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ}, check=False)


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    path = tmp_path / "captions.jsonl"
    lines = [
        {"image_id": 1, "caption": "A dog and a mouse pad. No cars are visible. A cat sits on the"},
        {"image_id": 2, "caption": "A bench."},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_mentions_writes_rows_and_says_what_it_trimmed(tmp_path: Path, captions: Path) -> None:
    rows, dropped = tmp_path / "rows.jsonl", tmp_path / "dropped.jsonl"
    done = probekit(
        *("mentions", str(captions), "--out", str(rows), "--dropped", str(dropped), "--complete-sentences")
    )
    assert done.returncode == 0, done.stderr
    assert "1 of 2 captions lost an unfinished last sentence" in done.stdout
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [row["category"] for row in found] == ["dog", "car", "bench"]
    assert found[0]["caption"].endswith("visible.")
    assert json.loads(dropped.read_text())["expression"] == "mouse pad"


def test_chair_json(tmp_path: Path, captions: Path) -> None:
    objects = tmp_path / "objects.json"
    objects.write_text(json.dumps({"1": ["dog"], "2": []}))
    per_caption = tmp_path / "per_caption.jsonl"
    done = probekit(
        *("chair", str(captions), "--objects", str(objects), "--vocabulary", "name-bench", "--json"),
        *("--per-caption", str(per_caption)),
    )
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert (value["mentions"], value["hallucinated"], value["chair_s"]) == (4, 3, 1.0)
    assert value["assertion_aware"]["usages"]["negation"] == 1
    assert value["assertion_aware"]["hallucinated"] == 2
    lines = [json.loads(line) for line in per_caption.read_text().splitlines()]
    assert [line["chair_s"] for line in lines] == [1, 1]


def test_chair_without_references_is_not_available(captions: Path) -> None:
    done = probekit("chair", str(captions))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("n/a") >= 2


def test_bad_input_exits_with_two_and_names_it(tmp_path: Path, captions: Path) -> None:
    objects = tmp_path / "objects.json"
    objects.write_text(json.dumps({"1": ["dgo"]}))
    done = probekit("chair", str(captions), "--objects", str(objects))
    assert done.returncode == 2
    assert "image '1'" in done.stderr
    assert "'dog'" in done.stderr
    done = probekit("mentions", str(captions), "--vocabulary", "chiar", "--out", str(tmp_path / "r"))
    assert done.returncode == 2
    assert "Did you mean chair?" in done.stderr


@pytest.mark.skipif(not REAL.is_dir(), reason="no shared data")
def test_published_numbers_through_the_command() -> None:
    done = probekit(
        *("chair", str(REAL / "llava-1.5-7b_greedy_captions.jsonl"), "--vocabulary", "chair", "--json"),
        *("--objects", str(REAL / "coco_objects.json")),
    )
    value = json.loads(done.stdout)
    assert (value["mentions"], value["hallucinated"], value["chair_s"]) == (3452, 439, 0.438)
    assert round(value["chair_i"], 4) == 0.1272
    assert value["chair_i_low"] < value["chair_i"] < value["chair_i_high"]
