"""Captures of a store as grids, compared between groups of rows."""

import numpy as np
import pytest

from probekit.captures import AttentionGrid, AttentionMass, HiddenState, InternalConfidence, TokenStatistics
from probekit.errors import InputError, UnservedError
from probekit.evaluation.capture_grids import capture_grid, compare_groups
from probekit.evaluation.effect_maps import effect_map
from probekit.rows import RowKey
from probekit.store import Bfloat16, Header, RowTable, Store, StoreWriter

ROWS, LAYERS, HEADS = 60, 3, 4
HEADER = Header(
    "0" * 16, "tiny", "r1", "llava", "sdpa", "float32", "t1", {}, 1.0, LAYERS, HEADS, 8, 11, 30, {}
)
CAPTURES = (AttentionMass(), InternalConfidence(), TokenStatistics(), HiddenState("mid"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, dict, dict[RowKey, str]]:
    """Two shards; odd rows look more at the picture in layer 1, head 2, of the last slot."""
    rng = np.random.default_rng(0)
    mass = rng.dirichlet(np.ones(6), (ROWS, 4, LAYERS, HEADS)).astype(np.float32)
    mass[1::2, -1, 1, 2] = [0.05, 0.05, 0.75, 0.05, 0.05, 0.05]
    confidence = rng.random((ROWS, LAYERS + 1)).astype(np.float32)
    confidence[4, 2] = np.nan
    statistics = rng.random((ROWS, 7)).astype(np.float32)
    states = rng.normal(size=(ROWS, 8)).astype(np.float32)
    path = tmp_path_factory.mktemp("store") / "store"
    keys = []
    with StoreWriter.create(path, HEADER, CAPTURES) as writer:
        for number, part in enumerate(np.split(np.arange(ROWS), 2)):
            ones = np.ones(len(part), dtype=np.int64)
            rows = RowTable(
                np.array([f"e{i}" for i in part], dtype=object),
                0 * ones,
                np.array([f"{i // 3}" for i in part], dtype=object),
                np.array(["dog"] * len(part), dtype=object),
                *(ones * value for value in (5, 6, 20, 30, 9, 1, 7)),
            )
            keys += rows.keys
            arrays = (mass, confidence, statistics, Bfloat16.round(states))
            writer.write(
                number,
                rows,
                {
                    c: Bfloat16.round(states[part]) if c == CAPTURES[3] else np.asarray(a)[part]
                    for c, a in zip(CAPTURES[:3], arrays[:3], strict=True)
                }
                | {CAPTURES[3]: Bfloat16.round(states[part])},
            )
    groups = {key: "hallucinated" if i % 2 else "concrete" for i, key in enumerate(keys)}
    return Store.open(path), {"mass": mass, "confidence": confidence}, groups


def test_a_grid_is_the_selected_part_of_every_shard(made) -> None:
    store, arrays, _ = made
    grid = capture_grid(store, AttentionMass(), {"group": "image"})
    assert grid.axes == ("layer", "head")
    np.testing.assert_allclose(grid.values, arrays["mass"][:, -1, :, :, 2], atol=2e-3)
    assert [str(key) for key in grid.keys[:2]] == ["e0#0", "e1#0"]
    assert grid.images[3] == "1"
    first_slot = capture_grid(store, AttentionMass(), {"group": "image", "slot": 0})
    np.testing.assert_allclose(first_slot.values, arrays["mass"][:, 0, :, :, 2], atol=2e-3)
    flat = capture_grid(store, InternalConfidence())
    assert flat.axes == ("layer", "one")
    np.testing.assert_array_equal(flat.values[:, :, 0], arrays["confidence"])
    single = capture_grid(store, TokenStatistics(), {"statistic": "entropy"})
    assert single.axes == ("one", "one")
    assert single.values.shape == (ROWS, 1, 1)


def test_the_map_finds_where_the_groups_differ(made) -> None:
    store, _, groups = made
    grid = capture_grid(store, AttentionMass(), {"group": "image"})
    found = compare_groups(grid, groups, "concrete", "hallucinated", draws=50)
    assert np.unravel_index(np.argmin(found.cells.d_pooled), (LAYERS, HEADS)) == (1, 2)
    assert found.unlabelled == 0
    assert found.mean.d_pooled.high < 0
    marks = np.arange(ROWS) % 2 == 0
    np.testing.assert_array_equal(found.cells.p_rank, effect_map(grid.values, marks).p_rank)


def test_rows_of_no_group_are_left_out_and_counted(made) -> None:
    store, _, groups = made
    some = {key: group for i, (key, group) in enumerate(groups.items()) if i < 40}
    found = compare_groups(capture_grid(store, HiddenState("mid")), some, "concrete", "hallucinated", draws=0)
    assert found.unlabelled == 20
    assert (found.mean.first.n, found.mean.second.n) == (20, 20)


def test_missing_cells_do_not_take_their_row_away(made) -> None:
    store, arrays, groups = made
    found = compare_groups(
        capture_grid(store, InternalConfidence()), groups, "concrete", "hallucinated", draws=0
    )
    assert found.cells.n_first[2, 0] == 29
    assert found.mean.first.n == 30
    expected = np.nanmean(arrays["confidence"][::2], axis=1).mean()
    assert found.mean.first.mean == pytest.approx(expected, rel=1e-6)


def test_faults_say_what_there_is(made) -> None:
    store, _, groups = made
    with pytest.raises(UnservedError, match="attention_grid"):
        capture_grid(store, AttentionGrid())
    with pytest.raises(InputError, match="layer, head, group"):
        capture_grid(store, AttentionMass())
    with pytest.raises(InputError, match="no axis colour"):
        capture_grid(store, AttentionMass(), {"colour": 1})
    with pytest.raises(InputError, match="no place 'picture'"):
        capture_grid(store, AttentionMass(), {"group": "picture"})
    with pytest.raises(InputError, match="out of bounds"):
        capture_grid(store, AttentionMass(), {"group": 9})
    with pytest.raises(InputError, match="group 'hedged'") as fault:
        compare_groups(capture_grid(store, TokenStatistics()), groups, "concrete", "hedged")
    assert "concrete, hallucinated" in str(fault.value)
