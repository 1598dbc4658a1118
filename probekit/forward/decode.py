"""Greedy answers to several questions about one picture, over one cache.

The prompts form the same prefix tree as texts in a traced pass (`plan`): one row a picture, each token
once. Decoding goes on in that row. Every step appends one token for each question, and a mask lets it see
its own prompt and its own answer so far, so nothing is copied or padded for questions that share a
picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from probekit.families import Vlm
from probekit.families.prompting import SharedBatch
from probekit.families.vision import check_batch, see_batch
from probekit.forward import rows as attention
from probekit.forward.inputs import packed, sequence_positions
from probekit.forward.layout import Layout
from probekit.forward.masks import masks
from probekit.forward.plan import forest

_STEERED = (
    "bad_words_ids",
    "begin_suppress_tokens",
    "exponential_decay_length_penalty",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "guidance_scale",
    "min_length",
    "min_new_tokens",
    "no_repeat_ngram_size",
    "sequence_bias",
    "stop_strings",
    "suppress_tokens",
)
"""Settings of a checkpoint that steer even greedy decoding."""


def decodes_in_trees(vlm: Vlm) -> bool:
    """Whether answers may be decoded here: texts may lie in one row, and nothing steers the decoding."""
    settings = vlm.model.generation_config
    return vlm.packs_texts and not any(getattr(settings, name, None) for name in _STEERED)


@torch.no_grad()
def decode(
    vlm: Vlm,
    batch: SharedBatch,
    samples: Sequence[str],
    keys: Sequence[str],
    ends: frozenset[int],
    max_new_tokens: int,
) -> list[list[int]]:
    """Greedy answers, one list of token ids a prompt, the end token included where one came.

    Args:
        batch: prompts over a few pictures.
        samples: what each prompt is called.
        keys: identity of each prompt's picture.
        ends: tokens that end an answer.

    Raises:
        FamilyError: a prompt holds another number of image tokens than its picture has; the sample is named.
    """
    attention.register()
    vlm.decoder.set_attn_implementation(attention.KERNEL)
    layout = Layout(batch.prompts, (), 1)
    vision = see_batch(vlm, batch)
    check_batch(samples, batch, vision)
    groups = [layout.groups[row, : len(prompt)] for row, prompt in enumerate(batch.prompts)]
    trees = forest(
        [np.array(prompt.ids) for prompt in batch.prompts],
        groups,
        keys,
        [prompt.whole for prompt in batch.prompts],
    )
    positions = sequence_positions(vlm, layout, vision, batch.picture)
    pictures = [batch.picture[tree.members[0]] for tree in trees]
    call = packed(vlm, layout, trees, positions, vision, pictures)
    last = layout.prompt_lengths - 1
    numbers = np.arange(len(batch.prompts))
    row, slot = call.placement.row, call.placement.slot[numbers, last]
    column = np.zeros_like(row)
    for tree in trees:
        column[list(tree.members)] = np.arange(len(tree.members))

    answers = _Answers(vlm, call.placement.slot, row, column, positions[..., numbers, last])
    wanted = np.unique(slot)
    words = answers.start(call.arguments, torch.from_numpy(wanted), np.searchsorted(wanted, slot))
    found: list[list[int]] = [[] for _ in numbers]
    open_ = set(numbers.tolist())
    while True:
        for number in sorted(open_):
            found[number].append(words[number])
            if words[number] in ends or len(found[number]) == max_new_tokens:
                open_.discard(number)
        if not open_:
            return found
        words = answers.step(words)


class _Answers:
    """The rows of a batch while they are decoded.

    Args:
        paths: key index of every position of every prompt, padding negative.
        row: row of each prompt.
        column: place of each prompt among those of its row.
        positions: of each prompt's last token, ``(..., prompt)``.
    """

    def __init__(
        self,
        vlm: Vlm,
        paths: np.ndarray,
        row: np.ndarray,
        column: np.ndarray,
        positions: Tensor,
    ) -> None:
        from transformers import DynamicCache

        self.vlm, self.cache = vlm, DynamicCache()
        self._row, self._column = torch.from_numpy(row), torch.from_numpy(column)
        self._positions = positions
        self._shape = (int(row.max()) + 1, int(column.max()) + 1)
        self._steps = 0
        self._sees = np.zeros((*self._shape, int(paths.max()) + 1), dtype=bool)
        self._depths = np.zeros((self._shape[0], self._sees.shape[2]), dtype=np.int64)
        self._lengths = np.zeros(self._shape, dtype=np.int64)
        for path, where, place in zip(paths, row, column, strict=True):
            own = path[path >= 0]
            self._sees[where, place, own] = True
            self._depths[where, own] = np.arange(len(own))
            self._lengths[where, place] = len(own)

    def start(self, arguments: Mapping[str, Any], keep: Tensor, at: np.ndarray) -> list[int]:
        """Run the prompts; the first word of every answer.

        Args:
            keep: key indices whose logits are made.
            at: place of each prompt's last token among them.
        """
        output = self.vlm.model(**arguments, cache=self.cache, use_cache=True, logits_to_keep=keep)
        best = output.logits.argmax(-1)[self._row, torch.from_numpy(at)]
        return [int(word) for word in best.cpu()]

    def step(self, words: Sequence[int]) -> list[int]:
        """Append a word to every answer; the next word of each. Answers that have ended go along unread."""
        own = np.broadcast_to(np.eye(self._shape[1], dtype=bool), (*self._shape, self._shape[1]))
        queries = self._lengths + self._steps
        self._sees = np.concatenate([self._sees, own], -1)
        self._depths = np.concatenate([self._depths, queries], -1)
        self._steps += 1
        ids = torch.full(self._shape, self.vlm.pad_token_id)
        ids[self._row, self._column] = torch.tensor(words)
        places = torch.zeros(*self._positions.shape[:-1], *self._shape, dtype=torch.long)
        places[..., self._row, self._column] = self._positions.cpu() + self._steps
        device = self.vlm.device
        output = self.vlm.model(
            input_ids=ids.to(device),
            attention_mask=masks(self.vlm, self._sees, queries, self._depths),
            position_ids=places.to(device),
            cache=self.cache,
            use_cache=True,
        )
        best = output.logits.argmax(-1)[self._row, self._column]
        return [int(word) for word in best.cpu()]
