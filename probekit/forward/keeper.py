"""Keeps what is needed of each module's output while a pass runs."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from probekit.captures import InternalConfidence
from probekit.errors import FamilyError
from probekit.families import Vlm
from probekit.forward.evidence import RAW_LAST, Evidence, Needs
from probekit.forward.inputs import Placement
from probekit.forward.layout import Layout
from probekit.forward.reduce.attention import pooling
from probekit.forward.reduce.image import largest_probabilities, object_ids


class Keeper:
    """Fills the evidence of one call; what is kept gathers on the device of the output head.

    Attributes:
        wanted: query indices whose attention rows the kernel shall return, ``(row, query)``; ``None``
            when no rows are needed.
    """

    def __init__(
        self,
        vlm: Vlm,
        needs: Needs,
        lenses: Sequence[InternalConfidence],
        layout: Layout,
        placement: Placement,
        evidence: Evidence,
    ) -> None:
        self.vlm, self.needs, self.lenses = vlm, needs, tuple(lenses)
        self.layout, self.placement, self.evidence = layout, placement, evidence
        self._home = vlm.head_device
        self._row, self._slot = placement.find(layout.positions)
        self.wanted: Tensor | None = None
        if needs.attention:
            table, columns = placement.wanted(layout.queries)
            self.wanted = torch.from_numpy(table).to(vlm.device)
            self._columns = torch.from_numpy(columns)
            self._rows = torch.from_numpy(placement.row)[:, None].expand(columns.shape)
            self._pool = pooling(placement.groups, placement.grids, needs.grid, vlm.device)

    def read_last(self) -> tuple[Tensor, Tensor] | None:
        """Row and query index of every position whose last state is read, each once; ``None`` for all.

        Each is ``(position,)``.
        """
        if self.needs.lens or self.needs.similarity:
            return None
        pairs = [torch.stack([self._row.flatten(), self._slot.flatten()])]
        if self.needs.logits:
            pairs += [
                torch.stack([torch.full_like(slots, int(self.placement.row[number])), slots])
                for number, slots in enumerate(map(self._caption_slots, range(len(self.layout.forced))))
            ]
        rows, slots = torch.cat(pairs, 1).unique(dim=1)
        return rows, slots

    def rows(self, layer: int, rows: Tensor | None) -> None:
        """Pool one layer's attention rows ``(row, head, query, key)`` over groups and cells."""
        if self.wanted is None:
            return
        if rows is None:
            raise FamilyError(
                f"layer {layer} gave no attention rows",
                where=self.vlm.name,
                hint="Its attention does not go through transformers' attention interface.",
            )
        count, heads, queries, keys = rows.shape
        pool = self._pool.to(rows.device)
        pooled = (rows.reshape(count, heads * queries, keys) @ pool).reshape(count, heads, queries, -1)
        self.evidence.pooled.append(self._by_sequence(pooled).to(self._home))
        if self.needs.own_rows:
            own = (self.wanted.to(rows.device) + self.placement.offset)[:, None, :, None]
            mass = rows.gather(3, own.expand(-1, heads, -1, 1))[..., 0]
            self.evidence.own.append(self._by_sequence(mass).to(self._home))

    def state(self, index: int, state: Tensor) -> None:
        """Keep states of hs[index] ``(row, query, D)`` at the wanted positions."""
        needs, depth = self.needs, self.vlm.depth
        if index in needs.states:
            kept = state[self._row.to(state.device), self._slot.to(state.device)]
            self.evidence.states[index] = kept.to(self._home)
        if needs.lens and index != RAW_LAST:
            self.evidence.lens.append(self._lens(state))
        if index == depth:
            if needs.logits:
                self.evidence.final = self._caption(state)
            if needs.similarity:
                self.evidence.image = [self._image(state, row) for row in range(len(self.layout.prompts))]

    def _by_sequence(self, pooled: Tensor) -> Tensor:
        """From ``(row, head, query, ...)`` to ``(batch, head, query, ...)``, each sequence its own."""
        picked = pooled.transpose(1, 2)[self._rows.to(pooled.device), self._columns.to(pooled.device)]
        return picked.transpose(1, 2)

    def _caption(self, state: Tensor) -> Tensor:
        return torch.cat(
            [
                state[int(self.placement.row[number]), self._caption_slots(number).to(state.device)]
                for number in range(len(self.layout.forced))
            ]
        ).to(self._home)

    def _caption_slots(self, number: int) -> Tensor:
        """Query index of every position of a sequence whose next-token logits are wanted."""
        first = int(self.layout.prompt_lengths[number]) - 1
        slots = self.placement.slot[number, first : first + len(self.layout.forced[number].continuation)]
        return torch.from_numpy(slots - self.placement.offset)

    def _image(self, state: Tensor, number: int) -> Tensor:
        slots = self.placement.slot[number, self.layout.image_positions(number)]
        index = torch.from_numpy(slots - self.placement.offset).to(state.device)
        return state[int(self.placement.row[number]), index].to(self._home)

    def _lens(self, state: Tensor) -> Tensor:
        vlm = self.vlm
        pieces = []
        for number in range(len(self.layout.prompts)):
            if ids := object_ids(self.layout, number):
                image = self._image(state, number)
                pieces.append(largest_probabilities(image, ids, self.lenses, vlm.logits, vlm.vocabulary))
        return torch.cat(pieces) if pieces else state.new_zeros(0, len(self.lenses), device=self._home)
