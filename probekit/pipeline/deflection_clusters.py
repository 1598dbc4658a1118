"""Which samples of DeflectionBench belong together: those that show a picture in common. SPEC 0.9.

What is known of a picture is known of all questions about it. Such samples are in one fold of a probe, and
are drawn together for an interval. Pictures are compared by content. One of a single colour, such as the
black picture, shows nothing that a sample could be known by, and joins nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probekit.benchmarks.deflection import Sample
from probekit.evaluation.deflection_detectors import FOLDS
from probekit.files import inside, sha256

if TYPE_CHECKING:
    from probekit.pipeline.deflection_answers import Prompt


@dataclass(frozen=True)
class Clusters:
    """Samples in groups.

    Attributes:
        of: sample -> name of its group, which is that of one of its samples.
        note: what was not as usual.
    """

    of: Mapping[str, str]
    note: str = ""


def clusters_of_prompts(prompts: Sequence[Prompt]) -> Clusters:
    """Groups by all pictures that the prompts show."""
    shown: dict[str, list[Path]] = defaultdict(list)
    asked: dict[str, list[Path]] = {}
    for prompt in prompts:
        shown[prompt.sample.sample_id] += prompt.paths
        asked[prompt.sample.sample_id] = list(prompt.paths[:1]) if prompt.sample.image is not None else []
    return clusters_of(shown, asked)


def clusters_of_samples(samples: Sequence[Sample], images: Path | None) -> Clusters:
    """Groups by all pictures of the samples; by the names of the questions' pictures without their folder."""
    if images is None or not images.is_dir():
        first: dict[str, str] = {}
        of = {
            sample.sample_id: sample.sample_id
            if sample.image is None
            else first.setdefault(sample.image, sample.sample_id)
            for sample in samples
        }
        return Clusters(of, "samples are grouped by the names of their questions' pictures")

    def paths(sample: Sample, names: Iterable[str | None]) -> list[Path]:
        where = f"sample {sample.sample_id}"
        found = [inside(images, name, where=where) for name in names if name is not None]
        return [path for path in found if path.is_file()]

    shown = {
        sample.sample_id: paths(
            sample, [sample.image, *(piece.image for piece in (*sample.gold, *sample.distractors))]
        )
        for sample in samples
    }
    return clusters_of(shown, {sample.sample_id: paths(sample, [sample.image]) for sample in samples})


def clusters_of(shown: Mapping[str, Sequence[Path]], asked: Mapping[str, Sequence[Path]]) -> Clusters:
    """Join samples that show a picture in common, also by way of others.

    Where that leaves fewer groups than folds, or one with more than half of the samples, because distractors
    come from one small pool, samples are joined by their questions' pictures alone, and the note says so.

    Args:
        shown: all pictures of each sample.
        asked: the picture of its question.
    """
    known = {path: sha256(path) for paths in (*shown.values(), *asked.values()) for path in set(paths)}
    found = _joined(shown, known)
    sizes = Counter(found.values()).values()
    if len(found) >= 2 * FOLDS and (len(sizes) < FOLDS or max(sizes) > len(found) / 2):
        apart = _joined(asked, known)
        if len(set(apart.values())) > len(sizes):
            return Clusters(
                apart,
                "pictures among the evidence join too many samples: they are grouped by their questions' "
                "pictures alone",
            )
    return Clusters(found)


def _joined(pictures: Mapping[str, Sequence[Path]], known: Mapping[Path, str]) -> dict[str, str]:
    """Union of samples over the pictures that more than one of them has; ``known`` is their content."""
    owners: dict[str, list[str]] = defaultdict(list)
    places: dict[str, Path] = {}
    for sample, paths in pictures.items():
        places |= {known[path]: path for path in paths}
        for picture in {known[path] for path in paths}:
            owners[picture].append(sample)
    above = {sample: sample for sample in pictures}

    def root(sample: str) -> str:
        while above[sample] != sample:
            above[sample] = sample = above[above[sample]]
        return sample

    for picture, samples in sorted(owners.items()):
        if len(samples) > 1 and not _one_colour(places[picture]):
            for other in samples[1:]:
                one, two = sorted((root(samples[0]), root(other)))
                above[two] = one
    return {sample: root(sample) for sample in pictures}


def _one_colour(path: Path) -> bool:
    from probekit.families import open_image

    pixels = np.asarray(open_image(path, sample=path.name).convert("RGB")).reshape(-1, 3)
    return bool((pixels == pixels[0]).all())
