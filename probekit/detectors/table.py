"""Rows with a label, and one detector's features of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int

from probekit.captures import Capture
from probekit.detectors.base import Detector, Evidence
from probekit.labels import Label, LabelSet
from probekit.rows import RowKey
from probekit.store import RowTable, Store

CLASSES: tuple[Label, ...] = (Label.CONCRETE, Label.HALLUCINATED, Label.NON_ASSERTIVE)
"""Codes of `Population.label`: 0, 1, 2."""
CONCRETE, HALLUCINATED, NON_ASSERTIVE = range(3)


@dataclass(frozen=True)
class Population:
    """The labelled mentions of a store, in store order; every column has their length.

    Attributes:
        keys: identity of each row.
        image: image id.
        label: index into `CLASSES`.
        subtype: non-assertive subtype, empty for the other classes.
        present: 1 when the object is in the image, 0 when not, -1 when unknown.
        position: t*, -1 when the text has no tokens.
        length: T.
        excluded: rows of the store whose label is excluded, by usage.
        unlabelled: rows of the store that have no label.
        without_row: labels that no row of the store carries.
    """

    keys: tuple[RowKey, ...]
    image: np.ndarray
    label: Int[np.ndarray, " row"]
    subtype: np.ndarray
    present: Int[np.ndarray, " row"]
    position: Int[np.ndarray, " row"]
    length: Int[np.ndarray, " row"]
    excluded: Mapping[str, int] = field(default_factory=dict)
    unlabelled: int = 0
    without_row: int = 0

    def __len__(self) -> int:
        return len(self.keys)

    def counts(self) -> dict[str, int]:
        """Rows per class, then per subtype."""
        by_class = {str(name): int((self.label == code).sum()) for code, name in enumerate(CLASSES)}
        subtypes = Counter(str(s) for s in self.subtype if s)
        return {**by_class, **dict(sorted(subtypes.items()))}


@dataclass(frozen=True)
class FeatureTable:
    """Features of one detector for the rows of a population.

    Attributes:
        population: the rows.
        x: one vector per row, float32 for trained heads and float64 for scores; NaN where missing.
        flags: rows whose value follows a convention, by the reason.
    """

    population: Population
    x: Float[np.ndarray, "row dim"]
    flags: Mapping[str, int] = field(default_factory=dict)

    @property
    def scored(self) -> Bool[np.ndarray, " row"]:
        """Rows whose features are all finite; the others are counted as unscored."""
        return np.asarray(np.isfinite(self.x).all(axis=1))

    @property
    def y(self) -> Int[np.ndarray, " row"]:
        """1 for hallucinated, 0 for the rest."""
        return np.asarray(self.population.label == HALLUCINATED, dtype=np.int64)


def population(rows: RowTable, labels: LabelSet) -> Population:
    """The rows that have one of the three classes; the rest is counted."""
    keep, excluded, unlabelled = [], Counter[str](), 0
    found = [labels.get(key) for key in rows.keys]
    for at, label in enumerate(found):
        if label is None:
            unlabelled += 1
        elif label.label is Label.EXCLUDED:
            excluded[str(label.usage) if label.present is not None else "presence unknown"] += 1
        else:
            keep.append(at)
    kept = [label for at in keep if (label := found[at]) is not None]
    taken = rows.take(np.asarray(keep, dtype=np.int64))
    return Population(
        keys=tuple(taken.keys),
        image=np.asarray(taken.image_id, dtype=object),
        label=np.asarray([CLASSES.index(label.label) for label in kept], dtype=np.int64),
        subtype=np.asarray([str(label.subtype or "") for label in kept], dtype=object),
        present=np.asarray([-1 if label.present is None else int(label.present) for label in kept], np.int64),
        position=np.asarray(taken.token, dtype=np.int64),
        length=np.asarray(taken.tokens, dtype=np.int64),
        excluded=dict(sorted(excluded.items())),
        unlabelled=unlabelled,
        without_row=len(labels) - sum(label is not None for label in found),
    )


class _Declared:
    """A shard that answers only for declared captures, so that no detector reads more than it says."""

    def __init__(self, shard: Evidence, needs: tuple[Capture, ...], who: str) -> None:
        self._shard, self._needs, self._who = shard, needs, who

    @property
    def rows(self) -> RowTable:
        return self._shard.rows

    def __getitem__(self, capture: Capture) -> np.ndarray:
        if capture not in self._needs:
            raise KeyError(f"{self._who} reads {capture.key} without declaring it")
        return self._shard[capture]


def feature_table(store: Store, detector: Detector, labels: LabelSet) -> FeatureTable:
    """Features of the labelled rows, read shard by shard.

    Args:
        store: holds what `Detector.needs` names.
        detector: the method.
        labels: classes of rows; rows without one of the three classes are left out and counted.

    Raises:
        UnservedError: the store lacks a capture that the detector needs.
    """
    store.require(detector.needs(), who=detector.name)
    everyone = population(store.rows(), labels)
    wanted = set(everyone.keys)
    parts: list[np.ndarray] = []
    flags: Counter[str] = Counter()
    for shard in store.shards():
        keep = np.asarray([key in wanted for key in shard.rows.keys], dtype=bool)
        if not keep.any():
            continue
        guarded = _Declared(shard, detector.needs(), detector.name)
        parts.append(detector.features(guarded)[keep])
        flags.update({why: int(rows[keep].sum()) for why, rows in detector.features.flags(guarded).items()})
    x = np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
    return FeatureTable(everyone, x, {why: count for why, count in flags.items() if count})
