"""What is written is what is read, bit for bit where the type allows."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from probekit.captures import AttentionMass, HiddenState, Logits, TokenStatistics
from probekit.errors import InputError, StoreError, UnservedError
from probekit.rows import RowKey
from probekit.store import Bfloat16, RowTable, Shard, Store, StoreWriter


def test_every_capture_comes_back(tiny, store_path: Path) -> None:
    store = Store.open(store_path)
    assert len(store) == 24
    assert (store.depth, store.heads, store.header) == (3, 4, tiny.header)
    assert store.captures == tiny.captures
    for shard in store.shards():
        rows = tiny.rows(shard.number)
        assert shard.rows.keys == rows.keys
        given_arrays = tiny.arrays(shard.number, rows)
        for capture in tiny.captures:
            got, gave = shard[capture], given_arrays[capture]
            if isinstance(gave, Bfloat16):
                assert got.dtype == np.float32
                np.testing.assert_array_equal(Bfloat16.round(got).bits, gave.bits)
            elif capture.storage == "attention":
                assert got.dtype == np.float32
                np.testing.assert_array_equal(got, gave.astype(np.float16).astype(np.float32))
            else:
                np.testing.assert_array_equal(got, gave)


def test_row_table_columns_come_back(tiny, store_path: Path) -> None:
    got, gave = Store.open(store_path).rows(), [tiny.rows(n) for n in range(4)]
    for name in vars(gave[0]):
        np.testing.assert_array_equal(
            getattr(got, name), np.concatenate([getattr(t, name) for t in gave]), err_msg=name
        )
    assert got.keys[1] == RowKey("ex000-é0", 1)


@given(arrays(np.uint16, st.tuples(st.integers(1, 4), st.just(8))))
@settings(max_examples=60, deadline=None)
def test_bfloat16_equals_torch(bits: np.ndarray) -> None:
    expected = torch.from_numpy(bits).view(torch.bfloat16).to(torch.float32).numpy()
    np.testing.assert_array_equal(Bfloat16(bits).float32(), expected)


@given(arrays(np.float32, 20, elements=st.floats(width=32)))
@settings(max_examples=200, deadline=None)
def test_bfloat16_rounds_as_torch(values: np.ndarray) -> None:
    expected = torch.from_numpy(values).to(torch.bfloat16).to(torch.float32).numpy()
    np.testing.assert_array_equal(Bfloat16.round(values).float32(), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@given(data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_finite_state_survives(tiny, tmp_path_factory: pytest.TempPathFactory, data, dtype) -> None:
    n = data.draw(st.integers(1, 5))
    finite = st.floats(width=16 if dtype == np.float16 else 32, allow_nan=False, allow_infinity=False)
    values = data.draw(arrays(dtype, (n, 8), elements=finite))
    values[:, 0] = 1
    path = tmp_path_factory.mktemp("any")
    with StoreWriter.create(path, tiny.header, (HiddenState(),)) as writer:
        writer.write(0, tiny.rows(0, n), {HiddenState(): values})
    got = next(Store.open(path).shards())[HiddenState()]
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, values.astype(np.float32))


def test_attention_can_be_kept_in_float32(tiny, tmp_path: Path) -> None:
    from dataclasses import replace

    header = replace(tiny.header, extra={"attention_dtype": "float32"})
    rows = tiny.rows(0)
    mass = tiny.array(AttentionMass(), rows)
    with StoreWriter.create(tmp_path, header, (AttentionMass(),)) as writer:
        writer.write(0, rows, {AttentionMass(): mass})
    np.testing.assert_array_equal(Store.open(tmp_path).shard(0)[AttentionMass()], mass)


def test_a_shard_without_rows(tiny, tmp_path: Path) -> None:
    rows = tiny.rows(0, 0)
    with StoreWriter.create(tmp_path, tiny.header, tiny.captures) as writer:
        writer.write(0, rows, tiny.arrays(0, rows))
    store = Store.open(tmp_path)
    assert len(store) == 0
    assert store.shard(0)[AttentionMass()].shape == (0, 4, 3, 4, 6)


def test_companion_is_joined_by_key(tiny, store_path: Path) -> None:
    tiny.fill_companion(store_path)
    store = Store.open(store_path)
    capture = tiny.text_only[0]
    assert capture in store.captures
    truth: dict[RowKey, np.ndarray] = {}
    for shard in store.companions["text_only"].shards():
        truth.update(zip(shard.rows.keys, shard[capture], strict=True))
    for shard in store.shards():
        np.testing.assert_array_equal(shard[capture], np.stack([truth[key] for key in shard.rows.keys]))


def test_companion_that_lacks_a_row_names_it(tiny, store_path: Path) -> None:
    tiny.fill_companion(store_path, shards=3)
    with pytest.raises(StoreError, match="ex003-é0#0"):
        Store.open(store_path).shard(3)[tiny.text_only[0]]


def test_gather_takes_rows_from_any_shard(tiny, store_path: Path) -> None:
    store = Store.open(store_path)
    everything = np.concatenate([shard[TokenStatistics()] for shard in store.shards()])
    order = np.random.default_rng(0).permutation(len(store))[:9]
    rows = store.rows().take(order)
    np.testing.assert_array_equal(store.gather(TokenStatistics(), rows), everything[order])
    assert store.gather(TokenStatistics(), rows.take([])).shape == (0, 7)


def test_logits_are_the_head_times_the_states(tiny, store_path: Path) -> None:
    store = Store.open(store_path)
    head = store.once("head")
    shard = store.shard(2)
    states = torch.from_numpy(shard[Logits("factored")]).double()
    raw = (states @ torch.from_numpy(head["weight"]).double().T + torch.from_numpy(head["bias"])) * 0.5
    expected = 3.0 * torch.tanh(raw / 3.0)
    assert (raw.abs() > 3).any(), "the cap must matter here"
    np.testing.assert_allclose(store.logits(shard), expected.numpy(), atol=1e-5)
    np.testing.assert_allclose(store.logits(shard.rows.take([4, 1])), expected.numpy()[[4, 1]], atol=1e-5)


def test_logits_are_the_same_in_blocks_of_words(tiny, store_path: Path, monkeypatch) -> None:
    store = Store.open(store_path)
    whole = store.logits(store.shard(0))
    monkeypatch.setattr("probekit.store.head._WORDS", 4)
    np.testing.assert_allclose(store.logits(store.shard(0)), whole, atol=1e-6)


def test_head_is_kept_bit_for_bit(tiny, store_path: Path) -> None:
    weight = Store.open(store_path).once("head")["weight"]
    np.testing.assert_array_equal(Bfloat16.round(weight).bits, tiny.head()["weight"].bits)
    with pytest.raises(StoreError, match="no 'tail'"):
        Store.open(store_path).once("tail")


def test_head_written_twice(tiny, store_path: Path) -> None:
    with StoreWriter.create(store_path, tiny.header, tiny.captures) as writer:
        writer.write_once("head", tiny.head())
        with pytest.raises(InputError, match="other values"):
            writer.write_once("head", {**tiny.head(), "softcap": np.float32(2).reshape(1)})


def test_what_is_not_there_is_named(tiny, store_path: Path) -> None:
    store = Store.open(store_path)
    other = HiddenState(layer="last")
    assert store.missing((HiddenState(), other)) == (other,)
    with pytest.raises(UnservedError, match=r"hidden_last needs .*layer=last"):
        store.require((other,), who="hidden_last")
    with pytest.raises(UnservedError, match="layer=last"):
        store.shard(0)[other]
    with pytest.raises(InputError, match="no store here"):
        Store.open(store_path / "shards")


def test_a_shard_in_memory(tiny) -> None:
    rows = tiny.rows(0)
    shard = Shard.in_memory(0, rows, {HiddenState(): np.ones((6, 8), np.float32)})
    assert shard[HiddenState()].sum() == 48
    with pytest.raises(UnservedError):
        shard[TokenStatistics()]


def test_row_table_take_and_concatenate(tiny) -> None:
    rows = tiny.rows(0)
    assert rows.take(rows.token >= 4).keys == rows.keys[4:]
    assert len(RowTable.concatenate([])) == 0
    assert RowTable.concatenate([rows.take([0]), rows.take([3])]).keys == [rows.keys[0], rows.keys[3]]
