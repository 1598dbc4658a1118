"""Golden numbers of NAME-Bench and of the detectors' unit vectors."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probekit.captures import AttentionMass, GroupCount
from probekit.detectors import LookbackRatio
from probekit.detectors.attention import scaled_layers
from probekit.evaluation.natural import chair_non_assertive_share
from probekit.evaluation.splits import SHARES
from probekit.evaluation.thresholds import Threshold
from probekit.store import RowTable, Shard

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "docs" / "golden_numbers.json"


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    if not GOLDEN.exists():
        pytest.skip("golden numbers are not at hand")
    return {entry["id"]: entry for entry in json.loads(GOLDEN.read_text())["entries"]}


def implied(inputs: dict[str, Any]) -> tuple[float, float]:
    """Smallest and largest share that the printed ranges allow."""
    ranges = [inputs[k] if isinstance(inputs[k], list) else [inputs[k]] for k in ("s", "h", "chair_NA")]
    values = [chair_non_assertive_share(*v) for v in itertools.product(*ranges, inputs["chair_recall"])]
    return min(values), max(values)


def test_chair_share_of_the_newer_models(golden: dict[str, Any]) -> None:
    low, high = implied(golden["name.chair_share.newer"]["inputs"])
    assert (round(low, 3), round(high, 3)) == (0.198, 0.438)
    assert low < 0.28 < 0.37 < high


def test_chair_share_of_llava(golden: dict[str, Any]) -> None:
    low, high = implied(golden["name.chair_share.llava"]["inputs"])
    assert (round(low, 3), round(high, 3)) == (0.023, 0.038)


def test_threshold(golden: dict[str, Any]) -> None:
    expected = golden["unit.threshold"]["expected"]
    threshold = Threshold.of(np.arange(1, 21, dtype=float))
    assert threshold.value == pytest.approx(expected["thr"], abs=1e-9)
    assert threshold.achieved == pytest.approx(expected["flagged"])


def test_svar_layers(golden: dict[str, Any]) -> None:
    for depth, layers in golden["unit.svar.layers"]["expected"].items():
        assert list(scaled_layers(5, 18, 32, int(depth))) == layers


def test_lookback_ratio(golden: dict[str, Any]) -> None:
    entry = golden["unit.lookback"]
    mass, count = np.full((1, 4, 1, 1, 6), np.nan), np.full((1, 4, 6), -1, np.int32)
    mass[0, 3, 0, 0] = [*entry["inputs"]["ctx"], 0, 0, *entry["inputs"]["new"]]
    count[0, 3] = [1, 1, 0, 0, 1, 1]
    one, name = np.ones(1, np.int64), np.asarray(["a"], object)
    rows = RowTable(name, one, name, name, one, one, one, one, one, one, one)
    ratio = LookbackRatio()(Shard.in_memory(0, rows, {AttentionMass(): mass, GroupCount(): count}))
    assert ratio[0, 0] == pytest.approx(entry["expected"])


def test_split_shares_print_as_in_the_paper() -> None:
    assert [f"{100 * share / sum(SHARES):.1f}" for share in SHARES] == ["53.3", "13.3", "33.3"]
