"""A local vision-language model that answers questions about pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from probekit.errors import InputError
from probekit.judges.base import Question

ONE_BY_ONE = ("mllama", "instructblip")
"""Model types whose processors do not pad all that a batch needs on the left."""


def sees(model: str, revision: str | None) -> bool:
    """Whether a model is of an image-text-to-text class.

    Raises:
        InputError: there is no such model.
    """
    from transformers import AutoConfig
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

    try:
        kind = AutoConfig.from_pretrained(model, revision=revision).model_type
    except (OSError, ValueError) as error:
        raise _unloadable(model, error) from None
    return kind in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES


@dataclass(frozen=True)
class SeeingModel:
    """A loaded model with its processor; `load_seeing` makes one.

    Attributes:
        name: hub name or folder, for errors.
        processor: prepares texts and pictures.
        model: the model, in evaluation mode.
    """

    name: str
    processor: Any
    model: Any

    def answers(self, questions: Sequence[Question], max_new_tokens: int) -> list[str]:
        """Greedy answers to questions that all have equally many pictures, in order.

        Raises:
            InputError: a picture cannot be read, or there is none and the model takes no text alone.
        """
        if self.model.config.model_type in ONE_BY_ONE and len(questions) > 1:
            return [self.answers([question], max_new_tokens)[0] for question in questions]
        tokenizer = self.processor.tokenizer
        texts = [self._text(question) for question in questions]
        images = [[picture.open() for picture in question.pictures] for question in questions]
        bos = tokenizer.bos_token
        # A template that writes the first token itself must not get a second one.
        written = bos is not None and all(text.startswith(bos) for text in texts)
        seen = images if any(images) else None
        try:
            prompt, out = self._generated(texts, seen, max_new_tokens, special=not written)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if seen is not None or self._reads_alone(special=not written):
                raise
            # processors and models that need a picture say so in a way of their own, or not at all
            raise InputError(
                f"the judge {self.model.config.model_type!r} takes no text without a picture: {error}",
                where=self.name,
                hint="Name a language model that is made for conversation, or a vision-language model that "
                "answers texts alone as well, such as Qwen2.5-VL, Gemma 3 or LLaVA-OneVision.",
            ) from error
        # Models that write on from embeddings give back the new tokens alone.
        start = prompt.shape[1]
        whole = out.shape[1] >= start and bool((out[:, :start] == prompt).all())
        fresh = out[:, start:] if whole else out
        return [text.strip() for text in tokenizer.batch_decode(fresh, skip_special_tokens=True)]

    def _reads_alone(self, *, special: bool) -> bool:
        """Whether the model goes on after a short text without a picture."""
        try:
            self._generated([self._text(Question("short", "Hello"))], None, 1, special=special)
        except (AttributeError, LookupError, TypeError, ValueError):
            return False
        return True

    def _generated(
        self, texts: Sequence[str], images: Any, max_new_tokens: int, *, special: bool
    ) -> tuple[Any, Any]:
        """Ids of the prompts and what the model gives back for them."""
        import torch

        inputs = self.processor(
            text=list(texts), images=images, padding=True, return_tensors="pt", add_special_tokens=special
        )
        inputs.pop("labels", None)
        inputs = inputs.to(self.model.device, dtype=self.model.dtype)
        with torch.inference_mode():
            out = self.model.generate(
                **inputs,
                do_sample=False,
                max_new_tokens=max_new_tokens,
                pad_token_id=self.processor.tokenizer.pad_token_id,
            )
        return inputs["input_ids"], out

    def _text(self, question: Question) -> str:
        content = [{"type": "image"}] * len(question.pictures) + [{"type": "text", "text": question.content}]
        own = getattr(self.processor, "chat_template", None) is not None
        render = (self.processor if own else self.processor.tokenizer).apply_chat_template
        text: str = render([{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False)
        return text


def load_seeing(model: str, revision: str | None, device: str | None) -> SeeingModel:
    """Load a vision-language model and its processor.

    Args:
        device: where it runs; ``None`` for a GPU when there is one.

    Raises:
        InputError: it cannot be loaded, or brings no chat template.
    """
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        # Decoders continue from the right end, so padding goes to the left.
        processor = AutoProcessor.from_pretrained(model, revision=revision, padding_side="left")
        loaded = AutoModelForImageTextToText.from_pretrained(model, revision=revision, dtype="auto")
    except (OSError, ValueError) as error:
        raise _unloadable(model, error) from None
    tokenizer = getattr(processor, "tokenizer", None)
    if tokenizer is None:
        raise InputError("brings no processor for texts and pictures", where=model)
    if not (getattr(processor, "chat_template", None) or getattr(tokenizer, "chat_template", None)):
        raise InputError(
            "brings no chat template, so it is not known where a picture goes",
            where=model,
            hint="Name a model that is made for conversation.",
        )
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return SeeingModel(model, processor, loaded.to(where).eval())


def _unloadable(model: str, error: Exception) -> InputError:
    return InputError(f"cannot load the judge: {error}", where=model, hint="Give a hub name or a folder.")
