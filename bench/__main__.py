"""``python -m bench``: every figure, or some by name; writes bench.json and prints a table."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench import captures, offline, sharing, stores
from bench.measure import Measured
from probekit.files import write_json

REACH = {
    "capture_overhead": "<= 1.10", "against_eager": ">= 1.4", "peak_memory": "<= 1.2",
    "memory_growth": "<= 1.02", "anchors_speedup": ">= 4.5", "tri_layer_speedup": ">= 6",
    "pope_speedup": ">= 3.5", "tokens_over_unique": "<= 1.1", "equality": "<= 1e-4",
    "bytes_per_position": ">= 20", "write_rate": ">= 0.7", "sweep_speedup": ">= 5", "scaling": "<= 1.1",
}  # fmt: skip


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("bench.json"))
    parser.add_argument("--only", nargs="*", help="names of figures")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--samples", type=int, default=50, help="samples of Tri-Layer and pictures of POPE")
    given = parser.parse_args()
    n = given.repeats
    figures: dict[str, Callable[[], Measured]] = {
        "capture_overhead": partial(captures.capture_overhead, n),
        "capture_overhead_qwen2_5_vl": partial(captures.capture_overhead, n, "qwen2_5_vl"),
        "against_eager": partial(captures.against_eager, n, 700),
        "against_eager_1500": partial(captures.against_eager, n, 1500),
        "against_eager_3000": partial(captures.against_eager, n, 3000),
        "against_eager_qwen2_5_vl": partial(captures.against_eager, n, 700, "qwen2_5_vl"),
        "against_plain_nnsight": partial(captures.plain_nnsight, n),
        "peak_memory": partial(captures.peak_memory, n),
        "memory_growth": partial(captures.memory_growth, n),
        "anchors_speedup": partial(sharing.anchors_speedup, n),
        "anchors_speedup_qwen2_5_vl": partial(sharing.anchors_speedup, n, "qwen2_5_vl"),
        "tri_layer_speedup": partial(sharing.tri_layer_speedup, n, given.samples),
        "pope_speedup": partial(sharing.pope_speedup, n, given.samples),
        "answers_speedup": partial(sharing.answers_speedup, n, min(given.samples, 10)),
        "tokens_over_unique": partial(sharing.tokens_over_unique, given.samples),
        "equality": sharing.equality,
        "bytes_per_position": stores.bytes_per_position,
        "write_rate": partial(stores.write_rate, n),
        "sweep_speedup": partial(offline.sweep_speedup, n),
        "scaling": partial(offline.scaling, n),
        "help_seconds": partial(offline.help_seconds, n),
    }
    unknown = set(given.only or ()) - set(figures)
    if unknown:
        parser.error(f"unknown figures: {', '.join(sorted(unknown))}; known: {', '.join(figures)}")
    found: list[Measured] = []
    for name, measure in figures.items():
        if given.only and name not in given.only:
            continue
        found.append(measure())
        last = found[-1]
        reach = f"  (reach {REACH[name]})" if name in REACH else ""
        print(f"{last.name:28} {last.value:10.4g} {last.unit:10}{reach}\n    {last.detail}", flush=True)
        write_json(given.out, {"records": [figure.as_dict() for figure in found]})
    print(f"written: {given.out}")


if __name__ == "__main__":
    main()
