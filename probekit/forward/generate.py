"""Greedy generation, batched, with the ids kept: they are never made again from text.

Questions about one picture share its computation where the family bears it (`decode`); others go through
transformers' own generation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from probekit.families import EncodedPrompt, PromptBatch, Prompter, TextDecoder, Vlm
from probekit.families.conversation import Asked, Shown, check_context, openers
from probekit.forward.decode import decode, decodes_in_trees


@dataclass(frozen=True)
class Question:
    """One thing to ask of a picture, of several or of none.

    Attributes:
        example_id: the example.
        image_id: the picture's identity, by which splits are made.
        image: opens the picture; several in the order of their places; or ``None``.
        question: the user's turn, or a conversation.
        image_key: identity of what is shown; questions with equal keys share its computation. Empty: the
            question stands alone.
    """

    example_id: str
    image_id: str
    image: Shown
    question: Asked
    image_key: str = ""


@dataclass(frozen=True)
class Generation:
    """What the model answered.

    Attributes:
        token_ids: generated ids without the closing end-of-sequence token.
        text: their decoding, leading space included.
        prompt_tokens: m, tokens of the prompt after image expansion.
        finished: whether the model ended the text itself. A text in which it writes a placeholder of
            pictures is cut there, unfinished: no forward pass could be given it back.
    """

    token_ids: tuple[int, ...]
    text: str
    prompt_tokens: int
    finished: bool


class Generator:
    """Greedy decoding of one model: no sampling, no penalties, whatever the checkpoint's defaults."""

    def __init__(self, vlm: Vlm, prompter: Prompter, max_new_tokens: int) -> None:
        self.vlm = vlm
        self.prompter = prompter
        self.max_new_tokens = max_new_tokens
        self._decoder = TextDecoder(vlm.tokenizer)

    @torch.no_grad()
    def run(self, questions: Sequence[Question]) -> tuple[Generation, ...]:
        """Answer one batch of questions; all have a picture, or none has.

        Raises:
            InputError: a prompt and the longest answer do not fit the model's context; the sample is named.
        """
        if self._share(questions):
            return self._shared(questions)
        images = [[image() for image in openers(q.image)] for q in questions]
        batch = self.prompter.encode([q.question for q in questions], images)
        check_context(
            self.vlm,
            [q.example_id for q in questions],
            [len(prompt) for prompt in batch.prompts],
            [self.max_new_tokens] * len(questions),
        )
        inputs = left_padded(self.vlm, batch)
        width = inputs["input_ids"].shape[1]
        output = self.vlm.model.generate(
            **inputs,
            max_new_tokens=self.max_new_tokens,
            do_sample=False,
            num_beams=1,
            temperature=None,
            top_p=None,
            top_k=None,
            repetition_penalty=1.0,
            pad_token_id=self.vlm.pad_token_id,
        )
        return self._generations(batch.prompts, output[:, width:].tolist())

    def _share(self, questions: Sequence[Question]) -> bool:
        """Whether some questions are about one picture, and may share its computation."""
        keys = [question.image_key for question in questions]
        return all(keys) and len(set(keys)) < len(keys) and decodes_in_trees(self.vlm)

    def _shared(self, questions: Sequence[Question]) -> tuple[Generation, ...]:
        names, keys = [q.example_id for q in questions], [q.image_key for q in questions]
        batch = self.prompter.encode_shared(
            [q.question for q in questions], keys, [q.image for q in questions], share=True
        )
        room = [self.max_new_tokens] * len(questions)
        check_context(self.vlm, names, [len(prompt) for prompt in batch.prompts], room)
        ends = self._ends | self.vlm.placeholders
        found = decode(self.vlm, batch, names, keys, ends, self.max_new_tokens)
        return self._generations(batch.prompts, found)

    def _generations(
        self, prompts: Sequence[EncodedPrompt], answers: Sequence[list[int]]
    ) -> tuple[Generation, ...]:
        ends, cuts = self._ends, self.vlm.placeholders
        results = []
        for prompt, ids in zip(prompts, answers, strict=True):
            stop = next((place for place, word in enumerate(ids) if word in ends or word in cuts), None)
            kept = tuple(ids if stop is None else ids[:stop])
            finished = stop is not None and ids[stop] in ends
            results.append(Generation(kept, self._decoder.decode(kept), len(prompt), finished))
        return tuple(results)

    @property
    def _ends(self) -> frozenset[int]:
        end = self.vlm.model.generation_config.eos_token_id
        if end is None:
            end = self.vlm.tokenizer.eos_token_id
        return frozenset(end if isinstance(end, list) else [end])


def left_padded(vlm: Vlm, batch: PromptBatch) -> dict[str, torch.Tensor]:
    """What the model is given to answer prompts: padded on the left, pictures as the processor made them."""
    device, dtype = vlm.device, vlm.dtype
    shape = (len(batch.prompts), max(map(len, batch.prompts)))
    ids, mask = torch.full(shape, vlm.pad_token_id), torch.zeros(shape, dtype=torch.long)
    types = {key: torch.zeros(shape, dtype=torch.long) for key in batch.prompts[0].token_types}
    for row, prompt in enumerate(batch.prompts):
        ids[row, -len(prompt) :] = torch.tensor(prompt.ids)
        mask[row, -len(prompt) :] = 1
        for key, values in prompt.token_types.items():
            types[key][row, -len(prompt) :] = torch.tensor(values)
    inputs = {"input_ids": ids, "attention_mask": mask, **types}
    vision = {k: v.to(dtype) if v.is_floating_point() else v for k, v in batch.vision.items()}
    return {key: value.to(device) for key, value in (inputs | vision).items()}
