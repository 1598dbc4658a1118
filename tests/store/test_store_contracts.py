"""The writer refuses numbers that cannot be true, and names the sample, the capture and the layer."""

from pathlib import Path

import numpy as np
import pytest

from probekit.captures import AttentionGrid, AttentionMass, Capture, GroupCount, HiddenState, TokenStatistics
from probekit.errors import ContractError, InputError
from probekit.store import Bfloat16, RowTable, Store, StoreWriter


@pytest.fixture
def write(tiny, tmp_path: Path):
    """Writes one capture; on refusal nothing may be left in the store."""

    def run(capture: Capture, values: np.ndarray | Bfloat16, rows: RowTable | None = None) -> np.ndarray:
        with StoreWriter.create(tmp_path, tiny.header, (capture,)) as writer:
            try:
                writer.write(0, rows or tiny.rows(0), {capture: values})
            except ContractError:
                assert not list((tmp_path / "shards").iterdir())
                assert writer.done == set()
                raise
        return Store.open(tmp_path).shard(0)[capture]

    return run


def test_70000_does_not_become_inf(tiny, write) -> None:
    grid = tiny.array(AttentionGrid(), tiny.rows(0))
    grid[3, 2, 1, 0] = 70000.0
    with pytest.raises(ContractError, match=r"ex000-é1#1.*attention_grid.*layer 2, head 1: 70000") as error:
        write(AttentionGrid(), grid)
    assert "float16" in error.value.what


@pytest.mark.parametrize("kind", [np.float16, np.float32, "bfloat16"])
def test_an_infinite_state(tiny, write, kind) -> None:
    with np.errstate(over="ignore"):
        values = np.ones((6, 8), np.float32)
        values[4, 3] = np.inf if kind != np.float16 else 70000.0
        stored = Bfloat16.round(values) if kind == "bfloat16" else values.astype(kind)
    with pytest.raises(ContractError, match=r"sample ex000-é2#0, hidden_state.*layer mid: .*infinite"):
        write(HiddenState(), stored)


def test_an_infinite_statistic(tiny, write) -> None:
    values = tiny.array(TokenStatistics(), tiny.rows(0))
    values[1, 0] = -np.inf
    with pytest.raises(ContractError, match=r"ex000-é0#1.*statistic 0.*infinite"):
        write(TokenStatistics(), values)
    values[1, 0] = np.nan
    assert np.isnan(write(TokenStatistics(), values)[1, 0])


def test_float64_that_float32_cannot_hold(write) -> None:
    with pytest.raises(ContractError, match="1e\\+39 does not fit float32"):
        write(TokenStatistics(), np.full((6, 7), 1e39))


@pytest.mark.parametrize("value", [0.0, -0.0])
def test_a_row_of_zeros(tiny, write, value: float) -> None:
    values = np.ones((6, 8), np.float16)
    values[2] = value
    with pytest.raises(ContractError, match=r"ex000-é1#0.*whole row is zero"):
        write(HiddenState(), values)
    values[2, 5] = 6e-8
    np.testing.assert_array_equal(write(HiddenState(), values), values.astype(np.float32))


def test_a_grid_of_zeros(tiny, write) -> None:
    grid = tiny.array(AttentionGrid(), tiny.rows(0))
    grid[5] = 0
    with pytest.raises(ContractError, match=r"ex000-é2#1.*zero"):
        write(AttentionGrid(), grid)


def test_nan_states(write) -> None:
    values = np.ones((6, 8), np.float32)
    values[1] = np.nan
    with pytest.raises(ContractError, match=r"ex000-é0#1.*whole row is NaN"):
        write(HiddenState(), values)
    values[1] = 1
    values[1, 7] = np.nan
    with pytest.raises(ContractError, match=r"ex000-é0#1.*holds NaN"):
        write(HiddenState(), values)


@pytest.mark.parametrize(("error", "legal"), [(1e-3, True), (3.5e-3, False), (-3.5e-3, False)])
def test_masses_sum_to_one(tiny, write, error: float, legal: bool) -> None:
    mass = tiny.array(AttentionMass(), tiny.rows(0))
    mass[5, 3, 2, 1, 2] += error
    if legal:
        write(AttentionMass(), mass)
        return
    with pytest.raises(ContractError, match=r"ex000-é2#1.*slot 3, layer 2, head 1: .*sum to (1\.00|0\.99)"):
        write(AttentionMass(), mass)


def test_the_slot_of_t_star_may_not_be_missing(tiny, write) -> None:
    mass = tiny.array(AttentionMass(), tiny.rows(0))
    mass[0, 3] = np.nan
    with pytest.raises(ContractError, match=r"ex000-é0#0.*slot 3.*nan"):
        write(AttentionMass(), mass)


def test_slots_before_the_caption_are_nan(tiny, write) -> None:
    mass = tiny.array(AttentionMass(), tiny.rows(0))
    assert np.isnan(mass[1, :2]).all()
    assert not np.isnan(mass[1, 2:]).any()
    filled = mass.copy()
    filled[1, 1] = 1 / 6
    with pytest.raises(ContractError, match=r"ex000-é0#1.*slot 1.*before the start"):
        write(AttentionMass(), filled)
    np.testing.assert_array_equal(np.isnan(write(AttentionMass(), mass)), np.isnan(mass))


def test_counts_mark_missing_slots(tiny, write) -> None:
    count = tiny.array(GroupCount(), tiny.rows(0))
    assert (count[0, :3] == -1).all()
    count[0, 2, 1] = 0
    with pytest.raises(ContractError, match=r"ex000-é0#0.*slot 2, group 1.*group count 0"):
        write(GroupCount(), count)
    count[0, 2, 1] = -1
    count[4, 0, 0] = -1
    with pytest.raises(ContractError, match=r"ex000-é2#0"):
        write(GroupCount(), count)


def test_whole_numbers_that_do_not_fit(tiny, write) -> None:
    count = tiny.array(GroupCount(), tiny.rows(0))
    count[5, 3, 0] = 2**31
    with pytest.raises(ContractError, match=r"ex000-é2#1.*2147483648 does not fit int32"):
        write(GroupCount(), count)


def test_wrong_shape_type_and_set(tiny, write, tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"shape \(6, 9\), expected \(6, 8\)"):
        write(HiddenState(), np.ones((6, 9), np.float32))
    with pytest.raises(ContractError, match="found int64"):
        write(HiddenState(), np.ones((6, 8), np.int64))
    with StoreWriter.create(tmp_path, tiny.header, (HiddenState(),)) as writer:
        with pytest.raises(ContractError, match="token_statistics"):
            writer.write(0, tiny.rows(0), tiny.arrays(0, tiny.rows(0), (HiddenState(), TokenStatistics())))
        writer.write(0, tiny.rows(0), tiny.arrays(0, tiny.rows(0), (HiddenState(),)))
        with pytest.raises(InputError, match="already"):
            writer.write(0, tiny.rows(0), tiny.arrays(0, tiny.rows(0), (HiddenState(),)))


def test_a_row_twice_in_a_shard(tiny, write) -> None:
    with pytest.raises(ContractError, match=r"ex000-é0#0.*twice"):
        write(HiddenState(), np.ones((2, 8), np.float32), tiny.rows(0).take([0, 0]))


def test_captures_of_two_passes(tiny, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="full, text_only"):
        StoreWriter.create(tmp_path, tiny.header, (*tiny.captures, *tiny.text_only))


def test_a_run_given_for_its_store_is_told_where_the_store_is(store_path: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "random").mkdir(parents=True)
    (run / "job.json").write_text('{"model": "organism"}')
    with pytest.raises(InputError) as caught:
        Store.open(run)
    assert not caught.value.hint
    (run / "random" / "store").symlink_to(store_path)
    with pytest.raises(InputError, match="random/store"):
        Store.open(run)
    (run / "job.json").unlink()
    with pytest.raises(InputError, match="random/store"):
        Store.open(run)
