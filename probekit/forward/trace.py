"""One teacher-forced pass through nnsight, reduced while it runs.

Modules are read in the order the model runs them. Nothing as large as an attention map or a full
logit matrix outlives its layer: rows are pooled over key groups at once, logits are made afterwards
from the normed states of the caption's positions alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from nnsight import NNsight
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
from probekit.errors import ContractError, FamilyError
from probekit.families import PromptBatch, Prompter, Vlm
from probekit.forward import rows as attention
from probekit.forward.evidence import RAW_LAST, Evidence, Needs
from probekit.forward.layout import Layout, pad
from probekit.forward.reduce.attention import attention_grid, attention_mass, group_count, pooling
from probekit.forward.reduce.image import (
    image_similarity,
    internal_confidence,
    largest_probabilities,
    lens_columns,
    object_ids,
)
from probekit.forward.reduce.states import hidden_state, logits_state
from probekit.forward.reduce.tokens import token_columns, token_statistics
from probekit.forward.work import Forced


@dataclass(frozen=True)
class Traced:
    """Captures of one batch, on the host, and what is known of each row.

    Attributes:
        arrays: one tensor a capture, leading axis row, rows in the order of the texts' targets.
        prompt_tokens: m of each row.
        image_tokens: N of each row.
        agreement: per text, generated tokens that the pass would have chosen as well, and T;
            ``None`` when no capture needed the logits.
    """

    arrays: Mapping[Capture, Tensor]
    prompt_tokens: np.ndarray
    image_tokens: np.ndarray
    agreement: tuple[tuple[int, int], ...] | None


class Tracer:
    """Runs teacher-forced passes of one model for a fixed set of captures."""

    def __init__(self, vlm: Vlm, prompter: Prompter, captures: Sequence[Capture]) -> None:
        self.vlm = vlm
        self.prompter = prompter
        self.captures = tuple(captures)
        self.needs = Needs.of(captures, vlm.depth)
        attention.register()
        vlm.decoder.set_attn_implementation(attention.KERNEL)

    @cached_property
    def _traced(self) -> Any:
        return NNsight(self.vlm.model)

    @cached_property
    def _decoder(self) -> Any:
        envoy = self._traced
        for part in self.vlm.path_of(self.vlm.decoder).split("."):
            envoy = getattr(envoy, part)
        return envoy

    @property
    def _lenses(self) -> tuple[InternalConfidence, ...]:
        return lens_columns([c for c in self.captures if isinstance(c, InternalConfidence)])

    @torch.no_grad()
    def run(self, texts: Sequence[Forced]) -> Traced:
        """Trace one batch of texts; all have a picture, or none has."""
        images = [[] if text.image is None else [text.image()] for text in texts]
        batch = self.prompter.encode([text.question for text in texts], images)
        layout = Layout(batch.prompts, tuple(texts), self.needs.window, self.needs.own_rows)
        evidence = self._pass(batch, layout)
        return self._captures(evidence, layout)

    def inputs(self, batch: PromptBatch, layout: Layout) -> dict[str, Any]:
        """What the model is called with: right-padded ids, mask, token types, positions, vision."""
        device = self.vlm.device
        shape = layout.groups.shape
        fill = self.vlm.tokenizer.pad_token_id or 0
        ids = torch.full(shape, fill)
        mask = torch.zeros(shape, dtype=torch.long)
        types = {key: torch.zeros(shape, dtype=torch.long) for key in batch.prompts[0].token_types}
        for row, (prompt, forced) in enumerate(zip(batch.prompts, layout.forced, strict=True)):
            length = int(layout.lengths[row])
            ids[row, :length] = torch.tensor(prompt.ids + forced.continuation)
            mask[row, :length] = 1
            for key, values in prompt.token_types.items():
                types[key][row, : len(prompt)] = torch.tensor(values)
        vision = {
            key: value.to(device, self.vlm.dtype if value.is_floating_point() else None)
            for key, value in batch.vision.items()
        }
        inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": mask, **types}
        inputs = {key: value.to(device) for key, value in inputs.items()} | vision
        positions = self.vlm.family.position_ids(self.vlm.model, ids, mask, inputs)
        if positions is not None:
            inputs["position_ids"] = positions.to(device)
        return inputs

    def _pass(self, batch: PromptBatch, layout: Layout) -> Evidence:
        needs, evidence, device = self.needs, Evidence(), self.vlm.device
        inputs = self.inputs(batch, layout)
        queries = torch.from_numpy(layout.queries).to(device)
        pool = pooling(layout, needs.grid, device) if needs.attention else None
        keeper = _Keeper(self, layout, evidence)
        layers = self._decoder.layers
        wanted = queries if needs.attention else None
        with attention.rows_wanted(wanted), self._traced.trace(**inputs, use_cache=False, logits_to_keep=1):
            keeper.state(0, layers[0].input)
            for number in range(len(layers)):
                if pool is not None:
                    keeper.rows(number, layers[number].self_attn.output[1], queries, pool)
                if number + 1 < len(layers):
                    keeper.state(number + 1, layers[number].output)
                else:
                    keeper.state(RAW_LAST, layers[number].output)
            keeper.state(len(layers), self._decoder.norm.output)
        return evidence

    def _captures(self, evidence: Evidence, layout: Layout) -> Traced:
        columns: Float[Tensor, "token column"] | None = None
        agreement = None
        if self.needs.logits:
            if evidence.final is None:
                raise ContractError("the pass ended before the final norm", where=self.vlm.name)
            words = torch.tensor([w for f in layout.forced for w in f.continuation], device=self.vlm.device)
            columns, best = token_columns(evidence.final, words, self.vlm.logits, self.vlm.vocabulary)
            equal = (best == words).cpu().numpy()
            lengths = [len(forced.continuation) for forced in layout.forced]
            pieces = np.split(equal, np.cumsum(lengths)[:-1])
            agreement = tuple((int(piece.sum()), len(piece)) for piece in pieces)
        arrays = {c: self._capture(c, evidence, layout, columns).cpu() for c in self.captures}
        sequences = layout.rows[:, 0]
        image = np.array([prompt.image_tokens for prompt in layout.prompts])
        return Traced(arrays, layout.prompt_lengths[sequences], image[sequences], agreement)

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
                return internal_confidence(capture, evidence, self._lenses)
            case ImageSimilarity():
                return image_similarity(capture, evidence, layout, depth, head, size)
            case Logits(form="factored"):
                return logits_state(capture, evidence, layout, depth)
            case Logits():
                return self.vlm.logits(logits_state(capture, evidence, layout, depth)).to(self.vlm.dtype)
        raise ContractError(f"no reduction for {capture.key}")


class _Keeper:
    """Keeps what is needed of each module's output while the pass runs."""

    def __init__(self, tracer: Tracer, layout: Layout, evidence: Evidence) -> None:
        self.tracer, self.layout, self.evidence = tracer, layout, evidence
        device = tracer.vlm.device
        self.batch = torch.arange(len(layout.prompts), device=device)[:, None]
        self.positions = torch.from_numpy(layout.positions).to(device)

    def rows(self, layer: int, rows: Tensor | None, queries: Tensor, pool: Tensor) -> None:
        """Pool one layer's attention rows ``(batch, head, query, key)``."""
        if rows is None:
            raise FamilyError(
                f"layer {layer} gave no attention rows",
                where=self.tracer.vlm.name,
                hint="Its attention does not go through transformers' attention interface.",
            )
        batch, heads, count, keys = rows.shape
        pooled = rows.reshape(batch, heads * count, keys) @ pool.to(rows.device)
        self.evidence.pooled.append(pooled.reshape(batch, heads, count, -1))
        if self.tracer.needs.own_rows:
            own = queries.to(rows.device)[:, None, :, None].expand(-1, heads, -1, 1)
            self.evidence.own.append(rows.gather(3, own)[..., 0])

    def state(self, index: int, state: Tensor) -> None:
        """Keep states of hs[index] ``(batch, key, D)`` at the wanted positions."""
        needs, depth = self.tracer.needs, self.tracer.vlm.depth
        if index in needs.states:
            self.evidence.states[index] = state[self.batch.to(state.device), self.positions.to(state.device)]
        if needs.lens and index != RAW_LAST:
            self.evidence.lens.append(self._lens(state))
        if index == depth:
            if needs.logits:
                self.evidence.final = self._caption(state)
            if needs.similarity:
                self.evidence.image = [
                    state[row, torch.from_numpy(self.layout.image_positions(row)).to(state.device)]
                    for row in range(len(self.layout.prompts))
                ]

    def _caption(self, state: Tensor) -> Tensor:
        pieces = []
        for row, forced in enumerate(self.layout.forced):
            first = int(self.layout.prompt_lengths[row]) - 1
            pieces.append(state[row, first : first + len(forced.continuation)])
        return torch.cat(pieces)

    def _lens(self, state: Tensor) -> Tensor:
        vlm, captures = self.tracer.vlm, self.tracer._lenses
        pieces = []
        for row in range(len(self.layout.prompts)):
            ids = object_ids(self.layout, row)
            if not ids:
                continue
            image = torch.from_numpy(self.layout.image_positions(row)).to(state.device)
            pieces.append(largest_probabilities(state[row, image], ids, captures, vlm.logits, vlm.vocabulary))
        return torch.cat(pieces) if pieces else state.new_zeros(0, len(captures))


__all__ = ["Traced", "Tracer", "pad"]
