"""Does a Ghost set keep its promises: the files, then the paper's three stages. Ghost-100 3.9.

Stage 1 is quality, stage 2 compliance, stage 3 separability. Judges are asked elsewhere; what they
said comes in as recorded verdicts, and every decision is made here, by the program.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from PIL import Image

from probekit.benchmarks.ghost import Family, GhostCategory, GhostImage, Manifest
from probekit.errors import InputError

DIMENSIONS: tuple[str, ...] = ("foreground", "missing_element", "realism", "integrity")
"""Judged from 1 to 5 in stage 1: clarity of the subject and of the missing element, realism, integrity."""
ROUNDS = 5
"""How often stage 1 asks about each image."""
WARN_AFTER = 50
"""Attempts after which a category that is still short of images calls for other prompts."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a set: which image, and what."""

    image: str
    what: str


def check_files(manifest: Manifest, per_category: int | None = None) -> list[Fault]:
    """Faults of the files and of what the manifest says about them.

    Every image must exist and open; text and time images need a readable ``the ...`` target; a
    whitelist must not hold the target; with ``per_category`` every category must have that many.
    """
    faults: list[Fault] = []
    for image in manifest.images:
        path = manifest.root / image.image
        try:
            with Image.open(path) as opened:
                opened.load()
        except FileNotFoundError:
            faults.append(Fault(image.image, "no such file"))
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            faults.append(Fault(image.image, f"does not open: {error}"))
        if image.category.family is not Family.PRESENCE and not image.target.casefold().startswith("the "):
            faults.append(
                Fault(image.image, f"target {image.target!r} should read 'the name ...' or 'the time ...'")
            )
        listed = {word.casefold() for word in image.whitelist}
        if image.target.casefold() in listed or (_is_object(image) and _noun(image.target) in listed):
            faults.append(Fault(image.image, "the target is on its own whitelist"))
    if per_category is not None:
        for category, count in manifest.counts().items():
            if count != per_category:
                faults.append(Fault(str(category), f"{count} images, {per_category} are needed"))
    return faults


def sharpness(image: Image.Image) -> float:
    """Variance of the Laplacian of the grey image, a usual measure of focus; higher is sharper."""
    from scipy import ndimage

    grey = np.asarray(image.convert("L"), dtype=np.float64)
    return float(ndimage.laplace(grey, mode="mirror").var())


@dataclass(frozen=True)
class Quality:
    """Stage 1 of one image.

    Attributes:
        means: mean judged score per dimension.
        deviations: population SD over the rounds per dimension.
        weakest: the dimension with the lowest mean relative to its threshold.
        sharpness: variance of the Laplacian; NaN when not measured.
        passes: no dimension, nor the sharpness, lies below its threshold.
        reasons: each dimension that fails, in words.
        rounds: how often it was scored.
    """

    means: Mapping[str, float]
    deviations: Mapping[str, float]
    weakest: str
    sharpness: float
    passes: bool
    reasons: tuple[str, ...]
    rounds: int = ROUNDS

    @property
    def complete(self) -> bool:
        """Whether it was scored as often as the paper asks; mistakes of a single asking are not averaged."""
        return self.rounds >= ROUNDS


def stage1(
    rounds: Sequence[Mapping[str, int]],
    *,
    thresholds: Mapping[str, float] | None = None,
    measured: float = math.nan,
    least_sharpness: float | None = None,
) -> Quality:
    """Weakest-link decision from repeated scores of 1 to 5 on four dimensions.

    Args:
        rounds: one mapping dimension -> score per independent asking.
        thresholds: least mean per dimension; 3 each when not given (the paper prints none).
        measured: the image's `sharpness`.
        least_sharpness: below it the image fails; ``None`` only reports.

    Raises:
        InputError: a score is missing or out of range.
    """
    limits = dict.fromkeys(DIMENSIONS, 3.0) | dict(thresholds or {})
    if not rounds:
        raise InputError("no scores", hint=f"Stage 1 needs {ROUNDS} rounds.")
    table: dict[str, list[int]] = {name: [] for name in DIMENSIONS}
    for number, scores in enumerate(rounds, start=1):
        for name in DIMENSIONS:
            score = scores.get(name)
            if not isinstance(score, int) or isinstance(score, bool) or not 1 <= score <= 5:
                raise InputError(
                    f"round {number}: {name} is {score!r}", hint="Scores are whole numbers from 1 to 5."
                )
            table[name].append(score)
    means = {name: float(np.mean(values)) for name, values in table.items()}
    reasons = [
        f"{name} {means[name]:.1f} < {limits[name]:.1f}" for name in DIMENSIONS if means[name] < limits[name]
    ]
    if least_sharpness is not None and not measured >= least_sharpness:
        reasons.append(f"sharpness {measured:.1f} < {least_sharpness:.1f}")
    return Quality(
        means,
        {name: float(np.std(values)) for name, values in table.items()},
        min(DIMENSIONS, key=lambda name: means[name] - limits[name]),
        measured,
        not reasons,
        tuple(reasons),
        len(rounds),
    )


QUESTIONS: Mapping[Family, tuple[str, str]] = {
    Family.TEXT: (
        "Is the name field free of any personal name that can be read?",
        "Is there no personal name elsewhere on the badge? Roles, organisations and headings are allowed.",
    ),
    Family.TIME: (
        "Does the dial, instrument or display fail to give a time?",
        "Is no other readable time shown? Numerals of the dial and text around it do not count.",
    ),
    Family.PRESENCE: (
        "Is the named object absent from the whole picture?",
        "Does the picture suggest the object strongly enough for its absence to be noticed?",
    ),
}
"""Q1 and Q2 of stage 2, in this project's wording: a yes to both is compliance."""


@dataclass(frozen=True)
class Compliance:
    """Stage 2 of a set.

    Attributes:
        passes: image id -> Q1 and Q2.
        rate: share of passing images per category; NaN for a category without verdicts.
        total: passing images.
        n: images with a verdict.
        unjudged: images without one, left out.
        whitelist: image id -> the manifest's whitelist grown by the words the verifier allowed on a picture
            that complies; on another they may be the name itself.
    """

    passes: Mapping[str, bool]
    rate: Mapping[GhostCategory, float]
    total: int
    n: int
    unjudged: int
    whitelist: Mapping[str, tuple[str, ...]]


def stage2(manifest: Manifest, verdicts: Mapping[str, Mapping[str, object]]) -> Compliance:
    """Compliance as the conjunction of two recorded answers. Ghost-100 Eq. 3.

    Args:
        verdicts: image id -> ``{"q1": bool, "q2": bool, "allowed_words": [...]}``; the words are
            taken for text categories only, and grow the whitelist of an image that passes.

    Raises:
        InputError: an answer is not true or false, the words are no list of texts, or an image is not in
            the manifest.
    """
    known = manifest.by_id()
    unknown = sorted(set(verdicts) - set(known))
    if unknown:
        raise InputError(f"a verdict on {unknown[0]!r}, which the manifest does not hold")
    passes: dict[str, bool] = {}
    whitelist = {key: image.whitelist for key, image in known.items()}
    for key, verdict in verdicts.items():
        q1, q2 = verdict.get("q1"), verdict.get("q2")
        if not isinstance(q1, bool) or not isinstance(q2, bool):
            raise InputError("q1 and q2 must be true or false", where=f"verdict on {key}")
        passes[key] = q1 and q2
        words = _words(verdict, f"verdict on {key}", known[key].category.family)
        if words and passes[key]:
            whitelist[key] = tuple(dict.fromkeys((*whitelist[key], *words)))
    rate = {}
    for category in GhostCategory:
        held = [passed for key, passed in passes.items() if known[key].category is category]
        rate[category] = sum(held) / len(held) if held else math.nan
    return Compliance(passes, rate, sum(passes.values()), len(passes), len(known) - len(passes), whitelist)


def _words(verdict: Mapping[str, object], where: str, family: Family) -> tuple[str, ...]:
    """The words a verdict allows; of other pictures than badges none count, and null is as good as none."""
    words = verdict.get("allowed_words", [])
    if words is None and family is not Family.TEXT:
        return ()
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(
            f"'allowed_words' must be a list of texts, found {words!r}",
            where=where,
            hint='Such as ["STAFF", "HALL 3"], or [] for none.',
        )
    return tuple(words) if family is Family.TEXT else ()


@dataclass(frozen=True)
class Separability:
    """Stage 3 of a set.

    Attributes:
        recall: share of each category's images put into its cluster; NaN for an empty category.
        overall: share over all images (micro).
        macro: mean of the categories' recalls.
        confusion: rows are the true categories, columns the assigned ones, in `GhostCategory` order;
            the last column counts assignments to no category.
        n: images assigned.
        unassigned: images put into no cluster at all, left out.
    """

    recall: Mapping[GhostCategory, float]
    overall: float
    macro: float
    confusion: Float[np.ndarray, "category assigned"]
    n: int
    unassigned: int = 0


def stage3(
    true: Sequence[GhostCategory], assigned: Sequence[str | None], clusters: Mapping[str, GhostCategory]
) -> Separability:
    """Recall of a judge that sorts images into clusters without knowing the categories.

    Args:
        assigned: the cluster each image was put into; an image with ``None`` is left out and counted.
        clusters: cluster -> category, fixed before the judge is asked.
    """
    order = list(GhostCategory)
    confusion = np.zeros((len(order), len(order) + 1))
    for category, cluster in zip(true, assigned, strict=True):
        if cluster is None:
            continue
        found = clusters.get(cluster)
        column = len(order) if found is None else order.index(found)
        confusion[order.index(category), column] += 1
    held = confusion.sum(axis=1)
    hits = np.diag(confusion[:, : len(order)])
    recall = {c: float(h / n) if n else math.nan for c, h, n in zip(order, hits, held, strict=True)}
    total = float(held.sum())
    there = [value for value in recall.values() if not math.isnan(value)]
    return Separability(
        recall,
        float(hits.sum() / total) if total else math.nan,
        float(np.mean(there)) if there else math.nan,
        confusion,
        int(total),
        sum(cluster is None for cluster in assigned),
    )


def regeneration_warnings(
    attempts: Mapping[GhostCategory, int], kept: Mapping[GhostCategory, int], wanted: int = 100
) -> list[str]:
    """Categories short of images after more than 50 attempts, whose prompt should be changed."""
    tried, held = Counter(attempts), Counter(kept)
    return [
        f"{category}: {held[category]} of {wanted} images after {tried[category]} attempts; change its prompt"
        for category in GhostCategory
        if tried[category] > WARN_AFTER and held[category] < wanted
    ]


def _noun(target: str) -> str:
    return target.casefold().removeprefix("a ").removeprefix("an ").removeprefix("the ").strip()


def _is_object(image: GhostImage) -> bool:
    return image.category.family is Family.PRESENCE
