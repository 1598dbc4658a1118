"""One teacher-forced pass through nnsight, reduced while it runs.

Modules are read in the order the model runs them. Nothing as large as an attention map or a full
logit matrix outlives its layer: rows are pooled over key groups at once, logits are made afterwards
from the normed states of the caption's positions alone. Texts over one picture go through the model
as a prefix tree where the family is known to bear it (`plan`), as padded rows elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any
from warnings import catch_warnings, filterwarnings

import numpy as np
import torch
from nnsight import NNsight
from torch import Tensor, nn

from probekit.captures import Capture
from probekit.errors import InputError
from probekit.families import Prompter, Vlm
from probekit.families.conversation import check_context
from probekit.families.prompting import SharedBatch
from probekit.families.vision import Vision, check_batch, see_batch
from probekit.forward import rows as attention
from probekit.forward.beginnings import Beginning, Beginnings, new_cache
from probekit.forward.evidence import RAW_LAST, Evidence, Needs
from probekit.forward.harvest import Arriving, Harvest
from probekit.forward.inputs import Call, branched, grafted, packed, padded, sequence_positions, trunk_call
from probekit.forward.keeper import Keeper
from probekit.forward.layout import Layout
from probekit.forward.plan import Tree, branches, forest, limbs
from probekit.forward.refusals import require_attention, require_image_tokens, silent_layers
from probekit.forward.traced import Traced, merge
from probekit.forward.trim import feed_forward, only_at
from probekit.forward.work import Forced

ROW_TOKENS = 2048
"""A tree of more tokens is not packed into one row: its trunk is cached and its limbs follow apart."""

ONE_LOGIT = torch.zeros(1, dtype=torch.long)
"""Asks for the logits of one token. Asked by number, a model may leave later layers out elsewhere."""

LIMB_TOKENS = 512
"""New tokens of one limb; siblings attend around each other, which costs more the more there are."""


WORTH_A_CALL = 32
"""Tokens that must be spared for a trunk of its own, where each text goes on in a row of its own."""


BRANCH_ROWS = 4
"""Trunks and branches computed side by side hold the keys of so many full rows."""


class Tracer:
    """Runs teacher-forced passes of one model for a fixed set of captures.

    Args:
        vlm: the model.
        prompter: encodes its prompts.
        captures: what to keep; may be empty when only token statistics are wanted.
        sharing: compute common prefixes once; by default where the family is known to bear it.
        keep_tokens: keep statistics of every token, and the normed states they come from.
        row_tokens: trees of more tokens are not packed into one row, `ROW_TOKENS` by default.
        constant: identities of pictures that come back in batch after batch, such as the black one; where
            prefixes are shared, what lies up to their last image token is computed once and kept.

    Attributes:
        computed: tokens computed so far, padding left out.
        distinct: tokens of the prefix trees of the same work; a kept beginning counts once.
    """

    def __init__(
        self,
        vlm: Vlm,
        prompter: Prompter,
        captures: Sequence[Capture],
        *,
        sharing: bool | None = None,
        keep_tokens: bool = False,
        row_tokens: int | None = None,
        constant: Collection[str] = (),
    ) -> None:
        self.vlm = vlm
        self.prompter = prompter
        self.captures = tuple(captures)
        self.sharing = vlm.shares_prefixes if sharing is None else sharing
        self.keep_tokens = keep_tokens
        self.row_tokens = ROW_TOKENS if row_tokens is None else row_tokens
        self.needs = Needs.of(captures, vlm.depth, logits=keep_tokens)
        self.constant = frozenset(constant)
        self.computed = 0
        self.distinct = 0
        self._harvest = Harvest(vlm, captures, self.needs, keep_tokens=keep_tokens)
        self._beginnings = Beginnings()
        self._seen: dict[str, Vision] = {}
        if self.needs.attention:
            require_attention(vlm)
        if self._reads_pictures:
            require_image_tokens(vlm)
        attention.register()
        vlm.decoder.set_attn_implementation(attention.KERNEL)

    def together(self, text: Forced) -> Hashable:
        """What texts have in common that share computation: the picture, or the whole prompt."""
        whole = self.vlm.family.together == "prompt"
        return (text.image_key, text.question) if whole else text.image_key

    @cached_property
    def _words(self) -> int:
        return int(self.vlm.model.get_input_embeddings().weight.shape[0])

    @cached_property
    def _traced(self) -> Any:
        with catch_warnings():
            # the blocks of some vision towers have a part of this name, which is not read here
            filterwarnings("ignore", r"Module '.*' has a submodule named 'output'", UserWarning)
            return NNsight(self.vlm.model)

    @cached_property
    def _decoder(self) -> Any:
        envoy = self._traced
        for part in self.vlm.path_of(self.vlm.decoder).split("."):
            envoy = getattr(envoy, part)
        return envoy

    def run(self, texts: Sequence[Forced]) -> Traced:
        """Trace one batch of texts; all have a picture, or none has.

        Raises:
            InputError: a token id is not in the model's vocabulary, or a text does not fit its context; the
                sample is named.
        """
        return self.start(texts)()

    @cached_property
    def _last_feed_forward(self) -> nn.Module | None:
        return feed_forward(self.vlm.layers[-1])

    @torch.no_grad()
    def start(self, texts: Sequence[Forced]) -> Arriving:
        """Like `run`, but gives back a function that waits for the results.

        On a GPU the next batch can be made ready, and started, while this one is still computed.
        """
        self._check_words(texts)
        shared = self.prompter.encode_shared(
            [text.question for text in texts],
            [text.image_key for text in texts],
            [text.image for text in texts],
            share=self.sharing,
        )
        check_context(
            self.vlm,
            [text.example_id for text in texts],
            [len(prompt) for prompt in shared.prompts],
            [len(text.continuation) for text in texts],
        )
        layout = Layout(shared.prompts, tuple(texts), self.needs.window, self.needs.own_rows)
        vision = self._vision(shared, texts)
        sequences = [np.array(p.ids + f.continuation) for p, f in zip(layout.prompts, texts, strict=True)]
        groups = [layout.groups[row, : len(ids)] for row, ids in enumerate(sequences)]
        whole = [prompt.whole for prompt in layout.prompts]
        trees = forest(sequences, groups, [text.image_key for text in texts], whole)
        pictures = [shared.picture[tree.members[0]] for tree in trees]
        kept = self._keeps(trees, layout)
        if not kept:
            self.distinct += sum(map(len, trees))
        if not self.sharing or (not kept and all(tree.is_chain for tree in trees)):
            self.computed += int(layout.lengths.sum())
            return self._reduced(padded(self.vlm, layout, vision, shared.picture), layout)
        positions = sequence_positions(self.vlm, layout, vision, shared.picture)
        if not self.vlm.packs_texts:
            return self._in_branches(layout, trees, positions, vision, shared.picture, keep=kept)
        if kept or (len(trees) == 1 and self._too_large(trees[0], layout)):
            return self._in_limbs(layout, trees[0], positions, vision.take(pictures), keep=kept)
        self.computed += sum(map(len, trees))
        return self._reduced(packed(self.vlm, layout, trees, positions, vision, pictures), layout)

    def _check_words(self, texts: Sequence[Forced]) -> None:
        for text in texts:
            if (word := max(text.continuation)) >= self._words:
                raise InputError(
                    f"token id {word} is outside the model's {self._words} words",
                    where=f"sample {text.example_id}",
                    hint="The text was made with another tokenizer.",
                )
            if placed := self.vlm.placeholders.intersection(text.continuation):
                raise InputError(
                    f"token id {min(placed)} is the model's placeholder of a picture, video or sound",
                    where=f"sample {text.example_id}",
                    hint="A text cannot hold it. Cut the text before it, or leave the sample out.",
                )

    def _vision(self, shared: SharedBatch, texts: Sequence[Forced]) -> Vision:
        """The batch's pictures; a constant one that comes alone is seen once for all batches."""
        keys = {text.image_key for text in texts}
        alone = next(iter(keys)) if len(keys) == 1 and keys <= self.constant and self.sharing else None
        vision = None if alone is None else self._seen.get(alone)
        if vision is None:
            vision = see_batch(self.vlm, shared)
            if alone is not None:
                self._seen[alone] = vision
        check_batch([text.example_id for text in texts], shared, vision)
        return vision

    def _keeps(self, trees: Sequence[Tree], layout: Layout) -> bool:
        """Whether the batch is one tree whose beginning is kept for the batches to come."""
        if not self.sharing or len(trees) != 1 or self._reads_pictures:
            return False
        return layout.forced[0].image_key in self.constant and 0 < trees[0].whole <= _trunk(trees[0], layout)

    def _too_large(self, tree: Tree, layout: Layout) -> bool:
        """Whether a tree is cut into limbs; what sees ahead must lie in its trunk."""
        if self._reads_pictures or tree.whole > _trunk(tree, layout):
            return False
        return len(tree) > self.row_tokens

    @property
    def _reads_pictures(self) -> bool:
        """Whether states of image tokens are read, which a trunk does not keep."""
        return self.needs.lens or self.needs.similarity

    def _begin(
        self, layout: Layout, tree: Tree, positions: Tensor, vision: dict[str, Any], *, keep: bool
    ) -> Beginning:
        """A tree's trunk in a cache.

        Args:
            keep: end the trunk with the picture and keep it for other batches.
        """
        trunk = tree.whole if keep else _trunk(tree, layout)

        def make() -> Beginning:
            cache = new_cache(self.vlm)
            arguments = trunk_call(self.vlm, layout, tree, trunk, positions, vision)
            self.vlm.model(**arguments, cache=cache, use_cache=True, logits_to_keep=ONE_LOGIT)
            self.computed += trunk
            self.distinct += trunk if keep else 0
            return Beginning(trunk, cache)

        if not keep:
            return make()
        self.distinct += len(tree) - trunk
        return self._beginnings.get((layout.forced[0].image_key, tree.ids[:trunk].tobytes()), make)

    def _in_limbs(
        self, layout: Layout, tree: Tree, positions: Tensor, vision: dict[str, Any], *, keep: bool
    ) -> Arriving:
        """A tree's trunk once, into a cache; then its limbs, each one row over that cache."""
        beginning = self._begin(layout, tree, positions, vision, keep=keep)
        pieces, order = [], []
        for members, limb in limbs(tree, beginning.tokens, LIMB_TOKENS):
            chosen = [tree.members[member] for member in members]
            part = layout.of(chosen)
            call = grafted(self.vlm, part, tree, beginning.tokens, limb, members, positions)
            self.computed += len(limb)
            pieces.append(self._reduced(call, part, beginning.fork()))
            order.append(chosen)
        return self._joined(pieces, order, layout)

    def _in_branches(
        self,
        layout: Layout,
        trees: Sequence[Tree],
        positions: Tensor,
        vision: Vision,
        pictures: Sequence[int],
        *,
        keep: bool,
    ) -> Arriving:
        """Each tree's trunk once, into a cache that a row a text goes on from; texts alone, whole."""
        pieces, order = [], []
        alone: list[int] = []
        for tree in trees:
            spared = (len(tree.members) - 1) * _trunk(tree, layout)
            if not keep and (spared < WORTH_A_CALL or self._reads_pictures):
                alone += tree.members
                continue
            shown = vision.take([pictures[tree.members[0]]])
            beginning = self._begin(layout, tree, positions, shown, keep=keep)
            for members in branches(tree, self.row_tokens * BRANCH_ROWS):
                chosen = [tree.members[member] for member in members]
                part = layout.of(chosen)
                call = branched(self.vlm, part, beginning.tokens, positions[..., chosen, :])
                self.computed += int(part.lengths.sum()) - beginning.tokens * len(chosen)
                pieces.append(self._reduced(call, part, beginning.fork(len(chosen))))
                order.append(chosen)
        if alone:
            part = layout.of(alone)
            self.computed += int(part.lengths.sum())
            call = padded(self.vlm, part, vision, [pictures[member] for member in alone])
            pieces.append(self._reduced(call, part))
            order.append(alone)
        return self._joined(pieces, order, layout)

    @staticmethod
    def _joined(pieces: Sequence[Arriving], order: Sequence[Sequence[int]], layout: Layout) -> Arriving:
        rows = [len(forced.targets) for forced in layout.forced]
        return lambda: merge([finish() for finish in pieces], order, rows)

    def _reduced(self, call: Call, layout: Layout, cache: Any = None) -> Arriving:
        return self._harvest.start(self._pass(call, layout, cache), layout)

    def _pass(self, call: Call, layout: Layout, cache: Any = None) -> Evidence:
        evidence = Evidence()
        keeper = Keeper(self.vlm, self.needs, self._harvest.lenses, layout, call.placement, evidence)
        layers, norm = self._decoder.layers, self._decoder.norm
        blind = self.vlm.family.cross_attention and "pixel_values" not in call.arguments
        skipped = frozenset(silent_layers(self.vlm) if blind else ())
        cached = {"use_cache": False} if cache is None else {"use_cache": True, "cache": cache}
        read = keeper.read_last()
        with (
            attention.rows_wanted(keeper.wanted),
            nullcontext() if read is None else only_at(self._last_feed_forward, *read),
            self._traced.trace(**call.arguments, **cached, logits_to_keep=ONE_LOGIT),
        ):
            state = layers[next(n for n in range(len(layers)) if n not in skipped)].input
            keeper.state(0, state)
            for number in range(len(layers)):
                if keeper.wanted is not None:
                    keeper.rows(number, layers[number].self_attn.output[1])
                last = number + 1 == len(layers)
                if number not in skipped:
                    state = layers[number].output
                keeper.state(RAW_LAST if last else number + 1, state)
            keeper.state(len(layers), norm.output)
        return evidence


def _trunk(tree: Tree, layout: Layout) -> int:
    """Nodes that all members share and at which nothing is read: they end before a prompt does."""
    return min(tree.trunk, int(layout.prompt_lengths.min()) - 1)
