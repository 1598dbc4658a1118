"""Train heads on a store and evaluate detectors from it: what the commands and the pipeline call."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from probekit import __version__
from probekit.detectors import Detector, FeatureTable
from probekit.detectors.heads import FittedHead
from probekit.detectors.heads.fitted import saved_digest
from probekit.detectors.select import select
from probekit.detectors.table import CLASSES
from probekit.errors import InputError
from probekit.evaluation.budgets import MIXES, Mix
from probekit.evaluation.fits import Fit
from probekit.evaluation.protocol import Judged, Protocol, Scored
from probekit.evaluation.records import Evaluation, Record
from probekit.evaluation.scores import ScoreWriter
from probekit.evaluation.setting import Setting
from probekit.evaluation.splits import PARTS
from probekit.files import digest, sha256
from probekit.progress import progress


@dataclass(frozen=True)
class Trained:
    """What `train` did.

    Attributes:
        fitted: heads fitted now.
        kept: heads found fitted on the same rows.
        refused: heads that cannot be fitted, and why.
        unserved: detectors left out, with the captures the store lacks.
        untrained: detectors named that need no head.
    """

    fitted: int
    kept: int
    refused: tuple[str, ...]
    unserved: Mapping[str, tuple[str, ...]]
    untrained: tuple[str, ...] = ()


def train(
    store: Path,
    labels: Path,
    heads: Path,
    *,
    detectors: Sequence[str] | None = None,
    mixes: Sequence[Mix] = MIXES,
    seeds: int = 3,
    natural_share: float | None = None,
) -> Trained:
    """Fit the heads of all trained detectors; what is already fitted on the same rows is kept.

    Args:
        store: folder of the store.
        labels: labels of its rows.
        heads: folder to fill: ``DETECTOR/MIX/seedK.safetensors`` and ``.json``, ``splits/seedK.json``.
        detectors: names; ``None`` for all that the store can serve.
        mixes: mixing budgets.
        seeds: number of splits.
        natural_share: share of non-assertive mentions in captions as they come; measured when ``None``.

    Raises:
        InputError: no labelled rows, an unknown detector, a damaged file.
        UnservedError: a detector named cannot be served.
    """
    setting = Setting.load(store, labels, seeds, natural_share)
    chosen, missing = select(setting.store, detectors)
    trained = {name: detector for name, detector in chosen.items() if detector.head is not None}
    unserved = {name: tuple(c.key for c in captures) for name, captures in missing.items()}
    untrained = () if detectors is None else tuple(name for name in chosen if name not in trained)
    if not trained:
        return Trained(0, 0, (), unserved, untrained)
    setting.save_splits(heads)
    fitted, kept = 0, 0
    refused: list[str] = []
    total = len(trained) * len(mixes) * seeds
    with progress("train probes", total, "heads") as advance:
        for name, detector in trained.items():
            table = setting.table(detector)
            todo = []
            for fit in setting.fits(detector, table, mixes):
                if fit.refusal:
                    refused.append(f"{name}, mix {fit.mix}, seed {fit.seed}: {fit.refusal}")
                elif saved_digest(fit.path(heads / name)) == fit.digest:
                    kept += 1
                else:
                    todo.append(fit)
                    continue
                advance(1)
            fitted += len(todo)
            for head, path in _fit(detector, table, todo, heads / name):
                head.save(path)
                advance(1)
    return Trained(fitted, kept, tuple(refused), unserved, untrained)


def _fit(
    detector: Detector, table: FeatureTable, fits: Sequence[Fit], folder: Path
) -> Iterator[tuple[FittedHead, Path]]:
    """Solve the fits of one detector; equal fit sets, such as budgets beyond what there is, once."""
    if detector.head is None or not fits:
        return
    distinct = {fit.digest: fit for fit in fits}
    solutions = detector.head.fit(table.x, [fit.problem for fit in distinct.values()])
    same: dict[str, list[Fit]] = {}
    for fit in fits:
        same.setdefault(fit.digest, []).append(fit)
    for key, solution in zip(distinct, solutions, strict=True):
        for fit in same[key]:
            head = FittedHead(
                detector=detector.name,
                variant=detector.variant,
                parameters=detector.parameters,
                mix=fit.mix,
                seed=fit.seed,
                fitted_on=fit.digest,
                rows=fit.classes,
                weights=solution.weights,
                log=solution.log,
            )
            yield head, fit.path(folder)


def evaluate(
    store: Path,
    labels: Path,
    heads: Path,
    out: Path,
    *,
    scores: Path | None = None,
    detectors: Sequence[str] | None = None,
    mixes: Sequence[Mix] | None = None,
    seeds: int = 3,
    natural_share: float | None = None,
) -> Evaluation:
    """Evaluate detectors from a store with heads that `train` fitted, and write the result.

    Args:
        store: folder of the store.
        labels: labels of its rows, the same as in training.
        heads: folder of the heads.
        out: the evaluation, JSON.
        scores: every calibration and test score, CSV.
        detectors: names; ``None`` for all that the store can serve and that are trained or need no training.
        mixes: mixing budgets; ``None`` for those in ``heads``.
        seeds: number of splits.
        natural_share: as in training.

    Raises:
        InputError: a head is missing or was fitted on other rows.
        UnservedError: a detector named cannot be served.
    """
    setting = Setting.load(store, labels, seeds, natural_share)
    chosen, missing = select(setting.store, detectors)
    unserved: dict[str, Any] = {name: [c.key for c in captures] for name, captures in missing.items()}
    if detectors is None:
        for name in [n for n, d in chosen.items() if d.head is not None and not (heads / n).is_dir()]:
            unserved[name] = ["no heads: run `probekit train-probes`"]
            del chosen[name]
    for name, detector in chosen.items():
        if detector.head is not None and not (heads / name).is_dir():
            raise InputError(
                f"no heads for {name}", where=str(heads), hint="Fit them first: probekit train-probes."
            )
    protocol = Protocol(setting.population, setting.splits)
    judged: list[Judged] = []
    notes: dict[str, Any] = {"unscored": {}, "conventions": {}, "budgets": {}}
    parameters: dict[str, Any] = {}
    with progress("evaluate", len(chosen), "detectors") as advance, ScoreWriter.open(scores) as writer:
        for name, detector in chosen.items():
            table = setting.table(detector)
            _note(notes, name, table)
            parameters[f"{detector.name}/{detector.variant}"] = detector.parameters
            for scored in scored_by_heads(setting, name, detector, table, heads, mixes, notes):
                result = protocol.judge(scored)
                judged.append(result)
                writer.write(protocol, scored, result.thresholds)
            advance(1)
    counts = {**_counts(setting, judged), **notes, "unserved": unserved}
    records: list[Record] = [record for result in judged for record in result.records]
    evaluation = Evaluation(tuple(records), counts, _provenance(setting, labels, parameters))
    evaluation.save(out)
    return evaluation


def _note(notes: dict[str, Any], name: str, table: FeatureTable) -> None:
    if not table.scored.all():
        lost = np.flatnonzero(~table.scored)
        reason = "a feature is missing or not finite"
        notes["unscored"][name] = {
            "rows": len(lost),
            "reason": reason,
            **{str(c): int((table.population.label[lost] == code).sum()) for code, c in enumerate(CLASSES)},
        }
    if table.flags:
        notes["conventions"][name] = dict(table.flags)


def scored_by_heads(
    setting: Setting,
    name: str,
    detector: Detector,
    table: FeatureTable,
    heads: Path,
    mixes: Sequence[Mix] | None,
    notes: dict[str, Any],
) -> Iterator[Scored]:
    """Scores of one detector at each mix, from the heads in ``heads``; budgets are added to ``notes``.

    Raises:
        InputError: a head is missing or was fitted on other rows.
    """
    if detector.head is None:
        value = np.where(table.scored, table.x[:, 0], np.nan).astype(np.float64)
        by_seed = {split.seed: value for split in setting.splits}
        yield Scored(detector.name, detector.variant, "none", by_seed, baseline=detector.baseline)
        return
    wanted = [mix for mix in MIXES if (heads / name / mix).is_dir()] if mixes is None else list(mixes)
    for mix in wanted:
        found: dict[int, np.ndarray] = {}
        refused: dict[int, str] = {}
        for fit in setting.fits(detector, table, [mix]):
            notes["budgets"].setdefault(mix, {})[str(fit.seed)] = fit.classes
            if fit.refusal:
                refused[fit.seed] = fit.refusal
                continue
            path = fit.path(heads / name)
            head = FittedHead.load(path)
            if head.fitted_on != fit.digest:
                raise InputError(
                    "this head was fitted on other rows, labels or parameters",
                    where=str(path.with_suffix(".json")),
                    hint="Run `probekit train-probes` again with the same labels, seeds and natural share.",
                )
            found[fit.seed] = head.score(detector.head, table.x)
        yield Scored(detector.name, detector.variant, mix, found, refused, detector.baseline)


def _counts(setting: Setting, judged: Sequence[Judged]) -> dict[str, Any]:
    everyone = setting.population
    splits = {}
    for split in setting.splits:
        splits[str(split.seed)] = {
            part: {
                "images": len(getattr(split, part)),
                **{
                    str(c): int((everyone.label[split.rows(part, everyone.image)] == code).sum())
                    for code, c in enumerate(CLASSES)
                },
            }
            for part in PARTS
        }
    thresholds = [
        {
            "detector": result.records[0].detector,
            "variant": result.records[0].variant,
            "mix": result.records[0].mix,
            "seed": seed,
            "value": threshold.value,
            "target": threshold.target,
            "calibration_fpr": threshold.achieved,
            "calibration_concrete": threshold.n,
        }
        for result in judged
        if result.records
        for seed, threshold in result.thresholds.items()
    ]
    return {
        "rows": everyone.counts(),
        "images": len(set(everyone.image.tolist())),
        "excluded": dict(everyone.excluded),
        "unlabelled": everyone.unlabelled,
        "labels_without_row": everyone.without_row,
        "splits": splits,
        "thresholds": thresholds,
        "not_available": [dict(item) for result in judged for item in result.not_available],
        "by_seed": [dict(item) for result in judged for item in result.seeds],
    }


def _provenance(setting: Setting, labels: Path, parameters: Mapping[str, Any]) -> dict[str, Any]:
    header = setting.store.header
    return {
        "model": header.model,
        "revision": header.revision,
        "store_job": header.job_digest,
        "kernel": header.kernel,
        "dtype": header.dtype,
        "template_hash": header.template_hash,
        "replay_agreement": header.replay_agreement,
        "labels_sha256": sha256(labels),
        "label_sources": sorted({label.source for label in setting.labels if label.source}),
        "natural_share": setting.natural_share,
        "seeds": [split.seed for split in setting.splits],
        "split_digests": {
            str(split.seed): digest({part: sorted(getattr(split, part)) for part in PARTS})
            for split in setting.splits
        },
        "interval": "95 % percentile bootstrap over images, of the mean over seeds; thresholds held fixed",
        "detectors": dict(parameters),
        "versions": {
            "probekit": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "extraction": dict(header.versions),
        },
    }
