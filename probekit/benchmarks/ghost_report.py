"""All checks of a Ghost set in one result: files, quality, compliance, separability."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from probekit.benchmarks.ghost import GhostCategory, Manifest
from probekit.benchmarks.ghost_records import (
    load_assignments,
    load_clusters,
    load_compliance,
    load_quality,
    unread,
)
from probekit.benchmarks.ghost_validate import (
    ROUNDS,
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
    """What is known of a set. A stage without recorded verdicts is ``None``.

    Attributes:
        counts: images per category.
        faults: what is wrong with files and manifest.
        sharpness: image id -> `sharpness`.
        quality, compliance, separability: the three stages.
        rejected: image id -> which of stage 2's questions was answered no, and the judge's own reason.
        unread: stage -> answers that could not be read; nothing is made of them.
        least_sharpness: what a picture must have, where it was given.
    """

    counts: Mapping[GhostCategory, int]
    faults: tuple[Fault, ...]
    sharpness: Mapping[str, float]
    quality: Mapping[str, Quality] | None
    compliance: Compliance | None
    separability: Separability | None
    rejected: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[int, int] = field(default_factory=dict)
    least_sharpness: float | None = None

    @property
    def blurred(self) -> dict[str, float]:
        """Sharpness of the pictures that have less than they must."""
        least = self.least_sharpness
        return {} if least is None else {key: value for key, value in self.sharpness.items() if value < least}

    def lines(self) -> list[str]:
        """The result in a few lines of text."""
        found = [f"{category}: {count} images" for category, count in self.counts.items() if count]
        found += [f"fault: {fault.image}: {fault.what}" for fault in self.faults]
        found.append(f"files: {len(self.faults) or 'no'} faults in {self.total} pictures")
        if self.sharpness:
            values = sorted(self.sharpness.values())
            middle = values[len(values) // 2]
            found.append(f"sharpness: {values[0]:.1f} to {values[-1]:.1f}, half of them above {middle:.1f}")
        found += [
            f"sharpness: {key}: {value:.1f} < {self.least_sharpness:.1f}"
            for key, value in self.blurred.items()
        ]
        if self.quality is not None:
            whole = [q for q in self.quality.values() if q.complete]
            passed = sum(q.passes for q in whole)
            line = f"stage 1: {passed} of {len(whole)} pass, {self.total - len(self.quality)} not judged"
            if fewer := len(self.quality) - len(whole):
                line += f", {fewer} scored fewer than {ROUNDS} times and left out"
            found.append(line)
            found += [
                f"stage 1: {key}: {'; '.join(q.reasons)}" for key, q in self.quality.items() if not q.passes
            ]
        if self.compliance is not None:
            c = self.compliance
            found.append(f"stage 2: {c.total} of {c.n} comply, {c.unjudged} not judged")
            found += [f"stage 2: {k}: {v:.1%}" for k, v in c.rate.items() if v == v]
            found += [f"stage 2: {key}: {reason}" for key, reason in self.rejected.items()]
        if self.separability is not None:
            s = self.separability
            recall = (
                f"recall {s.overall:.1%} over all {s.n}, {s.macro:.1%} over categories"
                if s.n
                else "no picture has a cluster"
            )
            without = f", {s.unassigned} without a cluster left out" if s.unassigned else ""
            found.append(f"stage 3: {recall}{without}")
            found += [f"stage 3: {k}: {v:.1%}" for k, v in s.recall.items() if v == v]
        found += [f"stage {k}: {n} answers could not be read" for k, n in self.unread.items() if n]
        return found

    @property
    def total(self) -> int:
        """Pictures of the set."""
        return sum(self.counts.values())

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
    thresholds: Mapping[str, float] | None = None,
    least_sharpness: float | None = None,
) -> Validation:
    """Run every check that the given records allow; images that open are measured for sharpness.

    Args:
        quality, compliance, assignments, clusters: see `probekit.benchmarks.ghost_records`.
        thresholds, least_sharpness: of `stage1`.
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
            key: stage1(
                rounds,
                thresholds=thresholds,
                measured=measured.get(key, float("nan")),
                least_sharpness=least_sharpness,
            )
            for key, rounds in load_quality(quality, manifest).items()
        }
    verdicts = {} if compliance is None else load_compliance(compliance, manifest)
    second = None if compliance is None else stage2(manifest, verdicts)
    third = None
    if assignments is not None and clusters is not None:
        known, given = manifest.by_id(), load_assignments(assignments, manifest)
        third = stage3([known[k].category for k in given], list(given.values()), load_clusters(clusters))
    rejected = {
        key: _rejection(verdicts[key])
        for key, passes in (second.passes if second is not None else {}).items()
        if not passes
    }
    files = {1: quality, 2: compliance, 3: assignments}
    lost = {stage: unread(path) for stage, path in files.items() if path is not None}
    return Validation(
        manifest.counts(), faults, measured, first, second, third, rejected, lost, least_sharpness
    )


def _rejection(verdict: Mapping[str, Any]) -> str:
    no = " and ".join(name.upper() for name in ("q1", "q2") if verdict[name] is False)
    reason = str(verdict.get("reason", "")).strip()
    return f"no to {no}" + (f" ({reason})" if reason else "")
