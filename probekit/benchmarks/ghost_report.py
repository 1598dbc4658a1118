"""All checks of a Ghost set in one result: files, quality, compliance, separability."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from probekit.benchmarks.ghost import GhostCategory, Manifest
from probekit.benchmarks.ghost_records import (
    load_assignments,
    load_clusters,
    load_compliance,
    load_quality,
)
from probekit.benchmarks.ghost_validate import (
    Compliance,
    Fault,
    Quality,
    Separability,
    check_files,
    sharpness,
    stage1,
    stage2,
    stage3,
)


@dataclass(frozen=True)
class Validation:
    """What is known of a set. A stage without recorded verdicts is ``None``."""

    counts: Mapping[GhostCategory, int]
    faults: tuple[Fault, ...]
    sharpness: Mapping[str, float]
    quality: Mapping[str, Quality] | None
    compliance: Compliance | None
    separability: Separability | None

    def lines(self) -> list[str]:
        """The result in a few lines of text."""
        found = [f"{category}: {count} images" for category, count in self.counts.items()]
        found += [f"fault: {fault.image}: {fault.what}" for fault in self.faults]
        if self.quality is not None:
            passed = sum(q.passes for q in self.quality.values())
            found.append(f"stage 1: {passed} of {len(self.quality)} pass")
            found += [
                f"stage 1: {key}: {'; '.join(q.reasons)}" for key, q in self.quality.items() if not q.passes
            ]
        if self.compliance is not None:
            c = self.compliance
            found.append(f"stage 2: {c.total} of {c.n} comply, {c.unjudged} not judged")
            found += [f"stage 2: {k}: {v:.1%}" for k, v in c.rate.items() if v == v]
        if self.separability is not None:
            s = self.separability
            found.append(f"stage 3: recall {s.overall:.1%} over all {s.n}, {s.macro:.1%} over categories")
            found += [f"stage 3: {k}: {v:.1%}" for k, v in s.recall.items() if v == v]
        return found

    def record(self) -> dict[str, Any]:
        """Everything, for a JSON file."""
        record = asdict(self)
        if self.separability is not None:
            record["separability"]["confusion"] = self.separability.confusion.tolist()
        return record


def validate(
    manifest: Manifest,
    *,
    per_category: int | None = None,
    quality: Path | None = None,
    compliance: Path | None = None,
    assignments: Path | None = None,
    clusters: Path | None = None,
) -> Validation:
    """Run every check that the given records allow; images that open are measured for sharpness.

    Args:
        quality, compliance, assignments, clusters: see `probekit.benchmarks.ghost_records`.
    """
    faults = tuple(check_files(manifest, per_category))
    bad = {fault.image for fault in faults}
    measured: dict[str, float] = {}
    for image in manifest.images:
        if image.image not in bad:
            with Image.open(manifest.root / image.image) as opened:
                measured[image.image_id] = sharpness(opened)
    first = None
    if quality is not None:
        first = {
            key: stage1(rounds, measured=measured.get(key, float("nan")))
            for key, rounds in load_quality(quality, manifest).items()
        }
    second = None if compliance is None else stage2(manifest, load_compliance(compliance, manifest))
    third = None
    if assignments is not None and clusters is not None:
        known, given = manifest.by_id(), load_assignments(assignments, manifest)
        third = stage3([known[k].category for k in given], list(given.values()), load_clusters(clusters))
    return Validation(manifest.counts(), faults, measured, first, second, third)
