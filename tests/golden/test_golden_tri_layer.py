"""Numbers printed by the Tri-Layer paper, recomputed through the library from its own tables.

Rows are made to carry the counts of Table 4 (1,000 samples a model), then classified and averaged as
any rows would be.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from probekit.benchmarks.conditions import Condition
from probekit.benchmarks.tri_layer import SAMPLES
from probekit.scores.kl import kl_per_position
from probekit.scores.selective import selective
from probekit.scores.taxonomy import Category, classify
from probekit.scores.tri_layer import TriLayerRow, diagnose, group_by, moments, response_rates
from probekit.scores.vns import vns

SHARED = Path(__file__).resolve().parents[3] / "shared"
PB, LSC, VS = Category.PERCEPTUAL_BLINDNESS, Category.LANGUAGE_SHORTCUT, Category.VISUAL_SYCOPHANCY
SCORES = {PB: (1.0, 2.0, 1.0), LSC: (3.0, 0.5, 1.0), VS: (3.0, 2.0, 1.0)}

TABLE_4 = {
    # model: shares of P.B., L.SC, V.S. in %, accuracies within them, accuracy of all
    "Molmo2-4B": ((42.8, 25.2, 32.0), (68.0, 71.4, 75.6), 71.3),
    "Phi-3.5-Vision": ((1.6, 39.8, 58.6), (50.0, 73.4, 66.6), 69.0),
    "LLaVA-NeXT-7B": ((0.0, 29.7, 70.3), (None, 64.0, 69.8), 68.1),
    # One P.B. sample, whose accuracy the paper prints as a dash; it must be wrong for 66.5 (SPEC 8).
    "Qwen2.5-VL-7B": ((0.1, 27.5, 72.4), (0.0, 65.8, 74.6), 72.1),
    "Llama-3.2-11B": ((0.0, 21.2, 78.8), (None, 75.5, 68.4), 69.9),
    "Pixtral-12B": ((5.3, 14.8, 79.9), (60.4, 70.3, 66.7), 66.9),
    "Qwen2.5-VL-72B": ((0.0, 4.7, 95.3), (None, 61.7, 74.1), 73.5),
}
TABLE_5 = {
    # task: N, accuracy, SC blind, SC conf, P.B., L.SC, V.S.
    "Halluc.": (2450, 82.0, 56.3, 17.6, 7.9, 14.6, 77.6),
    "Spatial": (1750, 67.3, 62.6, 46.4, 6.5, 32.1, 61.4),
    "Complex": (1750, 62.9, 59.1, 45.5, 5.5, 29.4, 65.1),
    "Count.": (1050, 59.1, 59.4, 19.0, 9.0, 18.7, 72.3),
}
TABLE_2 = {
    # model: accuracy, SC blind, SC conf
    "Qwen2.5-VL-72B": (73.5, 40.4, 9.7),
    "Qwen2.5-VL-7B": (72.1, 45.8, 15.1),
    "Molmo2-4B": (71.3, 99.4, 37.1),
    "Llama-3.2-11B": (69.9, 45.8, 37.8),
    "Phi-3.5-Vision": (69.0, 76.6, 32.1),
    "LLaVA-NeXT-7B": (68.1, 14.2, 37.8),
    "Pixtral-12B": (66.9, 91.0, 54.2),
}


def rows_of(
    name: str, task: str, counts: dict[Category, int], right: dict[Category, int]
) -> list[TriLayerRow]:
    rows = []
    for category, count in counts.items():
        lad, score, cs = SCORES[category]
        for i in range(count):
            key = f"{name}-{category}-{i}"
            rows.append(TriLayerRow(name, task, key, key, lad, score, cs, correct=i < right[category]))
    return rows


@pytest.fixture(scope="module")
def rows() -> list[TriLayerRow]:
    found = []
    for model, (shares, accuracies, _) in TABLE_4.items():
        counts = {c: round(10 * s) for c, s in zip((PB, LSC, VS), shares, strict=True)}
        assert sum(counts.values()) == 1000, "tri.taxonomy.rowsum: Robust Refusal is 0"
        right = {
            c: round(counts[c] * (a or 0.0) / 100) for c, a in zip((PB, LSC, VS), accuracies, strict=True)
        }
        found += rows_of(model, "all", counts, right)
    return found


def test_taxonomy_overall(rows: list[TriLayerRow]) -> None:
    """Table 4: 7.1 / 23.3 / 69.6 = 498, 1629, 4873 of 7,000."""
    found = diagnose(rows).shares
    assert found.n == 7000
    assert [round(100 * found.share[c], 1) for c in (PB, LSC, VS)] == [7.1, 23.3, 69.6]
    assert found.share[Category.ROBUST_REFUSAL] == 0


def test_molmo_share_of_perceptual_blindness(rows: list[TriLayerRow]) -> None:
    """Section 5.3: 428 of 498 = 86 %."""
    blind = [row.model for row in rows if row.category() is PB]
    assert round(100 * blind.count("Molmo2-4B") / len(blind)) == 86


def test_accuracy_per_category(rows: list[TriLayerRow]) -> None:
    """Table 4's last row: count-weighted means 66.5, 69.7, 70.6, and 70.1 of all."""
    found = diagnose(rows).accuracy
    assert [round(100 * found[c], 1) for c in (PB, LSC, VS)] == [66.5, 69.7, 70.6]
    assert round(100 * response_rates(rows, draws=0).accuracy.value, 1) == 70.1


def test_blindness_accuracy_needs_the_dashed_sample_to_be_wrong() -> None:
    """(428 x .680 + 16 x .500 + 53 x .604 + 0) / 498 = 66.5; were it right, 66.7; left out, 66.6."""
    known = 428 * 0.680 + 16 * 0.500 + 53 * 0.604
    assert [round(100 * x, 1) for x in (known / 498, (known + 1) / 498, known / 497)] == [66.5, 66.7, 66.6]


def test_accuracy_per_model(rows: list[TriLayerRow]) -> None:
    """A_All = sum of share x accuracy, within 0.11 of inputs rounded to one decimal."""
    for model, held in group_by(rows, lambda row: row.model).items():
        assert 100 * response_rates(held, draws=0).accuracy.value == pytest.approx(
            TABLE_4[model][2], abs=0.11
        )


def test_a_category_of_fewer_than_five_shows_a_dash(rows: list[TriLayerRow]) -> None:
    held = group_by(rows, lambda row: row.model)["Qwen2.5-VL-7B"]
    assert np.isnan(diagnose(held).accuracy[PB])
    assert not np.isnan(diagnose(held).accuracy[LSC])


def test_tasks_weighted_by_their_size_give_the_overall_numbers() -> None:
    """tri.task.weighted: Table 5 against Tables 2 and 4: 70.1; 7.1, 23.3, 69.6."""
    every: list[TriLayerRow] = []
    for task, (n, accuracy, _, _, *shares) in TABLE_5.items():
        assert sum(shares) == pytest.approx(100, abs=0.11), "tri.task.rowsum"
        counts = {c: round(n * s / 100) for c, s in zip((PB, LSC, VS), shares, strict=True)}
        # Rounded shares may add up to one sample more or less than N.
        counts[VS] += n - sum(counts.values())
        held = rows_of(task, task, counts, dict.fromkeys(counts, 0))
        right = round(n * accuracy / 100)
        every += [
            TriLayerRow(*(r.model, r.task, r.sample_id, r.image_id, r.lad, r.vns, r.cs), correct=i < right)
            for i, r in enumerate(held)
        ]
    found = diagnose(every).shares
    assert [round(100 * found.share[c], 1) for c in (PB, LSC, VS)] == [7.1, 23.3, 69.6]
    assert round(100 * response_rates(every, draws=0).accuracy.value, 1) == 70.1


@pytest.mark.parametrize(("column", "task_column"), [(1, 2), (2, 3)])
def test_shortcut_rates_agree_between_tables_2_and_5(column: int, task_column: int) -> None:
    """tri.sc.crosscheck: SC blind 59.0 and SC conf 32.0 from either table."""
    by_model = np.mean([row[column] for row in TABLE_2.values()])
    sizes = [row[0] for row in TABLE_5.values()]
    by_task = np.average([row[task_column] for row in TABLE_5.values()], weights=sizes)
    assert by_model == pytest.approx(by_task, abs=0.05)


def test_mean_lad() -> None:
    """Section 5.2: mean LAD 3.09, mean LAD noise 2.38 over the seven models of Table 3."""
    lad = (4.17, 3.12, 3.24, 3.85, 3.02, 2.64, 1.58)
    noise = (3.39, 2.22, 2.39, 3.25, 1.84, 2.09, 1.50)
    rows = [
        TriLayerRow(str(i), "t", str(i), str(i), lad=a, lad_noise=b)
        for i, (a, b) in enumerate(zip(lad, noise, strict=True))
    ]
    assert [round(moments(rows, name)[0], 2) for name in ("lad", "lad_noise")] == [3.09, 2.38]


def test_selective_gains_and_scaling() -> None:
    """Tables 6 and 7: differences of printed percentages."""
    table_7 = (
        (72.1, 81.6, 9.5),
        (68.1, 75.4, 7.3),
        (71.3, 76.6, 5.3),
        (73.5, 77.8, 4.3),
        (69.0, 69.7, 0.7),
        (69.9, 69.9, 0.0),
        (66.9, 66.1, -0.8),
    )
    for baseline, half, gain in table_7:
        n = 1000
        # The first 500 ranks hold the errors that Acc@50 % implies, the rest the others.
        wrong_half = round(500 * (1 - half / 100))
        wrong = round(n * (1 - baseline / 100))
        right = np.array(
            [i >= wrong_half for i in range(500)] + [i >= wrong - wrong_half for i in range(500)]
        )
        found = selective(np.arange(n, 0, -1, dtype=np.float64), right, [str(i) for i in range(n)], draws=0)
        assert round(100 * found.gain.value, 1) == pytest.approx(gain, abs=0.11)
    small, large = TABLE_4["Qwen2.5-VL-7B"][0], TABLE_4["Qwen2.5-VL-72B"][0]
    assert (round(small[1] - large[1], 1), round(large[2] - small[2], 1)) == (22.8, 22.9)


def test_counts_of_the_evaluation() -> None:
    """tri.counts, tri.task.N: 7 models x 1,000 samples x 4 conditions."""
    assert sum(SAMPLES.values()) == 1000
    assert {task: 7 * n for task, n in SAMPLES.items()} == {
        "pope": 2450,
        "spatial": 1750,
        "complex": 1750,
        "counting": 1050,
    }
    assert 7 * 1000 * len(Condition) == 28_000


def test_vns_quartile_is_consistent_with_the_shortcut_share(rows: list[TriLayerRow]) -> None:
    """P25 = 0.95, so a quarter lies below 1.0: at least L.SC, at most L.SC and P.B. together."""
    found = diagnose(rows).shares.share
    assert found[LSC] <= 0.25 <= found[LSC] + found[PB]


def test_unit_kl_in_the_stated_direction() -> None:
    """T13: [.7, .2, .1] against [.2, .3, .5] is .634897 nats; the reverse, .675806, must not pass."""
    p, q = np.log([[0.7, 0.2, 0.1]]), np.log([[0.2, 0.3, 0.5]])
    assert kl_per_position(p, q)[0] == pytest.approx(0.634897, abs=1e-5)
    assert kl_per_position(q, p)[0] == pytest.approx(0.675806, abs=1e-5)
    assert kl_per_position(p, p)[0] == 0


def test_unit_vns_top_thirty_percent() -> None:
    """T12: ceil(.3 x 10) = 3 largest of ten average 4.0; one token gives that token."""
    kl = np.array([0.1, 5.0, 0.2, 4.0, 0.3, 3.0, 0.4, 2.0, 0.5, 1.0])
    assert vns(kl) == 4.0
    assert vns(np.array([0.7])) == 0.7
    assert vns(np.zeros(5)) == 0.0


def test_unit_taxonomy_boundaries() -> None:
    """T14: equality falls on the failing side."""
    cases = ((1.5, 9.0, 9.0), (1.6, 1.0, 9.0), (1.6, 1.1, 0.1), (1.6, 1.1, 0.0))
    assert [classify(*case) for case in cases] == [PB, LSC, VS, Category.ROBUST_REFUSAL]


def test_unit_aurc() -> None:
    """T20: (0 + 1/2 + 1/3 + 1/4 + 2/5) / 5 = .29667; errors last (1/4 + 2/5) / 5 = .13; .16667 apart."""
    confidences = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    right = np.array([True, False, True, True, False])
    found = selective(confidences, right, list("abcde"), draws=0)
    assert found.aurc.value == pytest.approx(0.29667, abs=1e-5)
    assert found.oracle.value == pytest.approx(0.13, abs=1e-5)
    assert found.e_aurc.value == pytest.approx(0.16667, abs=1e-5)
    # Errors so far over n: (0 + 1 + 1 + 1 + 2) / 25.
    assert found.augrc.value == pytest.approx(0.2)


CHECKED = {
    "tri.taxonomy.rowsum",
    "tri.taxonomy.overall",
    "tri.taxonomy.molmo_share",
    "tri.acc.overall",
    "tri.acc.per_category",
    "tri.acc.pb",
    "tri.acc.per_model",
    "tri.task.weighted",
    "tri.task.rowsum",
    "tri.task.N",
    "tri.sc.crosscheck",
    "tri.lad.means",
    "tri.selective.delta",
    "tri.scaling",
    "tri.vnsp25",
    "tri.counts",
    "unit.kl",
    "unit.vns.top30",
    "unit.taxonomy",
    "unit.aurc",
}


def test_no_golden_number_of_this_paper_is_left_out() -> None:
    path = SHARED / "docs" / "golden_numbers.json"
    if not path.exists():
        pytest.skip("the golden numbers are not beside the checkout")
    ids = {entry["id"] for entry in json.loads(path.read_text())["entries"]}
    mine = {i for i in ids if i.startswith(("tri.", "unit.kl", "unit.vns", "unit.taxonomy", "unit.aurc"))}
    assert mine <= CHECKED
