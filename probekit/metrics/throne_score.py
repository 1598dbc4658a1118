"""THRONE over a set of captions: from counted votes to scores, for every class or for the mentions only."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from probekit.errors import InputError
from probekit.labels import RowLabel
from probekit.mentions.captions import Caption
from probekit.mentions.coco import COCO_CATEGORIES
from probekit.mentions.find import Found
from probekit.metrics.estimates import Estimate
from probekit.metrics.throne import Ballot, Scores, Verdict, collapse, majority
from probekit.metrics.throne_mentions import Flagged, flagged_by_group
from probekit.metrics.throne_votes import Pair, Tally


@dataclass(frozen=True, slots=True)
class ThroneScore:
    """Scores of all classes at one threshold.

    Attributes:
        threshold: yes votes needed.
        votes: votes on each class of each caption.
        class_wise: the headline.
        per_image: what the release calls micro.
        disqualified: share of classes of captions left out.
        captions: captions scored.
    """

    threshold: int
    votes: int
    class_wise: Scores
    per_image: Scores
    disqualified: float
    captions: int

    def to_json(self) -> dict[str, object]:
        """Nested by averaging and measure; a score that is not defined is null."""
        return {
            "threshold": self.threshold,
            "votes": self.votes,
            "captions": self.captions,
            "disqualified": self.disqualified,
            "class_wise": _scores(self.class_wise),
            "per_image": _scores(self.per_image),
        }


@dataclass(frozen=True, slots=True)
class MentionScore:
    """How often groups of mentions are flagged at one threshold.

    Attributes:
        threshold: yes votes needed.
        votes: votes on each mentioned class of each caption.
        groups: hallucinated, concrete, non-assertive and its subtypes.
    """

    threshold: int
    votes: int
    groups: tuple[Flagged, ...]

    def to_json(self) -> dict[str, object]:
        """Nested by group; a share that is not defined is null."""
        return {
            "threshold": self.threshold,
            "votes": self.votes,
            "groups": {
                one.group: _estimate(one.share) | {"disqualified": one.disqualified} for one in self.groups
            },
        }


def default_thresholds(votes: int) -> tuple[int, ...]:
    """Unanimous, all but one where that is more than half, and majority: 9, 8, 5 of nine."""
    wanted = {votes, max(votes - 1, majority(votes)), majority(votes)}
    return tuple(sorted(wanted, reverse=True))


def score_classes(
    captions: Sequence[Caption],
    truth: Mapping[str, frozenset[str]],
    tallies: Mapping[Pair, Tally],
    threshold: int,
    *,
    seed: int = 0,
) -> ThroneScore:
    """Score votes on every COCO class.

    Args:
        captions: captions to score.
        truth: caption id to the classes annotated in its image.
        tallies: counted votes; every class of every caption is needed.
        threshold: yes votes needed for present.
    """
    verdicts = {
        one.caption_id: {
            name: _verdict(tallies, Pair(one.caption_id, name), threshold) for name in COCO_CATEGORIES
        }
        for one in captions
    }
    images = {one.caption_id: str(one.image_id) for one in captions}
    ballot = Ballot.of(verdicts, truth, COCO_CATEGORIES, images)
    return ThroneScore(
        threshold=threshold,
        votes=_votes(tallies),
        class_wise=ballot.class_wise(seed=seed),
        per_image=ballot.per_image(seed=seed),
        disqualified=float(ballot.disqualified.mean()) if len(captions) else math.nan,
        captions=len(captions),
    )


def score_mentions(
    mentions: Sequence[tuple[Caption, Found]],
    labels: Sequence[RowLabel],
    tallies: Mapping[Pair, Tally],
    threshold: int,
    *,
    seed: int = 0,
) -> MentionScore:
    """Score votes on mentioned classes, mention by mention.

    Args:
        mentions: each mention with its caption.
        labels: usage and presence of each of them.
        tallies: counted votes; the class of every mention is needed.
        threshold: yes votes needed for present.
    """
    verdicts = [_verdict(tallies, Pair(c.caption_id, hit.category), threshold) for c, hit in mentions]
    images = [str(caption.image_id) for caption, _ in mentions]
    groups = flagged_by_group(labels, verdicts, images, seed=seed)
    return MentionScore(threshold, _votes(tallies), groups)


def _verdict(tallies: Mapping[Pair, Tally], pair: Pair, threshold: int) -> Verdict:
    if pair not in tallies:
        raise InputError(
            f"no votes on {pair.category!r}",
            where=f"caption {pair.caption_id}",
            hint="Run the judges with --judge and --questions; only what is missing is asked.",
        )
    return collapse(tallies[pair].yes, threshold, tallies[pair].votes)


def _votes(tallies: Mapping[Pair, Tally]) -> int:
    return next((one.votes for one in tallies.values()), 0)


def _scores(scores: Scores) -> dict[str, object]:
    named = {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1, "f0.5": scores.f_half}
    return {name: _estimate(one) for name, one in named.items()}


def _estimate(one: Estimate) -> dict[str, float | int | None]:
    numbers = {"value": one.value, "low": one.low, "high": one.high}
    return {name: None if math.isnan(x) else x for name, x in numbers.items()} | {"n": one.n}
