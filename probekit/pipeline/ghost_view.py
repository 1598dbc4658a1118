"""How a traced Ghost run is looked at, and that the next look is like the last unless it is said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from probekit.files import read_json, write_json
from probekit.metrics.rates import Policy

FILE = "view.json"


@dataclass(frozen=True)
class View:
    """How a traced run is looked at; nothing here changes a store.

    Attributes:
        policy: choices of the H-Rate rules.
        judged: responses with a judge's scores, from ``probekit ghost judge``.
        heads: heads of trained detectors.
        mix: their mixing budget.
    """

    policy: Policy = Policy()  # noqa: RUF009 - frozen
    judged: Path | None = None
    heads: Path | None = None
    mix: str | None = None


def remembered(folder: Path, view: View) -> tuple[View, tuple[str, ...]]:
    """A view with the judged scores and heads of the last one, where none are given; and what was added.

    A page that is made again would otherwise lose what the last one showed. The rules' policy is not
    remembered: its switches say all there is to say.
    """
    if not (folder / FILE).exists():
        return view, ()
    before = read_json(folder / FILE)
    if not isinstance(before, dict):
        return view, ()
    notes = []
    for name, what in (("judged", "scores"), ("heads", "heads")):
        old = before.get(name)
        if not isinstance(old, str) or getattr(view, name) is not None:
            continue
        if not Path(old).exists():
            notes.append(f"The last page had {what} of {old}, which is no longer there.")
            continue
        if name == "judged":
            view = replace(view, judged=Path(old))
        else:
            mix = before.get("mix")
            view = replace(view, heads=Path(old), mix=view.mix or (mix if isinstance(mix, str) else None))
        notes.append(f"With {what} of {old}, as on the last page; --afresh leaves them out.")
    return view, tuple(notes)


def remember(folder: Path, view: View) -> None:
    """Keep a view for the next look."""
    paths = {name: None if path is None else str(path.resolve()) for name, path in _paths(view).items()}
    write_json(folder / FILE, {**paths, "mix": view.mix})


def _paths(view: View) -> dict[str, Path | None]:
    return {"judged": view.judged, "heads": view.heads}
