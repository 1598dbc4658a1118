"""Contrasts of a Tri-Layer study count pairs once, and the same numbers have the same interval everywhere."""

import math
from dataclasses import asdict

import numpy as np
import pytest

from probekit.evaluation.tri_layer_summary import SCORES, TriLayerSummary, summarise
from probekit.scores.tri_layer import TriLayerRow


@pytest.fixture(scope="module")
def found() -> TriLayerSummary:
    """Twenty-four samples; the prior knows eight, errs on fourteen, and is absent twice."""
    rng = np.random.default_rng(0)
    rows, lines = [], []
    for n in range(24):
        scores = {name: float(rng.normal(2.0)) for name in SCORES}
        own = {name: value for name, value in scores.items() if name in TriLayerRow.__dataclass_fields__}
        rows.append(TriLayerRow("m", "t", f"s{n}", f"i{n}", **own, correct=n % 3 > 0))
        prior = "right" if n < 8 else "wrong" if n < 22 else "none"
        lines.append({**asdict(rows[-1]), **scores, "prior": prior, "category_cs_full": rows[-1].category(),
                      "category_noise": rows[-1].category(), "conflict_reason": "far"})  # fmt: skip
    return summarise(rows, lines, draws=200)


def test_pairs_are_counted_once(found: TriLayerSummary) -> None:
    lad = found.contrasts[0]
    assert (lad.score, lad.first, lad.second) == ("lad", "black", "another real picture")
    assert (lad.auroc.n, lad.first_mean.n, lad.second_mean.n, lad.n) == (24, 24, 24, (24, 24))
    vns = {c.first: c for c in found.contrasts if c.score == "vns"}
    assert (vns["prior: wrong"].auroc.n, vns["prior: wrong"].n) == (22, (14, 8))
    assert vns["prior: wrong"].first_mean.n == 14


def test_equal_numbers_have_equal_intervals(found: TriLayerSummary) -> None:
    easy = {(c.second_mean.value, c.second_mean.low, c.second_mean.high)
            for c in found.contrasts if c.score == "vns"}  # fmt: skip
    assert len(easy) == 1
    lad, means = found.contrasts[0], found.means
    assert lad.first_mean == means["lad"]
    assert lad.second_mean == means["lad_conflict"]
    rates, chosen = found.rates["all samples"].accuracy, found.selective.accuracy
    assert (rates.value, rates.low, rates.high) == pytest.approx((chosen.value, chosen.low, chosen.high))


def test_a_side_of_two_pictures_gives_no_interval(found: TriLayerSummary) -> None:
    few = next(c for c in found.contrasts if c.first == "prior: none")
    assert few.n == (2, 8)
    assert not math.isnan(few.auroc.value)
    assert math.isnan(few.auroc.low)
    assert math.isnan(few.first_mean.low)
    assert not math.isnan(few.second_mean.low)
