"""What a judge is told about the categories, and the clusters it sorts pictures into; from a YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probekit.benchmarks.ghost import GhostCategory, GhostImage
from probekit.errors import InputError
from probekit.files import digest
from probekit.yaml_files import read_yaml

SHIPPED = Path(__file__).with_name("scenarios.yaml")


@dataclass(frozen=True)
class Cluster:
    """One group of stage 3.

    Attributes:
        number: what the judge answers.
        category: what the group stands for; the judge is not told.
        description: what it looks like.
    """

    number: int
    category: GhostCategory
    description: str


@dataclass(frozen=True)
class Scenarios:
    """Descriptions by category.

    Attributes:
        name: name and version of the wording.
        texts: category -> scenario, with ``{target}`` where the target stands, if at all.
        clusters: the groups of stage 3, in the file's order.
    """

    name: str
    texts: Mapping[GhostCategory, str]
    clusters: tuple[Cluster, ...]

    @property
    def digest(self) -> str:
        """Digest of every text."""
        groups = [[c.number, str(c.category), c.description] for c in self.clusters]
        return digest([sorted((str(k), v) for k, v in self.texts.items()), groups])

    def text(self, image: GhostImage) -> str:
        """The scenario of one picture."""
        return self.texts[image.category].replace("{target}", image.target)


def load_scenarios(path: Path | None = None) -> Scenarios:
    """Read the shipped descriptions, or the user's own file of the same shape.

    Raises:
        InputError: the file is missing or not YAML, a category lacks its scenario, a cluster's number is
            given twice, or a description names a category.
    """
    source = path or SHIPPED
    value = read_yaml(source)
    if not isinstance(value, dict) or not isinstance(texts := value.get("scenarios"), dict):
        raise InputError("a mapping with scenarios and clusters is needed", where=str(source))
    missing = [str(c) for c in GhostCategory if not isinstance(texts.get(str(c)), str)]
    if missing or len(texts) != len(GhostCategory):
        raise InputError(
            "a scenario is needed for each category and nothing else",
            where=str(source),
            hint=f"Categories: {', '.join(GhostCategory)}.",
        )
    return Scenarios(
        str(value.get("name", source.stem)),
        {category: texts[str(category)] for category in GhostCategory},
        _clusters(value.get("clusters"), source),
    )


def _clusters(value: Any, source: Path) -> tuple[Cluster, ...]:
    if not isinstance(value, list) or not value:
        raise InputError("'clusters' must be a list", where=str(source))
    found: list[Cluster] = []
    for entry in value:
        if not isinstance(entry, dict) or set(entry) != {"id", "category", "description"}:
            raise InputError("each cluster needs id, category and description", where=str(source))
        number, category, text = entry["id"], entry["category"], entry["description"]
        if type(number) is not int or category not in tuple(GhostCategory) or not isinstance(text, str):
            raise InputError(
                f"the cluster {entry!r} is no number, category and text",
                where=str(source),
                hint=f"Categories: {', '.join(GhostCategory)}.",
            )
        if any(number == one.number for one in found):
            raise InputError(f"two clusters have the id {number}", where=str(source))
        told = [str(c) for c in GhostCategory if str(c) in text or str(c).replace("_", " ") in text.lower()]
        if told:
            raise InputError(
                f"the description of cluster {number} names the category {told[0]}",
                where=str(source),
                hint="The judge must not be told the categories.",
            )
        found.append(Cluster(number, GhostCategory(category), text))
    return tuple(found)
