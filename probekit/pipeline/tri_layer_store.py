"""Normed states of the full answers under every condition, from which their distributions are made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from probekit.benchmarks.conditions import Condition
from probekit.benchmarks.example import Example
from probekit.captures import Logits
from probekit.errors import InputError
from probekit.files import digest, read_json
from probekit.scores.kl import kl_per_position

if TYPE_CHECKING:
    from probekit.families import Prompter, Vlm
    from probekit.pipeline.tri_layer import Study
    from probekit.pipeline.tri_layer_trace import Read

FOLDER = "store"
CAPTURE = Logits("factored")


class StateStore:
    """Writes a shard for each group of samples; one row a position of the full answer and condition.

    A row's example is ``SAMPLE:CONDITION`` (``SAMPLE`` under the full one), its index the position.
    """

    def __init__(self, study: Study, vlm: Vlm, prompter: Prompter, samples: int, agreement: float) -> None:
        from probekit.pipeline.tracing import head_arrays, make_header
        from probekit.store import StoreWriter

        evidence = read_json(study.out / "evidence.json")["digest"]
        header = make_header(
            vlm,
            prompter,
            job_digest=digest([evidence, samples]),
            agreement=agreement,
            shard_examples=samples,
            extra={"condition": "full", "rows": "positions of the full answer under each condition"},
        )
        self._images = {example.example_id: example.image_id for example in study.examples}
        self._stack = ExitStack()
        self._writer = self._stack.enter_context(StoreWriter.create(study.out / FOLDER, header, (CAPTURE,)))
        self._writer.write_once("head", head_arrays(vlm))

    def write(self, number: int, samples: Sequence[Example], found: Mapping[str, Mapping[str, Read]]) -> None:
        """Write a group's shard, unless an interrupted run has done so."""
        if number in self._writer.done:
            return
        import torch

        from probekit.pipeline.tracing import on_host
        from probekit.store import RowTable

        tables, states = [], []
        for sample in samples:
            for condition in Condition:
                read = found[sample.example_id].get(f"full@{condition}")
                if read is None:
                    continue
                size = len(read.forced.continuation)
                places = np.arange(size)

                def column(value: object, size: int = size) -> np.ndarray:
                    return np.array([value] * size)

                tables.append(
                    RowTable(
                        example_id=column(row_id(sample.example_id, condition)),
                        index=places,
                        image_id=column(self._images[sample.example_id]),
                        category=column(""),
                        token=places,
                        token_end=places,
                        tokens=column(size),
                        prompt_tokens=column(read.prompt_tokens),
                        image_tokens=column(read.image_tokens),
                        occurrences=column(-1),
                        token_id=np.array(read.forced.continuation),
                    )
                )
                states.append(read.final)
        if states:
            rows = RowTable.concatenate(tables)
            self._writer.write(number, rows, {CAPTURE: on_host(torch.cat(states))})

    def __enter__(self) -> StateStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


def row_id(sample: str, condition: Condition) -> str:
    """Name of a sample under a condition, as `probekit.benchmarks.conditions.pose` gives it."""
    return sample if condition is Condition.FULL else f"{sample}:{condition}"


def stored_divergences(folder: Path, sample: str, condition: Condition) -> Float[np.ndarray, " t"]:
    """KL(full || condition) of one sample from the stored states: no model, no pass.

    Args:
        folder: of the study.

    Raises:
        InputError: the sample was not stored under that condition.
    """
    from probekit.store import Store

    store = Store.open(folder / FOLDER)
    rows = store.rows()
    sides = []
    for shown in (Condition.FULL, condition):
        chosen = rows.take(rows.example_id == row_id(sample, shown))
        if len(chosen) == 0:
            raise InputError(f"nothing is stored of sample {sample} under {shown}", where=str(store.path))
        sides.append(store.logits(chosen.take(np.argsort(chosen.index))).astype(np.float64))
    return kl_per_position(*sides)
