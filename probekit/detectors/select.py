"""Which detectors to run on a store: by name, or all that it can serve."""

from __future__ import annotations

from collections.abc import Iterable

from probekit.captures import Capture
from probekit.detectors import DETECTORS, VARIANTS, Detector
from probekit.errors import InputError, UnservedError
from probekit.store import Store


def select(
    store: Store,
    names: Iterable[str] | None = None,
) -> tuple[dict[str, Detector], dict[str, tuple[Capture, ...]]]:
    """Detectors by name, and those left out with the captures they miss.

    Args:
        store: what has to serve them.
        names: names in `DETECTORS` or `VARIANTS`; ``None`` for all of `DETECTORS`.

    Raises:
        InputError: a name is unknown.
        UnservedError: a detector asked for by name cannot be served; its missing captures are named.
    """
    if names is None:
        missing = {name: store.missing(detector.needs()) for name, detector in DETECTORS.items()}
        served = {name: detector for name, detector in DETECTORS.items() if not missing[name]}
        return served, {name: captures for name, captures in missing.items() if captures}
    chosen: dict[str, Detector] = {}
    for name in names:
        if name not in DETECTORS and name not in VARIANTS:
            raise InputError(
                f"no detector is called {name!r}",
                hint=f"Detectors: {', '.join(DETECTORS)}. Variants: {', '.join(VARIANTS)}.",
            )
        detector = DETECTORS.get(name) or VARIANTS[name]
        if lacking := store.missing(detector.needs()):
            raise UnservedError(
                f"the store cannot serve {name}: it lacks {', '.join(c.key for c in lacking)}",
                hint="Extract into another --out with this detector named, or name other detectors.",
            )
        chosen[name] = detector
    return chosen, {}
