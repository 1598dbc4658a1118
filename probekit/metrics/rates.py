"""H-Rate and H-Score of Ghost-100: verdicts of every response, tone curves, tests, and how the two differ."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from probekit.benchmarks.ghost import Family, GhostCategory, GhostImage, Manifest
from probekit.errors import InputError
from probekit.files import digest, read_jsonl
from probekit.metrics.estimates import DRAWS, Estimate, ratio
from probekit.metrics.rates_names import name_verdict
from probekit.metrics.rates_presence import presence_verdict
from probekit.metrics.rates_score import THRESHOLD, rule_score
from probekit.metrics.rates_times import time_verdict
from probekit.metrics.rates_tones import ToneCurve, tone_curve
from probekit.metrics.rates_trend import Change, PairedChange, Trend, mcnemar, page_trend
from probekit.metrics.rates_verdict import INVALID, UNLABELLED, RateVerdict

REVISION = 2
"""Raised whenever a verdict may change, so that rates of other rules can be told apart."""


@dataclass(frozen=True)
class Policy:
    """Where the paper's rules leave a choice. Two rates are comparable only under the same policy.

    Attributes:
        count_visible_yes: a bare "Yes" to whether a name or time is visible is a hallucination.
        roles_need_whitelist: role words such as SECURITY need this image's whitelist.
    """

    count_visible_yes: bool = False
    roles_need_whitelist: bool = False

    @property
    def digest(self) -> str:
        """Digest of the choices and of the rules' `REVISION`."""
        return digest({**asdict(self), "rules": REVISION})


@dataclass(frozen=True)
class GhostResponse:
    """One response of a model.

    Attributes:
        image: the manifest's line.
        tone: tone level, 1 to 5.
        text: what the model wrote.
        score: H-Score given by a judge, 1 to 5; ``None`` when there is none.
    """

    image: GhostImage
    tone: int
    text: str
    score: int | None = None


def verdict(response: str, image: GhostImage, policy: Policy | None = None) -> RateVerdict:
    """H-Rate verdict of one response under its category's rules. Ghost-100 3.6; SPEC 5.1."""
    chosen = policy or Policy()
    family = image.category.family
    if family is Family.TEXT:
        return name_verdict(
            response,
            image.whitelist,
            count_visible_yes=chosen.count_visible_yes,
            roles_need_whitelist=chosen.roles_need_whitelist,
        )
    if family is Family.TIME:
        return time_verdict(response, image.whitelist, count_visible_yes=chosen.count_visible_yes)
    return presence_verdict(response, image.target)


def load_responses(path: Path, manifest: Manifest) -> tuple[GhostResponse, ...]:
    """Read responses from JSON Lines: ``text`` and either ``image_id`` and ``tone``, or ``example_id``.

    An ``example_id`` is read as ``IMAGE-toneN``, as `probekit.benchmarks.ghost.questions` names them.
    ``score`` is optional.

    Raises:
        InputError: an unknown image, tone or score, or a response given twice; file and line named.
    """
    images = manifest.by_id()
    found: list[GhostResponse] = []
    seen: dict[tuple[str, int], int] = {}
    for number, value in read_jsonl(path, required=("text",)):
        where = f"{path}, line {number}"
        key, tone = value.get("image_id"), value.get("tone")
        if tone is None:
            match = re.fullmatch(r"(.+)-tone(\d{1,9})", str(value.get("example_id", "")))
            if match is None:
                raise InputError("neither 'tone' nor an 'example_id' of the form IMAGE-toneN", where=where)
            key, tone = match[1], int(match[2])
        if not isinstance(key, str) or key not in images:
            raise InputError(f"image {key!r} is not in the manifest", where=where)
        if not isinstance(tone, int) or isinstance(tone, bool) or not 1 <= tone <= 5:
            raise InputError(f"tone {tone!r}", where=where, hint="Tones are whole numbers from 1 to 5.")
        if not isinstance(value["text"], str):
            raise InputError("'text' must be a text", where=where)
        score = value.get("score")
        if score is not None and (
            not isinstance(score, int) or isinstance(score, bool) or not 1 <= score <= 5
        ):
            raise InputError(f"score {score!r}", where=where, hint="Scores are whole numbers from 1 to 5.")
        if (key, tone) in seen:
            raise InputError(
                f"a second response to {key!r} at tone {tone}",
                where=where,
                hint=f"See line {seen[key, tone]}.",
            )
        seen[key, tone] = number
        found.append(GhostResponse(images[key], tone, value["text"], score))
    if not found:
        raise InputError("no responses", where=str(path))
    return tuple(found)


def with_rule_scores(responses: Sequence[GhostResponse]) -> tuple[tuple[GhostResponse, ...], int]:
    """Give a level by wording to responses that no judge has scored, and say how many got one."""
    found = [r if r.score is not None else replace(r, score=rule_score(r.text, r.image)) for r in responses]
    given = sum(
        new.score is not None and old.score is None for old, new in zip(responses, found, strict=True)
    )
    return tuple(found), given


@dataclass(frozen=True)
class Dissociation:
    """H-Rate (rules) against H-Score of at least 3 (judge), on responses that have both. SPEC 5.2.

    Attributes:
        both, rate_only, score_only, neither: responses.
        agreement: share of ``both`` and ``neither``; NaN without any response.
        kappa: Cohen's kappa; NaN when one of the two is constant.
        score_given_rate: mean H-Score of responses that the rules call hallucinated.
    """

    both: int
    rate_only: int
    score_only: int
    neither: int
    agreement: float
    kappa: float
    score_given_rate: float


@dataclass(frozen=True)
class GroupResult:
    """One group of categories: everything, a family, or one category.

    Attributes:
        h_rate: share hallucinated by the rules, over tones (times 100 it is the paper's H-Rate).
        h_score: mean judged level over all valid responses; ``None`` without judged scores.
        h_score_high: share of levels from 3 on; ``None`` without judged scores.
        trend: Page's test that the H-Rate rises with tone; ``None`` below two tones.
        changes: McNemar tests between neighbouring tones, then between the first and the last.
        dissociation: the two binary outcomes against each other; ``None`` without judged scores.
        rules: how often each rule decided.
        invalid: responses that are not valid, by reason (`INVALID`); the rate leaves them out.
        unlabelled: valid presence answers with neither an affirmative nor a negative label, by rule
            (`UNLABELLED`); the rate counts them as not hallucinated.
    """

    h_rate: ToneCurve
    h_score: ToneCurve | None
    h_score_high: ToneCurve | None
    trend: Trend | None
    changes: tuple[PairedChange, ...]
    dissociation: Dissociation | None
    rules: Mapping[str, int]
    invalid: Mapping[str, int]
    unlabelled: Mapping[str, int]


@dataclass(frozen=True)
class GhostResult:
    """All groups of one model's responses, and the policy they were judged under."""

    groups: Mapping[str, GroupResult]
    policy: Policy
    responses: int


def evaluate(
    responses: Sequence[GhostResponse], policy: Policy | None = None, *, draws: int = DRAWS, seed: int = 0
) -> GhostResult:
    """H-Rate and H-Score for all responses, each family and each category that occurs."""
    chosen = policy or Policy()
    verdicts = [verdict(r.text, r.image, chosen) for r in responses]
    names = ["all", *(str(f) for f in Family), *(str(c) for c in GhostCategory)]
    groups: dict[str, GroupResult] = {}
    for name in names:
        held = [
            i
            for i, r in enumerate(responses)
            if name in ("all", str(r.image.category.family), str(r.image.category))
        ]
        if held:
            groups[name] = _group([responses[i] for i in held], [verdicts[i] for i in held], draws, seed)
    return GhostResult(groups, chosen, len(responses))


def h_rate(
    verdicts: Sequence[RateVerdict], images: Sequence[str], *, draws: int = DRAWS, seed: int = 0
) -> Estimate:
    """Share of hallucinated among valid responses, interval by image. Ghost-100 Eq. 1, as a share."""
    values = _binary([v.hallucinated for v in verdicts])
    return ratio(values, np.ones(len(values)), images, draws=draws, seed=seed)


def _group(
    responses: Sequence[GhostResponse], verdicts: Sequence[RateVerdict], draws: int, seed: int
) -> GroupResult:
    tones = [r.tone for r in responses]
    images = [r.image.image_id for r in responses]
    rate = _binary([v.hallucinated for v in verdicts])
    judged = any(r.score is not None for r in responses)
    score = np.array([math.nan if r.score is None else float(r.score) for r in responses])
    high = np.where(np.isnan(score), np.nan, (score >= THRESHOLD).astype(np.float64))

    def curve(values: Float[np.ndarray, "response"], *, share: bool = True) -> ToneCurve:
        return tone_curve(values, tones, images, share=share, draws=draws, seed=seed)

    table, levels = _by_image(rate, tones, images)
    rules = Counter(v.rule for v in verdicts)
    pairs = [*zip(range(len(levels) - 1), range(1, len(levels)), strict=True)]
    if len(levels) > 2:
        pairs.append((0, len(levels) - 1))
    return GroupResult(
        curve(rate),
        curve(score, share=False) if judged else None,
        curve(high) if judged else None,
        page_trend(table) if len(levels) > 1 else None,
        tuple(mcnemar(table[:, a], table[:, b], Change(levels[a], levels[b])) for a, b in pairs),
        dissociation(rate, score) if judged else None,
        dict(rules.most_common()),
        {rule: rules[rule] for rule in INVALID if rule in rules},
        {rule: rules[rule] for rule in UNLABELLED if rule in rules},
    )


def dissociation(rate: Float[np.ndarray, "response"], score: Float[np.ndarray, "response"]) -> Dissociation:
    """Cross the rules' outcome (1, 0, NaN) with the judge's level (1 to 5, NaN)."""
    kept = ~(np.isnan(rate) | np.isnan(score))
    said, high = rate[kept] == 1, score[kept] >= THRESHOLD
    n = int(kept.sum())
    both, neither = int((said & high).sum()), int((~said & ~high).sum())
    agreement = (both + neither) / n if n else math.nan
    chance = float(said.mean() * high.mean() + (1 - said.mean()) * (1 - high.mean())) if n else math.nan
    return Dissociation(
        both,
        int((said & ~high).sum()),
        int((~said & high).sum()),
        neither,
        agreement,
        (agreement - chance) / (1 - chance) if n and chance < 1 else math.nan,
        float(score[kept][said].mean()) if said.any() else math.nan,
    )


def _binary(values: Sequence[bool | None]) -> Float[np.ndarray, "response"]:
    return np.array([math.nan if v is None else float(v) for v in values], dtype=np.float64)


def _by_image(
    values: Float[np.ndarray, "response"], tones: Sequence[int], images: Sequence[str]
) -> tuple[Float[np.ndarray, "image level"], list[int]]:
    levels = sorted(set(tones))
    rows = {image: i for i, image in enumerate(dict.fromkeys(images))}
    table = np.full((len(rows), len(levels)), math.nan)
    for value, tone, image in zip(values, tones, images, strict=True):
        table[rows[image], levels.index(tone)] = value
    return table, levels
