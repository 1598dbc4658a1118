"""What is asked and shown: one user turn or a conversation, with no picture, one or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PIL import Image

from probekit.benchmarks.example import Message, Picture, Text
from probekit.errors import InputError

if TYPE_CHECKING:
    from probekit.families.loading import Vlm

Opener = Callable[[], Image.Image]
"""Opens one picture."""

Shown = Opener | tuple[Opener, ...] | None
"""What a text shows: one picture, several in the order of their places, or none."""

Asked = str | tuple[Message, ...]
"""What is asked: the text of one user turn, behind its pictures, or a conversation whose messages say
where each picture goes."""


def openers(shown: Shown) -> tuple[Opener, ...]:
    """The pictures of a text, none to several."""
    if shown is None:
        return ()
    return shown if isinstance(shown, tuple) else (shown,)


def messages_of(asked: Asked, images: int) -> tuple[Message, ...]:
    """A conversation with as many places for pictures as there are pictures.

    Raises:
        InputError: it has another number of places.
    """
    if isinstance(asked, str):
        return (Message("user", (*(Picture() for _ in range(images)), Text(asked))),)
    if (found := places(asked)) != images:
        raise InputError(f"the prompt has {found} places for pictures, {images} are given")
    return asked


def places(messages: Sequence[Message]) -> int:
    """Places for pictures in a conversation."""
    return sum(isinstance(part, Picture) for message in messages for part in message.parts)


def chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """A conversation in the form that chat templates take, and that files keep."""
    return [
        {
            "role": message.role,
            "content": [
                {"type": "text", "text": part.text} if isinstance(part, Text) else {"type": "image"}
                for part in message.parts
            ],
        }
        for message in messages
    ]


def check_context(vlm: Vlm, samples: Sequence[str], prompts: Sequence[int], answers: Sequence[int]) -> None:
    """Refuse prompts that leave no room for their answers in the model's context.

    Args:
        samples: what each prompt is called.
        prompts: tokens of each prompt, m.
        answers: tokens that are forced, or generated at most, after each.

    Raises:
        InputError: a sample needs more positions than the model has; its length is named.
    """
    limit = getattr(vlm.config.get_text_config(), "max_position_embeddings", None)
    for sample, prompt, answer in zip(samples, prompts, answers, strict=True):
        if limit is not None and prompt + answer > limit:
            raise InputError(
                f"a prompt of {prompt} tokens and an answer of {answer} do not fit the model's context of "
                f"{limit} tokens",
                where=f"sample {sample}",
                hint="Show it less: shorter texts, fewer or smaller pictures; or ask for a shorter answer.",
            )
