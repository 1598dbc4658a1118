"""From a pass's evidence to captures on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    Capture,
    GroupCount,
    HiddenState,
    ImageSimilarity,
    InternalConfidence,
    Logits,
    TokenStatistics,
)
from probekit.errors import ContractError
from probekit.families import Vlm
from probekit.forward.evidence import Evidence, Needs
from probekit.forward.layout import Layout
from probekit.forward.reduce.attention import attention_grid, attention_mass, group_count
from probekit.forward.reduce.image import image_similarity, internal_confidence, lens_columns
from probekit.forward.reduce.states import hidden_state, logits_state
from probekit.forward.reduce.tokens import token_columns, token_statistics
from probekit.forward.traced import Traced
from probekit.forward.transfer import HostCopies

Arriving = Callable[[], Traced]
"""Results on their way from the device; calling it waits for them."""


class Harvest:
    """Makes a fixed set of captures of each pass's evidence.

    Attributes:
        lenses: the distinct lens captures, in the order of their columns in the evidence.
    """

    def __init__(self, vlm: Vlm, captures: Sequence[Capture], needs: Needs, *, keep_tokens: bool) -> None:
        self.vlm, self.captures, self.needs, self.keep_tokens = vlm, tuple(captures), needs, keep_tokens
        self.lenses = lens_columns([c for c in captures if isinstance(c, InternalConfidence)])

    def start(self, evidence: Evidence, layout: Layout) -> Arriving:
        """Reduce on the device and set the copies going.

        Raises:
            ContractError: the evidence lacks what a capture needs.
        """
        copies = HostCopies()
        columns: Tensor | None = None
        equal, tokens, final = None, None, None
        if self.needs.logits:
            if evidence.final is None:
                raise ContractError("the pass ended before the final norm", where=self.vlm.name)
            words = torch.tensor(
                [w for f in layout.forced for w in f.continuation], device=self.vlm.head_device
            )
            columns, best = token_columns(evidence.final, words, self.vlm.logits, self.vlm.vocabulary)
            lengths = [len(forced.continuation) for forced in layout.forced]
            equal = copies.take(best == words).split(lengths)
            if self.keep_tokens:
                tokens = copies.take(columns).split(lengths)
                final = copies.take(evidence.final).split(lengths)
        arrays = {c: copies.take(self._capture(c, evidence, layout, columns)) for c in self.captures}
        arrived = copies.sealed()
        sequences = layout.rows[:, 0]
        image = np.array([prompt.image_tokens for prompt in layout.prompts])

        def finish() -> Traced:
            arrived()
            agreement = None if equal is None else tuple((int(e.sum()), len(e)) for e in equal)
            return Traced(
                arrays, layout.prompt_lengths[sequences], image[sequences], agreement, tokens, final
            )

        return finish

    def _capture(
        self, capture: Capture, evidence: Evidence, layout: Layout, columns: Tensor | None
    ) -> Tensor:
        depth, head, size = self.vlm.depth, self.vlm.logits, self.vlm.vocabulary
        match capture:
            case AttentionMass():
                return attention_mass(capture, evidence, layout)
            case GroupCount():
                return group_count(capture, layout)
            case AttentionGrid():
                return attention_grid(capture, evidence, layout)
            case HiddenState():
                return hidden_state(capture, evidence, layout, depth)
            case TokenStatistics() if columns is not None:
                return token_statistics(columns, layout)
            case InternalConfidence():
                return internal_confidence(capture, evidence, self.lenses)
            case ImageSimilarity():
                return image_similarity(capture, evidence, layout, depth, head, size)
            case Logits(form="factored"):
                return logits_state(capture, evidence, layout, depth)
            case Logits():
                return self.vlm.logits(logits_state(capture, evidence, layout, depth)).to(self.vlm.dtype)
        raise ContractError(f"no reduction for {capture.key}")
