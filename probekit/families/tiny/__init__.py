"""Small random members of real architectures, with real processors, made without a network.

They are what the conformance tests and `probekit check --tiny` run on, and, made larger, what the
benchmarks time. Contents: `Size`, `TINY` (a maker by family), `make`.
"""

from probekit.families.tiny.members import TINY, make
from probekit.families.tiny.size import Size

__all__ = ["TINY", "Size", "make"]
