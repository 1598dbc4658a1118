"""Writes shards beside the work that makes the next one."""

import queue
import threading
from collections.abc import Mapping
from types import TracebackType

import numpy as np

from probekit.captures import Capture
from probekit.store.codec import Bfloat16
from probekit.store.table import RowTable
from probekit.store.writer import StoreWriter

_Item = tuple[int, RowTable, Mapping[Capture, np.ndarray | Bfloat16]]
_DEPTH = 2


class BackgroundWriter:
    """Hands shards to a `StoreWriter` in one thread, in order.

    At most two shards wait; then `submit` waits, so memory stays bounded. An error of the writer is
    raised by the next `submit` or by leaving the block, and nothing after it is written. The arrays
    must not be changed after they are submitted.
    """

    def __init__(self, writer: StoreWriter) -> None:
        self._writer = writer
        self._queue: queue.Queue[_Item | None] = queue.Queue(maxsize=_DEPTH)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="store-writer", daemon=True)

    def submit(self, number: int, rows: RowTable, arrays: Mapping[Capture, np.ndarray | Bfloat16]) -> None:
        """Queue one shard, as `StoreWriter.write` takes it.

        Raises:
            ProbekitError: whatever went wrong with an earlier shard.
        """
        self._raise()
        self._queue.put((number, rows, arrays))

    def __enter__(self) -> "BackgroundWriter":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._queue.put(None)
        self._thread.join()
        if kind is None:
            self._raise()

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            if self._error is None:
                try:
                    self._writer.write(*item)
                except BaseException as error:
                    self._error = error

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error
