"""Writing beside the next batch: same store, errors surface, order kept, memory bounded."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from probekit.captures import HiddenState
from probekit.errors import ContractError
from probekit.store import BackgroundWriter, Store, StoreWriter, content_digest


def test_same_store_in_order(tiny, store_path: Path, tmp_path: Path) -> None:
    with (
        StoreWriter.create(tmp_path / "b", tiny.header, tiny.captures) as writer,
        BackgroundWriter(writer) as out,
    ):
        writer.write_once("head", tiny.head())
        for number in range(4):
            out.submit(number, tiny.rows(number), tiny.arrays(number, tiny.rows(number)))
    assert (tmp_path / "b" / "manifest.jsonl").read_bytes() == (store_path / "manifest.jsonl").read_bytes()
    assert content_digest(Store.open(tmp_path / "b")) == content_digest(Store.open(store_path))


def test_an_error_surfaces_and_stops(tiny, tmp_path: Path) -> None:
    good, bad = np.ones((6, 8), np.float32), np.zeros((6, 8), np.float32)
    with StoreWriter.create(tmp_path, tiny.header, (HiddenState(),)) as writer:
        submitted: list[int] = []

        def run() -> None:
            with BackgroundWriter(writer) as out:
                for number in range(50):
                    out.submit(number, tiny.rows(number), {HiddenState(): bad if number == 1 else good})
                    submitted.append(number)
                    time.sleep(0.02)

        with pytest.raises(ContractError, match="ex001"):
            run()
        assert len(submitted) < 50, "an early submit should have raised"
        assert writer.done == {0}


def test_an_error_in_the_last_shard_surfaces_on_leaving(tiny, tmp_path: Path) -> None:
    with (
        StoreWriter.create(tmp_path, tiny.header, (HiddenState(),)) as writer,
        pytest.raises(ContractError),
        BackgroundWriter(writer) as out,
    ):
        out.submit(0, tiny.rows(0), {HiddenState(): np.zeros((6, 8), np.float32)})


def test_an_error_of_the_caller_wins(tiny, tmp_path: Path) -> None:
    def run() -> None:
        with (
            StoreWriter.create(tmp_path, tiny.header, (HiddenState(),)) as writer,
            BackgroundWriter(writer) as out,
        ):
            out.submit(0, tiny.rows(0), {HiddenState(): np.zeros((6, 8), np.float32)})
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        run()


def test_at_most_two_wait(tiny, tmp_path: Path, monkeypatch) -> None:
    gate, submitted = threading.Event(), []
    with StoreWriter.create(tmp_path, tiny.header, (HiddenState(),)) as writer:
        monkeypatch.setattr(writer, "write", lambda *_: gate.wait(10))
        with BackgroundWriter(writer) as out:

            def produce() -> None:
                for number in range(5):
                    out.submit(number, tiny.rows(number), {})
                    submitted.append(number)

            thread = threading.Thread(target=produce)
            thread.start()
            time.sleep(0.3)
            assert len(submitted) == 3, "one being written, two waiting"
            gate.set()
            thread.join()
    assert submitted == [0, 1, 2, 3, 4]
