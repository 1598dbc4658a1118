"""Every choice that the Tri-Layer paper leaves open, as one value whose digest goes into every result."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from probekit.errors import InputError
from probekit.files import digest
from probekit.scores.cs import Generated
from probekit.scores.lad import LadVariant
from probekit.scores.vns import TOP


@dataclass(frozen=True)
class Choices:
    """How LAD, VNS and CS were computed. Two results are comparable only if their digests agree.

    Attributes:
        fraction: share of answer positions in VNS; the count is rounded up, at least one.
        lad: the paper's equation or its text, see `probekit.scores.lad.LadVariant`.
        gen: whose answer competes in CS, see `probekit.scores.cs.Generated`.
        max_new_tokens: longest answer; the paper does not say (SPEC 4.2).
        end_counts: whether an end-of-sequence token is a position of the answer.
        anchors: digest of the anchor set under each replaced image.
    """

    fraction: float = TOP
    lad: LadVariant = "eq1"
    gen: Generated = "blind"
    max_new_tokens: int = 64
    end_counts: bool = False
    anchors: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise InputError(f"fraction {self.fraction}", hint="Give a number above 0 and at most 1.")
        if self.lad not in ("eq1", "best"):
            raise InputError(f"LAD variant {self.lad!r}", hint="Known: eq1, best.")
        if self.gen not in ("blind", "full"):
            raise InputError(f"CS answer {self.gen!r}", hint="Known: blind, full.")

    @property
    def digest(self) -> str:
        """Digest of every choice."""
        return digest({**asdict(self), "anchors": dict(self.anchors)})
