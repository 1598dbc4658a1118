"""One question about one picture: the first value of every datum's journey."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text:
    """A part of a message that is text."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The place of the example's image in a message; which image it is stands in the example."""


Part = Text | Picture


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the conversation: who speaks, and the parts in their order."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """What is asked of the model, with what is known of the right answer.

    Attributes:
        example_id: unique in its benchmark.
        image_id: the picture's identity, the stem of its file; every split and every interval goes by it.
        image: path relative to the benchmark's image root; ``None`` when nothing is shown.
        messages: the conversation, without the turn that the model is to write.
        condition: the pass this example asks for, such as ``full``, ``blind`` or ``adversarial``.
        reference: the right answer or answers, or the objects in the picture; ``None`` when unknown.
    """

    example_id: str
    image_id: str
    image: str | None
    messages: tuple[Message, ...]
    condition: str = "full"
    reference: str | tuple[str, ...] | None = None

    @classmethod
    def ask(
        cls,
        example_id: str,
        image_id: str,
        image: str | None,
        question: str,
        *,
        condition: str = "full",
        reference: str | tuple[str, ...] | None = None,
    ) -> "Example":
        """One user turn: the picture, when there is one, then the question."""
        picture: tuple[Part, ...] = () if image is None else (Picture(),)
        message = Message("user", (*picture, Text(question)))
        return cls(example_id, image_id, image, (message,), condition, reference)

    @property
    def question(self) -> str:
        """The text of the last user turn; empty when there is none."""
        for message in reversed(self.messages):
            if message.role == "user":
                return " ".join(part.text for part in message.parts if isinstance(part, Text))
        return ""
