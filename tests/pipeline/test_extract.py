"""Extraction: shards that survive SIGKILL, resume, batch independence, bad input."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from probekit.captures import parse_capture
from probekit.errors import InputError
from probekit.files import read_jsonl, write_jsonl
from probekit.pipeline.extract import extract
from probekit.store import Store

SCRIPT = """
import sys
from pathlib import Path
from probekit import jobs
from probekit.pipeline.extract import extract
extract(jobs.load(Path(sys.argv[1]), jobs.ExtractJob))
"""


def contents(store):
    """Content digest of every shard of a store and its companion."""
    found = {}
    for folder in (store, store / "text_only"):
        for _, line in read_jsonl(folder / "manifest.jsonl"):
            found[folder.name, line["shard"]] = line["content"]
    return found


def shards_written(store):
    manifest = store / "manifest.jsonl"
    return manifest.read_text().count("\n") if manifest.exists() else 0


def test_three_kills_and_a_resume_give_the_bytes_of_an_unbroken_run(work, extract_job, tmp_path):
    unbroken = extract_job(work, out=work / "unbroken")
    extract(unbroken)
    expected = contents(work / "unbroken")
    job = tmp_path / "job.yaml"
    values = extract_job(work).model_dump(mode="json")
    job.write_text(json.dumps(values))
    command = [sys.executable, "-c", SCRIPT, str(job)]
    for stop_at in (1, 2, 4):
        process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
        deadline = time.monotonic() + 240
        while shards_written(work / "store") < stop_at and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
    survivors = contents_so_far(work / "store")
    assert all(expected["unbroken", number] == content for number, content in survivors.items())
    extract(extract_job(work))
    resumed = {
        (folder.replace("store", "unbroken"), n): c for (folder, n), c in contents(work / "store").items()
    }
    assert resumed == expected
    store = Store.open(work / "store")
    for shard in store.shards():
        for capture in store.captures:
            rows = shard[capture].reshape(len(shard.rows), -1)
            assert not (np.nan_to_num(rows.astype(np.float64)) == 0).all(1).any(), capture.key


def contents_so_far(store):
    return {line["shard"]: line["content"] for _, line in read_jsonl(store / "manifest.jsonl")}


def test_a_finished_store_is_not_touched_and_the_model_is_not_loaded(work, extract_job, monkeypatch):
    extract(extract_job(work))
    before = {f: f.stat().st_mtime_ns for f in (work / "store").rglob("*.h5")}
    monkeypatch.setattr("probekit.pipeline.tracing.load_model", lambda spec: pytest.fail("loaded"))
    extract(extract_job(work))
    assert {f: f.stat().st_mtime_ns for f in (work / "store").rglob("*.h5")} == before


def test_numbers_do_not_depend_on_shards_or_batches(work, extract_job):
    extract(extract_job(work, out=work / "a", shard_examples=4, batch_tokens=300))
    extract(extract_job(work, out=work / "b", shard_examples=16, batch_tokens=5000))
    a, b = Store.open(work / "a"), Store.open(work / "b")
    assert a.rows().keys == b.rows().keys
    for capture in a.captures:
        x = np.concatenate([shard[capture] for shard in a.shards()]).astype(np.float64)
        y = np.concatenate([shard[capture] for shard in b.shards()]).astype(np.float64)
        np.testing.assert_allclose(
            x, y, atol=2e-3 if capture.storage == "attention" else 2e-4, err_msg=capture.key
        )


def test_the_text_only_pass_sees_no_picture(work, extract_job):
    extract(extract_job(work))
    full, blind = Store.open(work / "store").rows(), Store.open(work / "store" / "text_only").rows()
    assert (blind.image_tokens == 0).all()
    assert (full.image_tokens == 36).all()
    assert (blind.prompt_tokens < full.prompt_tokens).all()
    for key in ("hidden_state[layer=mid]", "hidden_state[text_only=True]"):
        capture = parse_capture(key)
        for shard in Store.open(work / "store").shards():
            assert shard[capture].shape == (len(shard.rows), 128)


def test_a_picture_replaced_under_its_name_is_named_before_anything_is_traced(work, extract_job):
    """A wrong picture late in the folder passes the replay of the first texts."""
    job = extract_job(work)
    generations = [line for _, line in read_jsonl(job.generations)]
    assert all(len(line["image_sha256"]) == 64 for line in generations)
    used = {str(row["example_id"]) for _, row in read_jsonl(job.rows)}
    names = [str(line["image"]) for line in generations if line["example_id"] in used]
    shutil.copyfile(job.images / names[0], job.images / names[-1])
    with pytest.raises(InputError, match="has changed since it was answered about") as raised:
        extract(job)
    assert Path(names[-1]).stem in str(raised.value)
    assert not (work / "store").exists()


def test_rows_of_other_texts_are_refused(work, extract_job):
    job = extract_job(work)
    rows = [row for _, row in read_jsonl(job.rows)]
    assert all({"surface", "start", "end"} <= set(row) for row in rows)
    spoil(job.rows, 3, start=rows[2]["start"] + 1)
    with pytest.raises(InputError, match=r"line 3: row .* does not stand there in the text"):
        extract(job)


def spoil(file, number, **changes):
    lines = [value for _, value in read_jsonl(file)]
    lines[number - 1].update(changes)
    write_jsonl(file, lines)


def test_bad_inputs_are_named(work, extract_job):
    def fails(words, **changes):
        with pytest.raises(InputError) as error:
            extract(extract_job(work, out=work / "bad", **changes))
        for word in words:
            assert word in str(error.value), str(error.value)

    rows, texts = work / "rows.jsonl", work / "generations.jsonl"
    kept_rows, kept_texts = rows.read_bytes(), texts.read_bytes()

    rows.write_bytes(kept_rows + b"{not json\n")
    fails(["rows.jsonl, line", "not JSON"])
    rows.write_bytes(kept_rows)

    spoil(rows, 2, token=900, token_end=901)
    first = next(read_jsonl(rows))[1]["example_id"]
    fails(["row " + first, "lie outside"])
    rows.write_bytes(kept_rows)

    spoil(rows, 1, example_id="nobody")
    fails(["rows.jsonl, line 1", "nobody"])
    rows.write_bytes(kept_rows)

    spoil(texts, 1, token_ids=[])
    fails(["generations.jsonl, line 1", "no token ids"])
    texts.write_bytes(kept_texts)

    spoil(texts, 1, token_ids=[99_999] * 90)
    fails([f"sample {first}", "99999 is outside"])
    spoil(texts, 1, token_ids=[10**30])
    fails(["generations.jsonl, line 1", "whole numbers"])
    texts.write_bytes(kept_texts)

    spoil(texts, 1, image="../../secret.png")
    fails(["leaves the folder", first])
    texts.write_bytes(kept_texts)

    picture = work / "images" / "000000.png"
    kept = picture.read_bytes()
    picture.write_bytes(kept[:300])
    fails(["000000.png", "sample 000000", "has changed"])
    spoil(texts, 1, image_sha256=None)  # as in texts of earlier versions
    fails(["000000.png", "sample 000000", "decoded"])
    picture.unlink()
    fails(["000000.png", "no such image"])
    picture.write_bytes(kept)

    fails(["no such file"], rows=work / "none.jsonl")


def test_texts_of_another_model_are_noticed(work, extract_job):
    spoil_all = [value for _, value in read_jsonl(work / "generations.jsonl")]
    for line in spoil_all:
        line["token_ids"] = line["token_ids"][::-1]
    write_jsonl(work / "generations.jsonl", spoil_all)
    with pytest.raises(InputError, match="replaying"):
        extract(extract_job(work))
    extract(extract_job(work, own_texts=False))
    assert Store.open(work / "store").header.replay_agreement < 0.5
