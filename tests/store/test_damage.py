"""Files that were cut, changed or lost, jobs that do not match, and two writers at once."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from probekit.captures import HiddenState
from probekit.errors import InputError, StoreError
from probekit.files import read_json, write_json
from probekit.store import Store, StoreWriter, content_digest, finished, verify


def cut(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))


def swap(file: Path) -> None:
    """A whole shard file, but another one's."""
    file.write_bytes((file.parent / "00001.h5").read_bytes())


def grow(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"x")


@pytest.mark.parametrize("damage", [cut, flip, swap, grow, Path.unlink], ids=lambda f: f.__name__)
def test_damaged_shard_is_named_and_rebuilt(tiny, store_path: Path, damage, caplog) -> None:
    whole = content_digest(Store.open(store_path))
    file = store_path / "shards" / "00002.h5"
    damage(file)
    found = verify(store_path).findings
    assert found
    assert all("00002.h5" in finding.where or "00001.h5" in finding.what for finding in found)
    assert finished(store_path, tiny.header.job_digest, tiny.captures) == {0, 1, 3}
    with caplog.at_level(logging.WARNING):
        tiny.fill(store_path)
    assert [record for record in caplog.records if "shards/00002.h5" in record.getMessage()]
    assert verify(store_path).sound
    assert content_digest(Store.open(store_path)) == whole


def test_damaged_shard_is_not_read_as_data(store_path: Path) -> None:
    cut(store_path / "shards" / "00002.h5")
    with pytest.raises(StoreError, match=r"00002\.h5"):
        Store.open(store_path).shard(2)
    (store_path / "shards" / "00003.h5").unlink()
    with pytest.raises(StoreError, match="shard 3 is missing"):
        Store.open(store_path)


def test_every_byte_counts(store_path: Path) -> None:
    """No changed byte of a shard file goes unnoticed, wherever HDF5 put it."""
    file = store_path / "shards" / "00000.h5"
    data = file.read_bytes()
    for position in range(0, len(data), 1999):
        changed = bytearray(data)
        changed[position] ^= 0xFF
        file.write_bytes(bytes(changed))
        assert not verify(store_path).sound, position
    file.write_bytes(data)
    assert verify(store_path).sound


def test_cut_manifest(tiny, store_path: Path) -> None:
    whole = content_digest(Store.open(store_path))
    manifest = store_path / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes()[:-9])
    assert len(Store.open(store_path).entries) == 3
    with StoreWriter.create(store_path, tiny.header, tiny.captures) as writer:
        assert writer.done == {0, 1, 2}
    assert not (store_path / "shards" / "00003.h5").exists()
    tiny.fill(store_path)
    assert content_digest(Store.open(store_path)) == whole


def test_broken_manifest_line_is_named(store_path: Path) -> None:
    manifest = store_path / "manifest.jsonl"
    lines = manifest.read_text().splitlines(keepends=True)
    manifest.write_text(lines[0] + "{]\n" + lines[2])
    with pytest.raises(StoreError, match=r"manifest\.jsonl, line 2"):
        Store.open(store_path)


def test_manifest_line(store_path: Path) -> None:
    lines = [json.loads(line) for line in (store_path / "manifest.jsonl").read_text().splitlines()]
    assert [set(line) for line in lines] == [{"shard", "file", "rows", "sha256", "content"}] * 4
    assert [line["shard"] for line in lines] == [0, 1, 2, 3]
    assert lines[2]["file"] == "shards/00002.h5"


@pytest.mark.parametrize(
    ("name", "value"),
    [("job_digest", "ffff"), ("revision", "r2"), ("kernel", "eager"), ("versions", {"torch": "3"})],
)
def test_another_job_is_refused(tiny, store_path: Path, name: str, value: object) -> None:
    before = (store_path / "manifest.jsonl").read_bytes()
    with pytest.raises(InputError, match=f"{name}: the store has .*, this run has"):
        StoreWriter.create(store_path, replace(tiny.header, **{name: value}), tiny.captures)
    assert (store_path / "manifest.jsonl").read_bytes() == before


def test_other_captures_are_refused(tiny, store_path: Path) -> None:
    with pytest.raises(InputError, match=r"captures: hidden_state\[layer=last.* only in this run"):
        StoreWriter.create(store_path, tiny.header, (*tiny.captures, HiddenState("last")))
    assert finished(store_path, tiny.header.job_digest, (HiddenState(),)) == set()
    assert finished(store_path / "nowhere", tiny.header.job_digest, tiny.captures) == set()


def test_a_measured_agreement_may_differ(tiny, store_path: Path) -> None:
    with StoreWriter.create(
        store_path, replace(tiny.header, replay_agreement=0.999), tiny.captures
    ) as writer:
        assert writer.done == {0, 1, 2, 3}


def test_unknown_agreement(tiny, tmp_path: Path) -> None:
    StoreWriter.create(tmp_path, replace(tiny.header, replay_agreement=float("nan")), tiny.captures).close()
    assert Store.open(tmp_path).header.replay_agreement != Store.open(tmp_path).header.replay_agreement


def test_two_writers(tiny, store_path: Path) -> None:
    with (
        StoreWriter.create(store_path, tiny.header, tiny.captures),
        pytest.raises(InputError, match="another process"),
    ):
        StoreWriter.create(store_path, tiny.header, tiny.captures)
    StoreWriter.create(store_path, tiny.header, tiny.captures).close()


def test_a_header_from_another_version(store_path: Path) -> None:
    value = read_json(store_path / "job.json")
    write_json(store_path / "job.json", {**value, "format": 2})
    with pytest.raises(InputError, match="store format 2"):
        Store.open(store_path)
    del value["header"]["kernel"]
    write_json(store_path / "job.json", value)
    with pytest.raises(InputError, match="lacks kernel"):
        Store.open(store_path)
