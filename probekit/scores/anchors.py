"""Refusal anchors: versioned lists of sentences that admit the absence of a picture."""

from dataclasses import dataclass
from pathlib import Path

from probekit.errors import InputError
from probekit.files import digest
from probekit.yaml_files import read_yaml

SHIPPED = Path(__file__).with_name("anchor_sets")
DEFAULT = {"blind": "black-1", "noise": "noise-1"}
"""The shipped set used under each replaced image."""


@dataclass(frozen=True)
class AnchorSet:
    """Refusal sentences for one condition.

    Attributes:
        name: name and version, such as ``black-1``.
        condition: the replaced image they speak of, ``blind`` or ``noise``.
        anchors: the sentences, in a fixed order.
        source: where they were taken from.
    """

    name: str
    condition: str
    anchors: tuple[str, ...]
    source: str = ""

    @property
    def digest(self) -> str:
        """Digest of the sentences in their order. Belongs into every result computed with them."""
        return digest(list(self.anchors))


def load_anchors(name: str | Path) -> AnchorSet:
    """Read a shipped set by name, or the user's own YAML file by path.

    Raises:
        InputError: there is no such set, or the file is not a set of distinct sentences.
    """
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        path = SHIPPED / f"{name}.yaml"
    if not path.exists():
        shipped = ", ".join(sorted(file.stem for file in SHIPPED.glob("*.yaml")))
        raise InputError(f"no anchor set {name}", hint=f"Shipped: {shipped}; or a .yaml path.")
    value = read_yaml(path)
    if not isinstance(value, dict):
        raise InputError("a mapping with name, condition and anchors is needed", where=str(path))
    unknown = sorted(set(value) - {"name", "condition", "anchors", "source"})
    if unknown:
        raise InputError(f"unknown keys {', '.join(map(str, unknown))}", where=str(path))
    anchors = value.get("anchors")
    if (
        not isinstance(anchors, list)
        or not anchors
        or not all(isinstance(a, str) and a.strip() for a in anchors)
    ):
        raise InputError("anchors must be a list of sentences", where=str(path))
    if len(set(anchors)) != len(anchors):
        raise InputError("an anchor is listed twice", where=str(path))
    if value.get("condition") not in DEFAULT:
        raise InputError(
            f"condition {value.get('condition')!r}", where=str(path), hint=f"Known: {', '.join(DEFAULT)}."
        )
    return AnchorSet(
        str(value.get("name", path.stem)), value["condition"], tuple(anchors), str(value.get("source", ""))
    )
