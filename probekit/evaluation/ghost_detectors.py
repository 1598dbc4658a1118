"""Detectors against the verdict of the rules and against tone, on the first token of every answer.

Scores mean: higher is more likely hallucinated. Detectors were made for objects in captions; here an
answer stands for the object, so this is a transfer, and the position detectors, constant at a first
token, are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float

from probekit.detectors import DETECTORS, VARIANTS, Detector
from probekit.detectors.heads import FittedHead
from probekit.errors import InputError
from probekit.evaluation.budgets import MIXES
from probekit.evaluation.ghost_evidence import GhostRows
from probekit.evaluation.ghost_store import STORE, GhostTrace
from probekit.evaluation.measures import Resamples, auroc, interval
from probekit.metrics.estimates import DRAWS, FEWEST, Estimate
from probekit.metrics.rates_tones import ToneCurve, tone_curve
from probekit.store import Store
from probekit.store.schema import HEADER_FILE, load_header

CONSTANT = ("position", "pas")
"""Detectors that read how much of the text went before: nothing, at a first token."""

FROM_ANSWER: Mapping[str, tuple[str, float]] = {
    "nll, mean of the answer": ("nll", 1.0),
    "entropy, mean of the answer": ("entropy_mean", 1.0),
    "VNS, negated": ("vns", -1.0),
    "NLL gained from the picture, negated": ("gain", -1.0),
}
"""Scores made from the quantities of the whole answer: the quantity and its sign. ``gain`` is NLL on black
minus NLL with the picture."""

PREFERRED = "natural"
"""Mixing budget of the heads that are used when none is named."""


@dataclass(frozen=True)
class GhostScores:
    """Scores of every answer by detector.

    Attributes:
        scores: NaN where a detector has none.
        trained: for detectors with heads, the mixing budget and how many heads were averaged.
        left_out: detectors that could not be applied, and why.
    """

    scores: Mapping[str, Float[np.ndarray, " answer"]]
    trained: Mapping[str, str]
    left_out: Mapping[str, str]


@dataclass(frozen=True)
class DetectorResult:
    """One detector on one group of answers.

    Attributes:
        overall: AUROC of hallucinated answers against the others, all tones together.
        within_tone: the same over pairs of answers at one tone, so that wording tells nothing.
        by_tone: AUROC at each tone; NaN where one of the two classes is missing.
        curve: mean score at each tone.
        spread: SD of the scores over all answers (ddof 0), by which curves of several detectors compare.
        positives, negatives: answers behind ``overall``.
    """

    overall: Estimate
    within_tone: Estimate
    by_tone: Mapping[int, Estimate]
    curve: ToneCurve
    spread: float
    positives: int
    negatives: int


def detector_scores(
    folder: Path,
    examples: Sequence[str],
    trace: GhostTrace,
    *,
    detectors: Sequence[str] | None = None,
    heads: Path | None = None,
    mix: str | None = None,
) -> GhostScores:
    """Every detector that the run's store can serve.

    Args:
        folder: of the run.
        examples: the answers, in order.
        trace: their quantities, from which scores of whole answers are made.
        detectors: names; ``None`` for all, without named variants.
        heads: folder that ``probekit train-probes`` filled for the same model; P(hallucinated) is
            averaged over its seeds.
        mix: mixing budget of the heads; natural when absent, or the smallest there.

    Raises:
        InputError: there are no heads, of that budget, or they were fitted on another model.
    """
    store = Store.open(folder / STORE)
    place = {example: n for n, example in enumerate(examples)}
    gathered: dict[str, np.ndarray] = {}
    trained: dict[str, str] = {}
    left: dict[str, str] = {}
    if heads is not None:
        _same_model(store, heads)
    known = {**DETECTORS, **VARIANTS}
    for name in DETECTORS if detectors is None else detectors:
        detector = known[name]
        if name in CONSTANT:
            left[name] = "constant at the first token of a text"
            continue
        if missing := store.missing(detector.needs()):
            left[name] = f"the store lacks {', '.join(capture.key for capture in missing)}"
            continue
        fitted: list[FittedHead] = []
        if detector.head is not None:
            if heads is None:
                left[name] = "needs heads, see --heads"
                continue
            fitted, used = _heads(heads, name, detector, mix)
            if not fitted:
                left[name] = f"no heads in {heads.name}" + ("" if mix is None else f" of mix {mix}")
                continue
            trained[name] = used
        column = np.full(len(examples), math.nan)
        for shard in store.shards():
            scores = _scores(detector, fitted, detector.features(shard), heads)
            for n, example in enumerate(shard.rows.example_id):
                if str(example) in place:
                    column[place[str(example)]] = scores[n]
        gathered[name] = column
    if heads is not None and not trained:
        raise InputError(
            "no heads that this run can use" + ("" if mix is None else f" of mix {mix}"),
            where=str(heads),
            hint="Give RUN/heads of `probekit run` or `probekit train-probes` on the same model.",
        )
    values = {**trace.values, "gain": trace.values["nll_black"] - trace.values["nll"]}
    gathered |= {name: sign * values[key] for name, (key, sign) in FROM_ANSWER.items()}
    return GhostScores(gathered, trained, left)


def judge_detectors(
    answers: GhostRows,
    scores: Mapping[str, Float[np.ndarray, " answer"]],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, dict[str, DetectorResult]]:
    """AUROC of every detector in every group: ``result[group][detector]``; categories are left out.

    Intervals resample images, as SPEC 3.4 has it.
    """
    found: dict[str, dict[str, DetectorResult]] = {}
    for group, rows in answers.groups().items():
        if group in {str(category) for category in answers.category}:
            continue
        part = answers.take(rows)
        found[group] = {
            name: judge_detector(part, column[rows], draws=draws, seed=seed)
            for name, column in scores.items()
            if not np.isnan(column[rows]).all()
        }
    return found


def judge_detector(
    answers: GhostRows, scores: Float[np.ndarray, " answer"], *, draws: int = DRAWS, seed: int = 0
) -> DetectorResult:
    """One detector against the verdict."""
    known = ~(np.isnan(answers.verdict) | np.isnan(scores))
    images = np.array(answers.image, dtype=object)
    drawn = Resamples.of(images, max(draws, 1), seed)
    tone = np.array(answers.tone)
    by_tone, wins, pairs = {}, [], []
    for level in answers.tones:
        here = tone == level
        value, replicates, weight = _auroc(drawn, images, scores, answers.verdict, here & known)
        by_tone[level] = _estimate(answers, here & known, value, replicates[:draws], int(here.sum()))
        wins.append(np.where(weight > 0, np.nan_to_num(np.array([value, *replicates])) * weight, 0.0))
        pairs.append(weight)
    value, replicates, _ = _auroc(drawn, images, scores, answers.verdict, known)
    with np.errstate(invalid="ignore", divide="ignore"):
        within = np.sum(wins, axis=0) / np.sum(pairs, axis=0)
    return DetectorResult(
        _estimate(answers, known, value, replicates[:draws], len(answers)),
        _estimate(answers, known, float(within[0]), within[1:][:draws], len(answers)),
        by_tone,
        tone_curve(scores, answers.tone, answers.image, draws=draws, seed=seed),
        float(np.nanstd(scores)),
        int((answers.verdict[known] == 1).sum()),
        int((answers.verdict[known] == 0).sum()),
    )


def _auroc(
    drawn: Resamples,
    images: np.ndarray,
    scores: Float[np.ndarray, " answer"],
    verdict: Float[np.ndarray, " answer"],
    rows: Bool[np.ndarray, " answer"],
) -> tuple[float, np.ndarray, np.ndarray]:
    """AUROC, its replicates, and pairs of a positive and a negative behind the value and each of them."""
    codes, positive = drawn.codes(images[rows]), verdict[rows] == 1
    size = len(drawn.images)
    ones = np.bincount(codes[positive], minlength=size).astype(np.float64)
    others = np.bincount(codes[~positive], minlength=size).astype(np.float64)
    pairs = np.concatenate([[ones.sum() * others.sum()], (drawn.counts @ ones) * (drawn.counts @ others)])
    return auroc(scores[rows], positive), drawn.auroc(codes, scores[rows], positive), pairs


def _estimate(
    answers: GhostRows, kept: Bool[np.ndarray, " answer"], value: float, replicates: np.ndarray, total: int
) -> Estimate:
    """An AUROC over the answers kept; without an interval below `FEWEST` images of a class."""
    images = np.array(answers.image, dtype=object)
    fewest = min(len(set(images[kept & (answers.verdict == side)])) for side in (0, 1))
    sure = len(replicates) > 0 and not math.isnan(value) and fewest >= FEWEST
    ends = interval(replicates) if sure else (math.nan, math.nan)
    behind = len(set(images[kept]))
    return Estimate(value, *ends, int(kept.sum()), total - int(kept.sum()), behind)


def _scores(
    detector: Detector, fitted: Sequence[FittedHead], x: np.ndarray, heads: Path | None
) -> Float[np.ndarray, " row"]:
    """Scores of rows: the one feature, or P(hallucinated) averaged over heads."""
    if detector.head is None:
        return np.where(np.isfinite(x[:, 0]), x[:, 0], np.nan).astype(np.float64)
    try:
        return np.asarray(np.mean([head.score(detector.head, x) for head in fitted], axis=0))
    except ValueError as error:
        raise InputError(
            f"the heads of {detector.name} do not fit this model's features: {error}", where=str(heads)
        ) from None


def _heads(heads: Path, name: str, detector: Detector, mix: str | None) -> tuple[list[FittedHead], str]:
    """The heads of one detector at one budget, and what they are, in words."""
    there = [m for m in MIXES if (heads / name / m).is_dir()]
    chosen = mix or (PREFERRED if PREFERRED in there else next(iter(there), ""))
    if chosen not in there:
        return [], ""
    fitted = list(_load(heads / name / chosen))
    for head in fitted:
        if head.variant != detector.variant:
            raise InputError(
                f"the heads of {name} were fitted with other parameters",
                where=str(heads / name / chosen),
                hint="Fit them again with this version: probekit train-probes.",
            )
    return fitted, f"mix {chosen}, {len(fitted)} heads"


def _load(folder: Path) -> Iterator[FittedHead]:
    for file in sorted(folder.glob("seed*.safetensors")):
        yield FittedHead.load(file.with_suffix(""))


def _same_model(store: Store, heads: Path) -> None:
    """Refuse heads whose run traced another model; heads that left their run are taken as they are."""
    if not heads.is_dir():
        raise InputError("no such folder of heads", where=str(heads))
    beside = heads.parent / "store"
    if not (beside / HEADER_FILE).is_file():
        return
    header, _ = load_header(beside)
    if header.revision != store.header.revision:
        raise InputError(
            f"the heads were fitted on {header.model} ({header.revision[:20]}), this run asked "
            f"{store.header.model} ({store.header.revision[:20]})",
            where=str(heads),
            hint="Fit heads on the same model.",
        )
