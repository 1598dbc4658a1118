"""Copies to the host, and batches that overlap."""

import numpy as np
import pytest
import torch

from probekit.captures import HiddenState
from probekit.errors import ProbekitError
from probekit.forward.batches import run_all
from probekit.forward.traced import Traced
from probekit.forward.transfer import HostCopies
from probekit.forward.work import Forced, Target
from probekit.rows import RowKey

IDS = HiddenState()
"""Any capture: its values are the texts' only token."""


def text(number):
    return Forced(str(number), None, "", "?", (number,), (Target(RowKey(str(number), None), 0, 0),))


class Recorder:
    """A tracer that notes what is started and what is fetched, and fits ``room`` texts."""

    def __init__(self, room=10):
        self.events, self.room = [], room

    def start(self, texts):
        names = "".join(text.example_id for text in texts)
        if len(texts) > self.room:
            self.events.append(f"no room {names}")
            raise torch.OutOfMemoryError
        self.events.append(f"start {names}")

        def finish():
            self.events.append(f"fetch {names}")
            ids = torch.tensor([text.continuation[0] for text in texts])
            counts = np.ones(len(texts), dtype=np.int64)
            return Traced({IDS: ids}, counts, counts, None)

        return finish


def test_a_batch_is_started_before_the_one_before_it_is_fetched():
    tracer = Recorder()
    found = run_all(tracer, [text(n) for n in range(5)], [[3, 1], [0], [4, 2]])
    assert tracer.events == ["start 31", "start 0", "fetch 31", "start 42", "fetch 0", "fetch 42"]
    assert found.arrays[IDS].tolist() == [0, 1, 2, 3, 4]


def test_a_batch_without_room_is_halved_and_nothing_under_way_is_lost():
    tracer = Recorder(room=2)
    counts = []
    found = run_all(tracer, [text(n) for n in range(6)], [[0, 1], [2, 3, 4, 5]], counts.append)
    assert found.arrays[IDS].tolist() == list(range(6))
    assert sum(counts) == 6
    assert [event for event in tracer.events if event.startswith("fetch")] == [
        "fetch 01", "fetch 23", "fetch 45",
    ]  # fmt: skip


def test_one_text_without_room_is_named():
    with pytest.raises(ProbekitError, match="sample 3"):
        run_all(Recorder(room=0), [text(3)], [[0]])


def test_copies_on_the_host_are_there_at_once():
    copies = HostCopies()
    values = torch.arange(6.0).reshape(2, 3)
    held = copies.take(values)
    copies.sealed()()
    assert torch.equal(held, values)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_copies_from_a_gpu_run_beside_the_work_and_hold_the_values_of_their_time():
    copies = HostCopies()
    values = torch.randn(1000, 1000, device="cuda")
    taken = copies.take(values)
    expected = values.cpu()
    arrived = copies.sealed()
    del values
    torch.zeros(1000, 1000, device="cuda").fill_(7)
    arrived()
    assert taken.is_pinned()
    assert torch.equal(taken, expected)
