"""What a usage judge says about one mention."""

from __future__ import annotations

from dataclasses import dataclass

from probekit.labels import Usage


@dataclass(frozen=True, slots=True)
class Verdict:
    """One mention, judged from the text alone.

    Attributes:
        usage: how the text uses the mention.
        trigger: the words of the text that decided it; empty when nothing spoke against a plain claim.
        note: why there is no better verdict, when a judge's answer could not be read.
    """

    usage: Usage
    trigger: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class UsageItem:
    """One mention to be judged.

    Attributes:
        caption: the whole text.
        start, end: the mention's characters.
        category: the class it is taken for.
    """

    caption: str
    start: int
    end: int
    category: str

    @property
    def mention(self) -> str:
        """The text of the mention."""
        return self.caption[self.start : self.end]

    @property
    def marked(self) -> str:
        """The caption with the mention between white square brackets."""
        return f"{self.caption[: self.start]}⟦{self.mention}⟧{self.caption[self.end :]}"
