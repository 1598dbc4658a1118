"""One sentence on intervals, the same under every table."""

from __future__ import annotations

from probekit.metrics.estimates import FEWEST


def resampled(units: str = "pictures") -> str:
    """What is drawn again and again for an interval, and where there is none."""
    return (
        f"Intervals of 95 % resample {units}. Fewer than {FEWEST} {units}: no interval. Where all {units} "
        "agree, a share has Wilson's interval on their number."
    )
