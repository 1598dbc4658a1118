"""Where everything is in a padded batch: key groups, wanted positions, and each row's place in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int

from probekit.captures import GROUPS
from probekit.families import EncodedPrompt
from probekit.families.prompting import CAPTION, IMAGE
from probekit.forward.work import Forced

PADDING = -1


@dataclass(frozen=True)
class Layout:
    """Index arithmetic of one right-padded batch (SPEC 0.1).

    Attributes:
        prompts: the encoded prompts, one a sequence.
        forced: the texts, in the same order; none when the prompts stand alone.
        window: the longest window any capture reads.
        own_rows: whether attention is read at tokens' own positions as well.
    """

    prompts: tuple[EncodedPrompt, ...]
    forced: tuple[Forced, ...]
    window: int
    own_rows: bool = False

    def of(self, members: Sequence[int]) -> Layout:
        """The layout of some of its sequences, in that order."""
        return Layout(
            tuple(self.prompts[member] for member in members),
            tuple(self.forced[member] for member in members),
            self.window,
            self.own_rows,
        )

    @cached_property
    def lengths(self) -> Int[np.ndarray, " batch"]:
        """m + T of each sequence."""
        return np.array([len(p) + len(c) for p, c in zip(self.prompts, self.continuations, strict=True)])

    @cached_property
    def continuations(self) -> tuple[tuple[int, ...], ...]:
        """Forced tokens behind each prompt."""
        return tuple(f.continuation for f in self.forced) if self.forced else ((),) * len(self.prompts)

    @property
    def width(self) -> int:
        """Length of the padded batch."""
        return int(self.lengths.max())

    @cached_property
    def groups(self) -> Int[np.ndarray, "batch key"]:
        """Index into `GROUPS` of every position, `PADDING` past the end."""
        groups = np.full((len(self.prompts), self.width), PADDING)
        for row, prompt in enumerate(self.prompts):
            groups[row, : len(prompt)] = prompt.groups
            groups[row, len(prompt) : self.lengths[row]] = CAPTION
        return groups

    @cached_property
    def rows(self) -> Int[np.ndarray, "row 3"]:
        """Sequence, t* and t_end of each target, in the order of the texts."""
        flat = [
            (number, target.token, target.token_end)
            for number, forced in enumerate(self.forced)
            for target in forced.targets
        ]
        return np.array(flat, dtype=np.int64).reshape(-1, 3)

    @cached_property
    def prompt_lengths(self) -> Int[np.ndarray, " batch"]:
        """m of each sequence."""
        return np.array([len(prompt) for prompt in self.prompts])

    def slots(self, window: int) -> Int[np.ndarray, "row slot"]:
        """Caption token of each window slot, the last being t*; negative before the caption."""
        return self.rows[:, 1:2] + np.arange(1 - window, 1)

    @cached_property
    def positions(self) -> Int[np.ndarray, "batch position"]:
        """Positions whose states are kept: queries and own positions of all windows, and m - 1."""
        return self._table(queries=True, own=True, last=True)

    @cached_property
    def queries(self) -> Int[np.ndarray, "batch query"]:
        """Positions whose attention rows are kept."""
        return self._table(queries=True, own=self.own_rows, last=False)

    def place(
        self, table: Int[np.ndarray, "batch position"], absolute: Int[np.ndarray, "row slot"]
    ) -> Int[np.ndarray, "row slot"]:
        """Column of each absolute position in a table of positions."""
        found = np.zeros_like(absolute)
        for row, number in enumerate(self.rows[:, 0]):
            found[row] = np.searchsorted(table[number, : self._used(table, int(number))], absolute[row])
        return found

    def counts(
        self, absolute: Int[np.ndarray, "row slot"], *, own: bool
    ) -> Int[np.ndarray, "row slot group"]:
        """Keys of each group that a position sees over the full causal range.

        With ``own`` the position itself is counted apart, as a seventh group.
        """
        sequences = self.rows[:, 0]
        cumulative = np.stack([(self.groups == group).cumsum(1) for group in range(len(GROUPS))], -1)
        counts = cumulative[sequences[:, None], absolute]
        if not own:
            return counts
        mine = self.groups[sequences[:, None], absolute]
        counts = counts - (np.arange(len(GROUPS)) == mine[..., None])
        return np.concatenate([counts, np.ones_like(counts[..., :1])], -1)

    def image_positions(self, sequence: int) -> Int[np.ndarray, " n"]:
        """Absolute positions of the image tokens."""
        return np.flatnonzero(self.groups[sequence] == IMAGE)

    def _used(self, table: Int[np.ndarray, "batch position"], number: int) -> int:
        row = table[number]
        return int(np.flatnonzero(np.diff(row) <= 0)[0] + 1) if (np.diff(row) <= 0).any() else len(row)

    def _table(self, *, queries: bool, own: bool, last: bool) -> Int[np.ndarray, "batch position"]:
        wanted = []
        for prompt, forced in zip(self.prompts, self.forced, strict=True):
            found = {len(prompt) - 1} if last or not forced.targets else set()
            for target in forced.targets:
                for token in range(max(0, target.token - self.window + 1), target.token + 1):
                    position = len(prompt) + token
                    found |= ({position - 1} if queries else set()) | ({position} if own else set())
            wanted.append(sorted(found))
        return pad(wanted)


def pad(rows: Sequence[Sequence[int]]) -> Int[np.ndarray, "batch position"]:
    """Stack lists of different lengths; short ones repeat their first entry, which is harmless to read."""
    table = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for number, row in enumerate(rows):
        table[number] = row[0]
        table[number, : len(row)] = row
    return table
