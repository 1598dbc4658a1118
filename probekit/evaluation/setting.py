"""What training and evaluation must agree on: rows, labels, splits, the natural share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from probekit.detectors import Detector, FeatureTable, Population, feature_table, population
from probekit.detectors.table import NON_ASSERTIVE
from probekit.errors import InputError
from probekit.evaluation.budgets import Mix
from probekit.evaluation.fits import Fit, natural_share_of, plan
from probekit.evaluation.splits import Split
from probekit.labels import LabelSet
from probekit.store import Store


@dataclass(frozen=True)
class Setting:
    """Rows of a store with their labels, and the splits of their images.

    Attributes:
        store: where features come from.
        labels: classes of its rows.
        population: the labelled rows.
        splits: one per seed.
        natural_share: share of non-assertive mentions in captions as they come.
    """

    store: Store
    labels: LabelSet
    population: Population
    splits: tuple[Split, ...]
    natural_share: float

    @classmethod
    def of(
        cls,
        store: Store,
        labels: LabelSet,
        seeds: int = 3,
        natural_share: float | None = None,
        where: str | None = None,
    ) -> "Setting":
        """Find the labelled rows and draw the splits.

        Args:
            store: where features come from.
            labels: classes of its rows.
            seeds: number of splits.
            natural_share: measured on the labelled rows when ``None``.
            where: the labels' file, for the message.

        Raises:
            InputError: no row of the store has a label of one of the three classes, or of no claim is it
                known whether its object is in the picture.
        """
        everyone = population(store.rows(), labels)
        claims = int((everyone.label != NON_ASSERTIVE).sum())
        if unknown := everyone.excluded.get("presence unknown", 0):
            _refuse_without_presence(claims, unknown, where)
        if len(everyone) == 0:
            raise InputError(
                "no row of the store has a label of one of the three classes",
                where=where,
                hint=f"The store has {len(store)} rows, the file {len(labels)} labels.",
            )
        splits = tuple(Split.of(everyone.image.tolist(), seed) for seed in range(seeds))
        share = natural_share_of(everyone) if natural_share is None else natural_share
        return cls(store, labels, everyone, splits, share)

    @classmethod
    def load(cls, store: Path, labels: Path, seeds: int = 3, natural_share: float | None = None) -> "Setting":
        """`of` the store and the labels in these places."""
        return cls.of(Store.open(store), LabelSet.load(labels), seeds, natural_share, str(labels))

    @classmethod
    def of_run(cls, run: Path, seeds: int = 3, labels: Path | None = None) -> "Setting":
        """The setting of a run folder, whose labels may lie elsewhere."""
        return cls.load(run / "store", labels or run / "labels" / "labels.jsonl", seeds)

    def save_splits(self, heads: Path) -> None:
        """Write each split beside the heads, so that anyone can see which images a head saw."""
        for split in self.splits:
            path = heads / "splits" / f"seed{split.seed}.json"
            if not path.exists() or Split.load(path) != split:
                split.save(path)

    def table(self, detector: Detector) -> FeatureTable:
        """Features of the labelled rows."""
        return feature_table(self.store, detector, self.labels)

    def fits(self, detector: Detector, table: FeatureTable, mixes: Sequence[Mix]) -> list[Fit]:
        """Fits of one detector: mixes x seeds."""
        job = self.store.header.job_digest
        return plan(self.population, table.scored, self.splits, mixes, self.natural_share, detector, job)


def _refuse_without_presence(claims: int, unknown: int, where: str | None) -> None:
    if claims == 0:
        raise InputError(
            f"of none of the {unknown} claims do the labels say whether the object is in the picture",
            where=where,
            hint="Add it with `probekit label ROWS --references FILE --out LABELS`, with the --judge, "
            "--generations and --vocabulary of before; nothing is judged again.",
        )
