"""What the H-Rate rules say of one response."""

import re
from dataclasses import dataclass

_FINAL = re.compile(
    r"\b(?:final(?: answer| label| verdict)?|answer|verdict|decision)\b[\s*_\"'`]*[:=][\s*_]*([^;\n]*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RateVerdict:
    """One response under the rules.

    Attributes:
        hallucinated: whether it commits to something the picture cannot support; ``None`` when the
            response is invalid or, for presence, gives no label: left out of the rate and counted.
        rule: name of the rule that decided.
        evidence: the words the rule went by.
    """

    hallucinated: bool | None
    rule: str
    evidence: tuple[str, ...] = ()


def final_fields(response: str) -> list[str]:
    """What stands after each ``Final:`` or ``Answer:``, up to a semicolon or the line's end; never empty."""
    return [field.strip(" .*_\"'`[]()") for field in _FINAL.findall(response) if field.strip(" .*_\"'`[]()")]
