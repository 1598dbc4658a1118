"""The three things an answer to a yes/no question can be, as words and as array codes."""

from enum import StrEnum
from typing import Final

YES: Final = 1
"""Code of a yes in an array of decisions."""
NO: Final = 0
"""Code of a no."""
UNKNOWN: Final = -1
"""Code of an answer that is neither; it is never turned into one of the two."""


class Answer(StrEnum):
    """What an answer says."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    @property
    def code(self) -> int:
        """1 for yes, 0 for no, -1 for unknown: the value in an int8 array of decisions."""
        return _CODES[self]


_CODES: dict[Answer, int] = {Answer.YES: YES, Answer.NO: NO, Answer.UNKNOWN: UNKNOWN}
