"""Memory of one side, measured in a fresh process: ``python -m bench.memory peak|growth ours|bare``."""

from __future__ import annotations

import gc
import sys
from pathlib import Path


def status(field: str) -> float:
    """A field of this process's memory status, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise KeyError(field)


def peak(side: str) -> float:
    """Peak resident memory of one pass above what was resident before it, in MB."""
    from bench.captures import _bare, cheap_captures
    from bench.models import model, text
    from probekit.forward.trace import Tracer

    vlm, prompter = model("llava")
    tracer = Tracer(vlm, prompter, cheap_captures(), sharing=False)
    tracer.run([text(0, 8, rows=2)])
    one = [text(1, 2000 - 650, rows=8)]
    if side == "bare":
        vlm.decoder.set_attn_implementation("sdpa")
    run = _bare(tracer, one) if side == "bare" else lambda: tracer.run(one)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    run()
    return status("VmHWM") - before


def growth() -> float:
    """Resident memory after 200 traces over that after 20."""
    from bench.captures import cheap_captures
    from bench.models import text
    from probekit.families import Prompter, load
    from probekit.forward.trace import Tracer

    vlm = load("organism")
    tracer = Tracer(vlm, Prompter(vlm), cheap_captures())
    early = 0.0
    for number in range(200):
        tracer.run([text(number % 7, 20, rows=3)])
        if number == 19:
            gc.collect()
            early = status("VmRSS")
    gc.collect()
    return status("VmRSS") / early


if __name__ == "__main__":
    print(peak(sys.argv[2]) if sys.argv[1] == "peak" else growth())
