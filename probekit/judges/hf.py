"""A local chat model, with or without eyes, run with transformers: greedy, batched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from probekit.errors import InputError
from probekit.judges.base import Opinion, Question
from probekit.judges.hf_seeing import SeeingModel, load_seeing, sees


@dataclass(frozen=True)
class HuggingFaceJudge:
    """Asks a language model, or a vision-language model, of the Hugging Face hub or a folder.

    The tokenizer's chat template is used when it has one; otherwise the question is continued as text.
    Questions with pictures need a model of an image-text-to-text class with a chat template; such a model
    is asked the ones without pictures as well.

    Attributes:
        model: hub name or folder.
        revision: commit or tag; ``None`` for the default.
        device: where it runs, such as ``cuda``; ``None`` for a GPU when there is one.
        batch_size: questions run together.
        max_new_tokens: limit on one answer.
    """

    model: str
    revision: str | None = None
    device: str | None = None
    batch_size: int = 4
    max_new_tokens: int = 1024

    @property
    def identity(self) -> Mapping[str, str]:
        """Model, revision and decoding."""
        return {
            "judge": "hf",
            "model": self.model,
            "revision": self.revision or "default",
            "decoding": f"greedy, at most {self.max_new_tokens} tokens",
        }

    @cached_property
    def _sees(self) -> bool:
        return sees(self.model, self.revision)

    @cached_property
    def _seeing(self) -> SeeingModel:
        return load_seeing(self.model, self.revision, self.device)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            # Decoder-only models continue from the right end, so padding goes to the left.
            tokenizer = AutoTokenizer.from_pretrained(self.model, revision=self.revision, padding_side="left")
            model = AutoModelForCausalLM.from_pretrained(self.model, revision=self.revision, dtype="auto")
        except (OSError, ValueError) as error:
            raise InputError(
                f"cannot load the judge: {error}", where=self.model, hint="Give a hub name or a folder."
            ) from None
        if tokenizer.pad_token_id is None:
            if tokenizer.eos_token_id is None:
                raise InputError("the tokenizer has neither a padding nor an end token", where=self.model)
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer, model.to(device).eval()

    def answer(self, questions: Sequence[Question]) -> Iterator[tuple[int, Opinion]]:
        """Yield answers batch by batch, longest questions first so that a lack of memory shows at once.

        Raises:
            InputError: the model cannot be loaded, or has no eyes and a question has pictures.
        """
        if any(question.pictures for question in questions) and not self._sees:
            raise InputError(
                "a question has pictures and this model reads text only",
                where=self.model,
                hint="Name a vision-language model, one of transformers' image-text-to-text classes.",
            )
        # Processors take batches in which all prompts have pictures, or none.
        for shown in sorted({len(question.pictures) for question in questions}, reverse=True):
            alike = [p for p, question in enumerate(questions) if len(question.pictures) == shown]
            order = sorted(alike, key=lambda p: -len(questions[p].content))
            for first in range(0, len(order), self.batch_size):
                batch = order[first : first + self.batch_size]
                for position, text in zip(batch, self._batch([questions[p] for p in batch]), strict=True):
                    yield position, Opinion(text) if text else Opinion("", "the model answered nothing")

    def _batch(self, questions: Sequence[Question]) -> list[str]:
        import torch

        if self._sees:
            return self._seeing.answers(questions, self.max_new_tokens)
        tokenizer, model = self._loaded
        if tokenizer.chat_template:
            # The template writes the special tokens itself: tokenising its text again could add a second BOS.
            encoded = tokenizer.apply_chat_template(
                [[{"role": "user", "content": question.content}] for question in questions],
                add_generation_prompt=True,
                padding=True,
                return_tensors="pt",
                return_dict=True,
            )
        else:
            encoded = tokenizer([q.content for q in questions], padding=True, return_tensors="pt")
        encoded = {name: encoded[name].to(model.device) for name in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            out = model.generate(
                **encoded,
                do_sample=False,
                max_new_tokens=self.max_new_tokens,
                pad_token_id=tokenizer.pad_token_id,
            )
        fresh = out[:, encoded["input_ids"].shape[1] :]
        return [text.strip() for text in tokenizer.batch_decode(fresh, skip_special_tokens=True)]
