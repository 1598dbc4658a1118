"""From the device to the host beside the work that follows (ENGINE 4)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


class HostCopies:
    """Copies of one batch's results; on a GPU they run on a stream of their own into page-locked memory.

    The stream waits for what the tensor's own stream has queued so far, and nothing waits for the
    copies until `sealed`'s function is called. On other devices a copy is made at once.
    """

    _streams: dict[torch.device, torch.cuda.Stream] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self._used: set[torch.device] = set()

    def take(self, tensor: Tensor) -> Tensor:
        """The tensor on the host; its values are there once `sealed`'s function has returned."""
        if tensor.device.type != "cuda":
            return tensor.cpu()
        device = tensor.device
        stream = self._streams.get(device)
        if stream is None:
            stream = self._streams[device] = torch.cuda.Stream(device)
        host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(stream):
            host.copy_(tensor, non_blocking=True)
        # the allocator must not hand the memory to another tensor before the copy has read it
        tensor.record_stream(stream)
        self._used.add(device)
        return host

    def sealed(self) -> Callable[[], None]:
        """A function that returns when every copy taken so far has arrived; it waits for no later one."""
        events = [self._streams[device].record_event() for device in self._used]

        def arrived() -> None:
            for event in events:
                event.synchronize()

        return arrived
