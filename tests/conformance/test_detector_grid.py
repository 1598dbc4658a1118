"""What every detector must keep (ARCHITECTURE 5): one grid over the shelf and the variants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from probekit.captures import Capture, GroupCount
from probekit.detectors import DETECTORS, VARIANTS, Detector
from probekit.detectors.heads import FittedHead, Problem
from probekit.detectors.table import CONCRETE, HALLUCINATED, population
from probekit.evaluation.measures import auroc
from probekit.store import Shard

EVERY = {**DETECTORS, **VARIANTS}
TRAINED = {name: detector for name, detector in EVERY.items() if detector.head is not None}
NAMES = [
    *("lookback", "hidden_mid", "hidden_last", "dhcp", "text_only", "halp"),
    *("svar", "vade_proxy", "ic", "glsim", "pas", "nll", "entropy", "metatoken", "position"),
]


def scores_of(detector: Detector, shard: Shard, fitted: FittedHead | None) -> np.ndarray:
    x = detector.features(shard)
    if detector.head is None:
        assert x.shape == (len(shard.rows), 1)
        return x[:, 0]
    assert fitted is not None
    return fitted.score(detector.head, x)


@pytest.fixture(scope="module")
def fitted(world) -> dict[str, FittedHead]:  # type: ignore[no-untyped-def]
    heads = {}
    for name, detector in TRAINED.items():
        assert detector.head is not None
        x = detector.features(world.shard(detector.needs()))
        label = population(world.rows, world.labels).label
        rows = np.flatnonzero(label <= HALLUCINATED)[::2]
        (solution,) = detector.head.fit(x, [Problem(rows, (label[rows] == HALLUCINATED).astype(np.int64))])
        heads[name] = FittedHead(
            detector.name, detector.variant, detector.parameters, "none", 0, "x", {}, solution.weights,
            solution.log,
        )  # fmt: skip
    return heads


def test_the_shelf_has_the_names_of_the_specification_in_order() -> None:
    assert list(DETECTORS) == NAMES


def test_every_variant_has_its_own_digest() -> None:
    digests = [detector.variant for detector in EVERY.values() if detector.name != "text_only"]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize("name", EVERY)
def test_reads_only_what_it_declared(name: str, world) -> None:  # type: ignore[no-untyped-def]
    detector, asked = EVERY[name], set()

    def load(capture: Capture) -> np.ndarray:
        asked.add(capture)
        return world.capture(capture)

    shard = Shard(0, world.rows, load)
    detector.features(shard)
    detector.features.flags(shard)
    assert asked <= set(detector.needs())


@pytest.mark.parametrize("name", EVERY)
def test_permuted_rows_give_permuted_scores_and_duplicates_equal_ones(name, world, fitted) -> None:  # type: ignore[no-untyped-def]
    detector = EVERY[name]
    whole = world.shard(detector.needs())
    order = np.random.default_rng(0).integers(0, len(world.rows), 3 * len(world.rows) + 1)
    arrays = {c: whole[c][order] for c in detector.needs()}
    mixed = Shard.in_memory(0, world.rows.take(order), arrays)
    expected = scores_of(detector, whole, fitted.get(name))[order]
    assert np.array_equal(scores_of(detector, mixed, fitted.get(name)), expected)


@pytest.mark.parametrize("name", [n for n in EVERY if EVERY[n].needs()])
def test_nan_in_gives_nan_out_for_that_row_alone(name, world, fitted) -> None:  # type: ignore[no-untyped-def]
    detector = EVERY[name]
    whole = world.shard(detector.needs())
    before = scores_of(detector, whole, fitted.get(name))
    for spoiled in detector.needs():
        if isinstance(spoiled, GroupCount):
            continue
        arrays = {c: np.array(whole[c]) for c in detector.needs()}
        arrays[spoiled][5] = np.nan
        after = scores_of(detector, Shard.in_memory(0, world.rows, arrays), fitted.get(name))
        assert np.isnan(after[5])
        others = np.arange(len(before)) != 5
        assert np.array_equal(after[others], before[others])


@pytest.mark.parametrize("name", TRAINED)
def test_a_head_survives_saving_bit_for_bit(name, world, fitted, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    detector, head = TRAINED[name], fitted[name]
    assert detector.head is not None
    head.save(tmp_path / "seed0")
    again = FittedHead.load(tmp_path / "seed0")
    x = detector.features(world.shard(detector.needs()))
    assert np.array_equal(again.score(detector.head, x), head.score(detector.head, x))
    assert again.classes == {"0": "concrete or non_assertive", "1": "hallucinated"}
    assert (again.detector, again.variant, again.rows) == (head.detector, head.variant, head.rows)
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".json", ".safetensors"]


@pytest.mark.parametrize("name", [n for n in EVERY if not EVERY[n].baseline and EVERY[n].name != "halp"])
def test_signal_gives_auroc_above_half_and_shuffled_labels_about_half(name, world, fitted) -> None:  # type: ignore[no-untyped-def]
    detector = EVERY[name]
    shard = world.shard(detector.needs())
    label = population(world.rows, world.labels).label
    scores = scores_of(detector, shard, fitted.get(name))
    held = np.flatnonzero(label <= HALLUCINATED)[1::2]
    assert auroc(scores[held], label[held] == HALLUCINATED) > 0.6
    shuffled = np.random.default_rng(1).permutation(label[held] == HALLUCINATED)
    assert abs(auroc(scores[held], shuffled) - 0.5) < 0.12
    assert (label == CONCRETE).any()


def test_less_image_and_more_text_attention_raise_every_attention_score(world, fitted) -> None:  # type: ignore[no-untyped-def]
    """T23; the Lookback ratio itself falls with hallucination, its probe turns it round."""
    label = population(world.rows, world.labels).label
    lookback = DETECTORS["lookback"].features(world.shard(DETECTORS["lookback"].needs())).mean(axis=1)
    assert lookback[label == HALLUCINATED].mean() < lookback[label == CONCRETE].mean()


def test_halp_gives_all_mentions_of_an_image_one_score(world, fitted) -> None:  # type: ignore[no-untyped-def]
    detector = DETECTORS["halp"]
    scores = scores_of(detector, world.shard(detector.needs()), fitted["halp"])
    for image in set(world.rows.image_id.tolist()):
        assert np.ptp(scores[world.rows.image_id == image]) == 0
    assert np.ptp(scores) > 0
