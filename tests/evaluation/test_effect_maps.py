"""Maps over layers and heads equal the single comparison, and corrections equal scipy's and a hand count."""

import numpy as np
import pytest
import scipy.stats as stats

from probekit.errors import InputError
from probekit.evaluation.effect_maps import benjamini_hochberg, effect_map, holm
from probekit.evaluation.effects import compare
from probekit.evaluation.image_attention import image_attention, scaled_blocks


def test_every_cell_equals_the_comparison_of_its_column() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(80, 3, 4)).round(1)
    values[5, 1, 2] = np.nan
    is_first = rng.random(80) < 0.6
    values[is_first, 2, 3] += 1.5
    found = effect_map(values, is_first)
    images = [f"{i}" for i in range(80)]
    for layer in range(3):
        for head in range(4):
            single = compare(values[:, layer, head], is_first, images, ties=True, draws=0)
            at = (layer, head)
            assert found.d_pooled[at] == pytest.approx(single.d_pooled.value)
            assert found.auc[at] == pytest.approx(single.rank.auc)
            assert found.p_welch[at] == pytest.approx(single.welch.p)
            assert found.p_rank[at] == pytest.approx(single.rank.p)
            assert (found.n_first[at], found.n_second[at]) == (single.first.n, single.second.n)
    assert found.tests == 12
    assert np.unravel_index(np.argmin(found.p_rank), (3, 4)) == (2, 3)


def test_cells_that_do_not_vary_are_not_tests() -> None:
    values = np.random.default_rng(1).normal(size=(30, 2, 2))
    values[:, 0, 0] = 0.5
    found = effect_map(values, np.arange(30) < 10)
    assert np.isnan(found.d_pooled[0, 0])
    assert np.isnan(found.p_rank[0, 0])
    assert found.auc[0, 0] == 0.5
    assert found.tests == 3


def test_benjamini_hochberg_equals_scipy_and_passes_missing_ones_by() -> None:
    p = np.random.default_rng(2).random((4, 5)) ** 2
    np.testing.assert_allclose(
        benjamini_hochberg(p), stats.false_discovery_control(p.ravel(), method="bh").reshape(4, 5)
    )
    with_gap = np.append(p.ravel(), np.nan)
    np.testing.assert_allclose(benjamini_hochberg(with_gap)[:-1], benjamini_hochberg(p).ravel())
    assert np.isnan(benjamini_hochberg(with_gap)[-1])


def test_holm_by_hand() -> None:
    # Sorted .01 .02 .03 .04: times 4, 3, 2, 1 = .04 .06 .06 .04, then never falling.
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03, 0.02])), [0.06, 0.04, 0.06, 0.06])
    np.testing.assert_allclose(holm(np.array([0.9, 0.8])), [1.0, 1.0])
    np.testing.assert_allclose(holm(np.array([np.nan, 0.02])), [np.nan, 0.02])


@pytest.mark.parametrize(("depth", "expected"), [(32, (14, 20)), (28, (12, 18)), (4, (2, 3)), (24, (11, 15))])
def test_blocks_scale_with_depth(depth: int, expected: tuple[int, int]) -> None:
    # floor(14 L / 32 + .5) and floor(20 L / 32 + .5); 28: 12.25 and 17.5, 4: 1.75 and 2.5, 24: 10.5, 15.
    assert scaled_blocks(depth) == expected


def test_image_attention_is_the_mean_mass_of_the_range() -> None:
    mass = np.zeros((2, 32, 4))
    mass[0, 14:21] = 0.5
    mass[1, 13] = mass[1, 21] = 1.0
    np.testing.assert_allclose(image_attention(mass), [0.5, 0.0])
    mass[0, 15, 2] = np.nan
    assert np.isnan(image_attention(mass)[0])
    # Uniform attention over n keys, N of them image tokens, has a mass of N / n everywhere (SPEC 0.6).
    np.testing.assert_allclose(image_attention(np.full((1, 28, 8), 576 / 640)), [0.9])
    with pytest.raises(InputError):
        image_attention(mass, (14, 32))
