"""`verify` sees what a careless writer could have put in, behind digests that match."""

import re
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from probekit.captures import AttentionGrid, AttentionMass, Capture, HiddenState, InternalConfidence
from probekit.store import Store, StoreWriter, content_digest, hdf5, manifest, verify


def tamper(path: Path, number: int, name: str, change) -> None:
    """Change one array and bring the manifest up to date, as a faulty writer would have left it."""
    entries = manifest.load(path)
    file = path / entries[number].file
    with h5py.File(file, "r+") as handle:
        values = handle[name][()]
        change(values)
        handle[name][()] = values
    written = hdf5.digests(file)
    entries[number] = replace(entries[number], sha256=written.sha256, content=written.content)
    manifest.rewrite(path, entries)


def put(index: tuple[int, ...] | int, value: float):
    def change(values: np.ndarray) -> None:
        values[index] = value

    return change


@pytest.mark.parametrize(
    ("capture", "index", "value", "expected"),
    [
        (HiddenState(), 3, 0, r"sample ex001-é1#1.*hidden_state.*: the whole row is zero"),
        (HiddenState(), (3, 1), 0x7F80, r"sample ex001-é1#1.*: the value is infinite"),
        (AttentionMass(), (4, 2, 1, 3, 0), 0.9, r"sample ex001-é2#0.*slot 2, layer 1, head 3: .*sum to"),
        (InternalConfidence(), (2, 3), np.inf, r"sample ex001-é1#0.*layer 3: the value is infinite"),
    ],
)
def test_a_wrong_number(
    store_path: Path, capture: Capture, index: tuple[int, ...] | int, value: float, expected: str
) -> None:
    tamper(store_path, 1, f"captures/{capture.key}", put(index, value))
    report = verify(store_path)
    assert len(report.findings) == 1
    assert re.search(expected, str(report.findings[0])), report.findings[0]
    assert report.content == ""


def test_a_layer_that_is_zero_everywhere(tiny, tmp_path: Path) -> None:
    rows = tiny.rows(0)
    with StoreWriter.create(tmp_path, tiny.header, (AttentionGrid(),)) as writer:
        for number in range(2):
            grid = tiny.array(AttentionGrid(), rows, number)
            grid[:, 1] = 0
            if number == 0:
                grid[0, 1, 0, 0] = 0.5
            writer.write(number, tiny.rows(number), {AttentionGrid(): grid})
    assert verify(tmp_path).sound, "one row of one shard has it"
    tamper(tmp_path, 0, f"captures/{AttentionGrid().key}", put((slice(None), 1), 0))
    assert [f.what for f in verify(tmp_path).findings] == ["layer 1 is zero in every row"]


def test_a_sound_store(tiny, store_path: Path) -> None:
    tiny.fill_companion(store_path)
    report = verify(store_path)
    assert (report.findings, report.shards, report.rows) == ((), 7, 48)
    assert report.content == content_digest(Store.open(store_path))


def test_content_digest_sees_every_part(tiny, store_path: Path, tmp_path: Path) -> None:
    first = content_digest(Store.open(store_path))
    tiny.fill(tmp_path / "again")
    assert content_digest(Store.open(tmp_path / "again")) == first
    tamper(tmp_path / "again", 2, "captures/token_statistics", put((0, 0), 0.123))
    assert content_digest(Store.open(tmp_path / "again")) != first
    tiny.fill_companion(store_path)
    assert content_digest(Store.open(store_path)) != first


def test_content_digest_ignores_the_layout(tiny, store_path: Path) -> None:
    """The same arrays, compressed otherwise, in a file made by other means."""
    file = store_path / "shards" / "00000.h5"
    before = hdf5.digests(file)
    arrays = hdf5.read(file, *hdf5.names(file))
    with h5py.File(file, "w") as handle:
        for name in reversed(list(arrays)):
            handle.create_dataset(name, data=arrays[name].values, compression="lzf")
            handle[name].attrs["kind"] = arrays[name].kind
    after = hdf5.digests(file)
    assert after.content == before.content
    assert after.sha256 != before.sha256


def test_rows_twice_and_missing_in_the_companion(tiny, store_path: Path) -> None:
    tiny.fill_companion(store_path, shards=3)
    with StoreWriter.create(store_path, tiny.header, tiny.captures) as writer:
        writer.write(4, tiny.rows(1), tiny.arrays(9, tiny.rows(1)))
    found = [str(finding) for finding in verify(store_path).findings]
    assert "sample ex001-é0#0: the row is also in shards/00001.h5" in found[0]
    assert "text_only: the companion lacks row ex003-é0#0 and 5 more" in found[-1]


def test_a_lost_manifest_line_is_noticed_from_both_sides(tiny, store_path: Path) -> None:
    tiny.fill_companion(store_path)
    manifest = store_path / "manifest.jsonl"
    lines = manifest.read_text().splitlines(keepends=True)
    manifest.write_text("".join(lines[:-1]))
    found = [str(finding) for finding in verify(store_path).findings]
    assert any("is not in the manifest" in text for text in found)
    assert any("its companion has it" in text for text in found)


def test_every_missing_shard_is_listed(store_path: Path) -> None:
    for number in (0, 3):
        (store_path / "shards" / f"{number:05d}.h5").unlink()
    found = verify(store_path).findings
    assert [(Path(f.where).name, f.what) for f in found] == [
        ("00000.h5", "the file is missing"),
        ("00003.h5", "the file is missing"),
    ]


def test_a_damaged_head(store_path: Path) -> None:
    file = store_path / "once" / "head.h5"
    data = bytearray(file.read_bytes())
    data[-2] ^= 1
    file.write_bytes(bytes(data))
    assert "head.h5" in verify(store_path).findings[0].where
