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
    """

    usage: Usage
    trigger: str = ""
