"""CHAIR: which share of the objects a caption mentions is not in the image (Rohrbach et al. 2018; SPEC 3.1).

Beside the published rates stand those that count only mentions which claim the object to be there, since an
object named to deny it, to hedge, in a picture or as a purpose is no hallucination (NAME-Bench 3, 4.1).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from probekit.labels import NON_ASSERTIVE, Usage
from probekit.mentions.captions import Caption
from probekit.mentions.find import Found, find
from probekit.mentions.references import References
from probekit.mentions.vocabulary import Vocabulary
from probekit.metrics.estimates import Estimate, ratio

UsageJudge = Callable[[str, int, int, str], Usage]
"""Usage of ``caption[start:end]``, a mention of a category, judged from the caption alone."""


@dataclass(frozen=True, slots=True)
class CaptionCounts:
    """One caption's mentions.

    Attributes:
        caption: the caption.
        mentions: object words found, in reading order.
        absent: for each mention, whether the references lack its category; ``None`` when the references do
            not have the image.
        usages: how each mention is used; ``None`` when no judge was asked.
    """

    caption: Caption
    mentions: tuple[Found, ...]
    absent: tuple[bool, ...] | None
    usages: tuple[Usage, ...] | None

    @property
    def hallucinated(self) -> tuple[Found, ...]:
        """Mentions of categories that are not in the image, however they are used."""
        return tuple(m for m, absent in zip(self.mentions, self.absent or (), strict=False) if absent)

    def to_json(self) -> dict[str, object]:
        """A line of the per-caption file; unknown is null. CHAIR_i is 0 for a caption without objects."""
        known = self.absent is not None
        return {
            "caption_id": self.caption.caption_id,
            "image_id": self.caption.image_id,
            "caption": self.caption.text,
            "chair_i": len(self.hallucinated) / max(1, len(self.mentions)) if known else None,
            "chair_s": int(bool(self.hallucinated)) if known else None,
            "mentions": [
                asdict(mention)
                | {
                    "hallucinated": None if self.absent is None else self.absent[place],
                    "usage": None if self.usages is None else str(self.usages[place]),
                }
                for place, mention in enumerate(self.mentions)
            ],
        }


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of things counted, with its interval over resampled images.

    Attributes:
        estimate: the share; NaN when there is nothing to divide by.
        count: how many.
        out_of: of how many.
    """

    estimate: Estimate
    count: int
    out_of: int


@dataclass(frozen=True, slots=True)
class AssertionAware:
    """CHAIR read with usage.

    Attributes:
        chair_i: hallucinated existential mentions out of existential mentions.
        chair_s: captions with a hallucinated existential mention out of all captions.
        non_assertive_share: non-assertive mentions out of existential and non-assertive ones.
        non_assertive_among_hallucinated: of the mentions CHAIR calls hallucinated, those that are
            non-assertive.
        usages: mentions by usage.
    """

    chair_i: Rate
    chair_s: Rate
    non_assertive_share: Rate
    non_assertive_among_hallucinated: Rate
    usages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Chair:
    """The result over a set of captions.

    Attributes:
        chair_i: hallucinated mentions out of mentions.
        chair_s: captions with a hallucinated mention out of captions.
        aware: the same with usage; ``None`` when no judge was asked.
        captions: captions scored.
        all_captions: captions read.
        all_mentions: object mentions in all of them.
        unknown_images: captions left out because the references do not have their image.
        vocabulary: name of the vocabulary.
        vocabulary_digest: digest of everything in it that decides what is found.
    """

    chair_i: Rate
    chair_s: Rate
    aware: AssertionAware | None
    captions: int
    all_captions: int
    all_mentions: int
    unknown_images: int
    vocabulary: str
    vocabulary_digest: str

    @property
    def mentions(self) -> int:
        """Object mentions in the captions scored, repeats included."""
        return self.chair_i.out_of

    @property
    def hallucinated(self) -> int:
        """Mentions of objects that are not in the image."""
        return self.chair_i.count

    def to_json(self) -> dict[str, object]:
        """Flat keys; a rate that is not defined is null."""
        rates = {"chair_i": self.chair_i, "chair_s": self.chair_s}
        value: dict[str, object] = {
            "vocabulary": self.vocabulary,
            "vocabulary_digest": self.vocabulary_digest,
            "captions": self.captions,
            "unknown_images": self.unknown_images,
            "all_captions": self.all_captions,
            "all_mentions": self.all_mentions,
            "mentions": self.mentions,
            "hallucinated": self.hallucinated,
            "hallucinated_captions": self.chair_s.count,
        }
        value |= _flat(rates)
        if self.aware is not None:
            value["assertion_aware"] = {
                "mentions": self.aware.chair_i.out_of,
                "hallucinated": self.aware.chair_i.count,
                **_flat(
                    {
                        "chair_i": self.aware.chair_i,
                        "chair_s": self.aware.chair_s,
                        "non_assertive_share": self.aware.non_assertive_share,
                        "non_assertive_among_hallucinated": self.aware.non_assertive_among_hallucinated,
                    }
                ),
                "usages": dict(self.aware.usages),
            }
        return value


def implied_non_assertive_share(
    non_assertive: float, hallucinated: float, rate_non_assertive: float, rate_hallucinated: float
) -> float:
    """Part of CHAIR's hallucinations that is non-assertive, from rates known apart (SPEC 3.1).

    Args:
        non_assertive: share of mentions that are non-assertive.
        hallucinated: share of existential mentions that are hallucinated.
        rate_non_assertive: share of non-assertive mentions that CHAIR calls hallucinated.
        rate_hallucinated: share of hallucinated mentions that CHAIR finds.
    """
    named = non_assertive * rate_non_assertive
    claimed = (1 - non_assertive) * hallucinated * rate_hallucinated
    return named / (named + claimed)


def count(
    captions: Iterable[Caption],
    references: References | None,
    vocabulary: Vocabulary,
    judge: UsageJudge | None = None,
) -> Iterator[CaptionCounts]:
    """Yield each caption's mentions and, where the references have its image, which of them are absent."""
    for caption in captions:
        mentions = find(caption.text, vocabulary)
        objects = None
        if references is not None and caption.image_id is not None:
            objects = references.get(caption.image_id)
        yield CaptionCounts(
            caption=caption,
            mentions=mentions,
            absent=None if objects is None else tuple(m.category not in objects for m in mentions),
            usages=None
            if judge is None
            else tuple(judge(caption.text, m.start, m.end, m.category) for m in mentions),
        )


def chair(counts: Iterable[CaptionCounts], vocabulary: Vocabulary, *, seed: int = 0) -> Chair:
    """Pool the counts of captions into rates with intervals that resample images.

    Captions of unknown images are excluded and counted. With nothing to divide by, a rate is NaN.
    """
    everything = list(counts)
    scored = [one for one in everything if one.absent is not None]
    images = [str(one.caption.image_id) for one in scored]

    def pooled(top: Callable[[CaptionCounts], int], bottom: Callable[[CaptionCounts], int]) -> Rate:
        return _rate([top(one) for one in scored], [bottom(one) for one in scored], images, seed)

    judged = bool(scored) and all(one.usages is not None for one in scored)
    aware = None
    if judged:
        aware = AssertionAware(
            chair_i=pooled(
                lambda c: _used(c, (Usage.EXISTENTIAL,), absent=True),
                lambda c: _used(c, (Usage.EXISTENTIAL,)),
            ),
            chair_s=pooled(lambda c: min(1, _used(c, (Usage.EXISTENTIAL,), absent=True)), lambda c: 1),
            non_assertive_share=pooled(
                lambda c: _used(c, NON_ASSERTIVE), lambda c: _used(c, (Usage.EXISTENTIAL, *NON_ASSERTIVE))
            ),
            non_assertive_among_hallucinated=pooled(
                lambda c: _used(c, NON_ASSERTIVE, absent=True), lambda c: len(c.hallucinated)
            ),
            usages=_by_usage(scored),
        )
    return Chair(
        chair_i=pooled(lambda c: len(c.hallucinated), lambda c: len(c.mentions)),
        chair_s=pooled(lambda c: min(1, len(c.hallucinated)), lambda c: 1),
        aware=aware,
        captions=len(scored),
        all_captions=len(everything),
        all_mentions=sum(len(one.mentions) for one in everything),
        unknown_images=len(everything) - len(scored),
        vocabulary=vocabulary.name,
        vocabulary_digest=vocabulary.digest,
    )


def _used(counts: CaptionCounts, usages: tuple[Usage, ...], *, absent: bool = False) -> int:
    """Mentions of a caption used in one of these ways; only those absent from the image when asked."""
    assert counts.usages is not None
    assert counts.absent is not None
    return sum(
        usage in usages and (gone or not absent)
        for usage, gone in zip(counts.usages, counts.absent, strict=True)
    )


def _by_usage(scored: list[CaptionCounts]) -> dict[str, int]:
    tally = Counter(usage for one in scored for usage in one.usages or ())
    return {str(usage): tally[usage] for usage in Usage}


def _rate(counts: Sequence[int], out_of: Sequence[int], images: Sequence[str], seed: int) -> Rate:
    top, bottom = np.asarray(counts, float), np.asarray(out_of, float)
    return Rate(ratio(top, bottom, images, seed=seed), sum(counts), sum(out_of))


def _flat(rates: Mapping[str, Rate]) -> dict[str, float | None]:
    flat: dict[str, float | None] = {}
    for name, one in rates.items():
        estimate = one.estimate
        for suffix, number in (("", estimate.value), ("_low", estimate.low), ("_high", estimate.high)):
            flat[name + suffix] = None if math.isnan(number) else number
    return flat
