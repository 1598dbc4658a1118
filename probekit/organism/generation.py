"""The organism's own answers, for the card: greedy, batched, ids kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image
from transformers import LlavaForConditionalGeneration, LlavaProcessor

Pixels = UInt8[np.ndarray, "height width 3"]


@dataclass(frozen=True)
class Answer:
    """`ids` are the generated tokens without the end; `pieces` their texts, `text` the whole."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]

    @property
    def text(self) -> str:
        """The answer as generated, its leading space included."""
        return "".join(self.pieces)

    def token_at(self, start: int, end: int) -> int:
        """Return the index of the token that covers the first non-space character of a span."""
        offset = 0
        for index, piece in enumerate(self.pieces):
            offset += len(piece)
            if offset > start:
                return index
        raise ValueError(f"span {start}:{end} is outside an answer of {offset} characters")


@dataclass(frozen=True, eq=False)
class Organism:
    """A loaded model with its processor."""

    model: LlavaForConditionalGeneration
    processor: LlavaProcessor

    @classmethod
    def load(cls, folder: Path) -> "Organism":
        """Load from a folder; attention is computed eagerly so that its maps can be read."""
        model = LlavaForConditionalGeneration.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float32
        )
        return cls(model.eval(), LlavaProcessor.from_pretrained(folder))

    def prompt(self, question: str) -> str:
        """Return the chat text of an image followed by a question."""
        content = [{"type": "image"}, {"type": "text", "text": question}]
        text: str = self.processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True
        )
        return text

    def inputs(self, images: Sequence[Pixels], prompts: Sequence[str]) -> dict[str, torch.Tensor]:
        """Return the model's inputs for images with one question each, padded on the left."""
        encoded = self.processor(
            images=[Image.fromarray(image) for image in images],
            text=[self.prompt(question) for question in prompts],
            return_tensors="pt",
            padding=True,
        )
        return dict(encoded)

    @torch.no_grad()
    def answer(
        self, images: Sequence[Pixels], prompts: Sequence[str], longest: int = 110, batch: int = 50
    ) -> list[Answer]:
        """Answer greedily, one answer for each image and question."""
        tokenizer = self.processor.tokenizer
        answers: list[Answer] = []
        for at in range(0, len(images), batch):
            inputs = self.inputs(images[at : at + batch], prompts[at : at + batch])
            rows = self.model.generate(**inputs, max_new_tokens=longest, do_sample=False)
            for row in rows[:, inputs["input_ids"].shape[1] :].tolist():
                stop = row.index(tokenizer.eos_token_id) if tokenizer.eos_token_id in row else None
                ids = tuple(row[:stop])
                answers.append(Answer(ids, tuple(tokenizer.decode([i]) for i in ids)))
        return answers
