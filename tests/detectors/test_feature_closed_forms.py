"""Features against attention maps worked out by hand and by plain loops (SPEC 0.6 and 11)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from probekit.captures import (
    GROUPS,
    AttentionGrid,
    AttentionMass,
    Capture,
    GroupCount,
    ImageSimilarity,
    TokenStatistics,
)
from probekit.detectors import (
    DETECTORS,
    GlobalLocalSimilarity,
    LookbackRatio,
    NegativeLogLikelihood,
    PreliminaryAttention,
    Svar,
    TokenPosition,
    VadeProxy,
)
from probekit.detectors.attention import scaled_layers
from probekit.store import RowTable, Shard

LAYERS, HEADS = 2, 3
SIZES = {"bos": 1, "context_before": 3, "image": 5, "context_after": 2, "header": 3}
PROMPT = sum(SIZES.values())


def key_groups(length: int, sizes: dict[str, int] = SIZES) -> np.ndarray:
    """Group index of every key position."""
    prompt = [GROUPS.index(name) for name, size in sizes.items() for _ in range(size)]
    return np.asarray(prompt + [GROUPS.index("caption")] * (length - len(prompt)))


def causal(kind: str, length: int) -> np.ndarray:
    """(layer, head, query, key)."""
    random = np.random.default_rng(3)
    scores = random.standard_normal((LAYERS, HEADS, length, length))
    if kind == "uniform":
        scores[:] = 0
    if kind == "diagonal":
        scores = np.where(np.eye(length, dtype=bool), 0.0, -np.inf)[None, None].repeat(LAYERS, 0)
        scores = scores.repeat(HEADS, 1)
    if kind == "one image token":
        scores[:] = -np.inf
        scores[..., SIZES["bos"] + SIZES["context_before"]] = 0
    return softmax(np.where(np.tri(length, dtype=bool), scores, -np.inf), axis=-1)


def rows_at(tokens: list[int]) -> RowTable:
    count = len(tokens)
    ones = np.ones(count, np.int64)
    names = np.asarray([f"e{at}" for at in range(count)], object)
    token = np.asarray(tokens)
    return RowTable(
        example_id=names, index=ones * 0, image_id=names, category=names, token=token, token_end=token,
        tokens=ones * 12, prompt_tokens=ones * PROMPT, image_tokens=ones * SIZES["image"],
        occurrences=ones, token_id=ones,
    )  # fmt: skip


def shard_of(maps: np.ndarray, tokens: list[int], sizes: dict[str, int] = SIZES, own: bool = False) -> Shard:
    """Captures summed from whole maps, key by key."""
    prompt = sum(sizes.values())
    groups = key_groups(maps.shape[-1], sizes)
    number = len(GROUPS) + own
    mass = np.full((len(tokens), 4, LAYERS, HEADS, number), np.nan)
    count = np.full((len(tokens), 4, number), -1)
    grid = np.zeros((len(tokens), LAYERS, HEADS, sizes["image"]))
    image = np.flatnonzero(groups == GROUPS.index("image"))
    for row, star in enumerate(tokens):
        window = [t for t in range(star - 3, star + 1) if t >= 0]
        for t in window:
            slot = 3 - (star - t)
            query = prompt + t - (0 if own else 1)
            mass[row, slot], count[row, slot] = 0, 0
            for key in range(query + 1):
                group = len(GROUPS) if own and key == query else groups[key]
                mass[row, slot, :, :, group] += maps[:, :, query, key]
                count[row, slot, group] += 1
            if not own:
                grid[row] += maps[:, :, query, image] / len(window)
    read_at = "self" if own else "query"
    arrays: dict[Capture, np.ndarray] = {
        AttentionMass(read_at=read_at): mass,
        GroupCount(read_at=read_at): count.astype(np.int32),
        AttentionGrid(): grid,
    }
    return Shard.in_memory(0, rows_at(tokens), arrays)


def test_masses_sum_to_one_and_counts_to_the_visible_keys() -> None:
    shard = shard_of(causal("random", 24), [0, 1, 2, 5])
    present = shard[GroupCount()][:, :, 0] >= 0
    assert np.allclose(shard[AttentionMass()].sum(-1)[present], 1)
    assert shard[GroupCount()][3, :, :].sum(-1).tolist() == [PROMPT + t for t in (2, 3, 4, 5)]


@pytest.mark.parametrize("star", [0, 1, 2, 5])
def test_uniform_attention(star: int) -> None:
    shard = shard_of(causal("uniform", 24), [star])
    visible = PROMPT + star
    assert np.allclose(LookbackRatio()(shard), 0.5)
    first, last = scaled_layers(5, 18, 32, LAYERS)
    assert Svar()(shard)[0, 0] == pytest.approx(-(last - first + 1) * SIZES["image"] / visible)
    assert PreliminaryAttention()(shard)[0, 0] == pytest.approx(star / visible)
    window = [t for t in range(star - 3, star + 1) if t >= 0]
    mean = np.mean([SIZES["image"] / (PROMPT + t) for t in window])
    assert VadeProxy()(shard)[0, 0] == pytest.approx(-mean)
    cells = DETECTORS["dhcp"].features(shard)
    assert np.allclose(cells, np.mean([1 / (PROMPT + t) for t in window]))


def test_all_attention_on_one_image_token() -> None:
    shard = shard_of(causal("one image token", 24), [4])
    assert np.allclose(LookbackRatio()(shard), 1)
    assert PreliminaryAttention()(shard)[0, 0] == 0
    assert Svar()(shard)[0, 0] == pytest.approx(-2)


def test_lookback_equals_plain_means_over_keys() -> None:
    maps = causal("random", 24)
    ratios = []
    for t in (3, 4, 5, 6):
        row = maps[:, :, PROMPT + t - 1, : PROMPT + t]
        boundary = PROMPT - SIZES["header"]
        context, new = row[..., :boundary].mean(-1), row[..., boundary:].mean(-1)
        ratios.append(context / (context + new))
    assert np.allclose(LookbackRatio()(shard_of(maps, [6]))[0], np.mean(ratios, 0).ravel(), atol=1e-6)


def test_published_unit_of_the_ratio() -> None:
    """Context mean .02 and new mean .06 give 0.25."""
    mass = np.full((1, 4, 1, 1, 6), np.nan)
    mass[0, 3, 0, 0] = [0.01, 0.03, 0, 0, 0.06, 0.06]
    count = np.full((1, 4, 6), -1, np.int32)
    count[0, 3] = [1, 1, 0, 0, 1, 1]
    shard = Shard.in_memory(0, rows_at([0]), {AttentionMass(): mass, GroupCount(): count})
    assert LookbackRatio()(shard)[0, 0] == pytest.approx(0.25)


def test_query_row_and_own_row() -> None:
    """Every row puts all mass on its own key: at the query that key is a caption token, from t = 1 on."""
    maps = causal("diagonal", 24)
    assert PreliminaryAttention()(shard_of(maps, [0, 1, 4]))[:, 0].tolist() == [0, 1, 1]
    own = PreliminaryAttention(row="self")(shard_of(maps, [0, 1, 4], own=True))
    assert own[:, 0].tolist() == [0, 0, 0]


@pytest.mark.parametrize(("star", "size"), [(0, 1), (1, 2), (2, 3), (5, 4)])
def test_window_is_clipped_at_the_start(star: int, size: int) -> None:
    shard = shard_of(causal("random", 24), [star])
    assert (shard[GroupCount()][0, :, 0] >= 0).sum() == size
    expected = np.mean(
        [
            LookbackRatio(window=1)(shard_of(causal("random", 24), [t]))
            for t in range(star - size + 1, star + 1)
        ],
        axis=0,
    )
    assert np.allclose(LookbackRatio()(shard), expected, atol=1e-6)


def test_the_header_is_new_and_moving_the_boundary_changes_the_ratio() -> None:
    maps = causal("random", 24)
    moved = {**SIZES, "context_after": SIZES["context_after"] + 1, "header": SIZES["header"] - 1}
    before, after = (LookbackRatio()(shard_of(maps, [5], sizes)) for sizes in (SIZES, moved))
    assert not np.allclose(before, after)


def test_no_new_key_gives_one_and_is_flagged() -> None:
    """TRAPS 15: without an assistant header the first token has nothing new before it."""
    bare = {**SIZES, "context_after": SIZES["context_after"] + SIZES["header"], "header": 0}
    shard = shard_of(causal("random", 24), [0, 1], bare)
    ratios = LookbackRatio()(shard)
    assert np.all(ratios[0] == 1)
    assert np.all(np.isfinite(ratios))
    (flagged,) = LookbackRatio().flags(shard).values()
    assert flagged.tolist() == [True, True]
    assert not next(iter(LookbackRatio().flags(shard_of(causal("random", 24), [0])).values())).any()


def test_sink_free_ratio_leaves_the_first_key_out() -> None:
    shard = shard_of(causal("uniform", 24), [4])
    assert np.allclose(LookbackRatio(sink=False)(shard), 0.5)
    sunk = shard_of(causal("random", 24), [4])
    assert not np.allclose(LookbackRatio(sink=False)(sunk), LookbackRatio()(sunk))


@pytest.mark.parametrize(
    ("depth", "expected"),
    [(24, (4, 14)), (28, (4, 16)), (32, (5, 18)), (36, (6, 20)), (40, (6, 23)), (48, (8, 27))],
)
def test_layers_scale_with_depth_and_halves_round_up(depth: int, expected: tuple[int, int]) -> None:
    assert scaled_layers(5, 18, 32, depth) == expected


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("layers", ["paper", "code"])
def test_glsim_of_equal_vectors_is_minus_one(weight: float, layers: str) -> None:
    shard = Shard.in_memory(0, rows_at([1]), {ImageSimilarity(): np.ones((1, 3), np.float32)})
    score = GlobalLocalSimilarity(weight=weight, global_layers=layers)(shard)  # type: ignore[arg-type]
    assert score[0, 0] == pytest.approx(-1)


def test_glsim_variants_differ_in_the_global_term_alone() -> None:
    terms = np.asarray([[0.9, 0.1, 0.5]], np.float32)
    shard = Shard.in_memory(0, rows_at([1]), {ImageSimilarity(): terms})
    paper = GlobalLocalSimilarity()(shard)[0, 0]
    code = GlobalLocalSimilarity(global_layers="code")(shard)[0, 0]
    assert paper == pytest.approx(-(0.6 * 0.9 + 0.4 * 0.5))
    assert code - paper == pytest.approx(0.6 * (0.9 - 0.1))
    local = [GlobalLocalSimilarity(weight=0.0, global_layers=g)(shard)[0, 0] for g in ("paper", "code")]
    assert local[0] == local[1]


@pytest.mark.parametrize("kind", ["uniform", "one hot"])
def test_nll_and_entropy_of_known_distributions(kind: str) -> None:
    vocabulary, token = 50, 7
    logits = np.zeros(vocabulary)
    if kind == "one hot":
        logits[token] = 1e4
    logp = log_softmax(logits)
    p = np.exp(logp)
    entropy = -np.sum(p * np.where(p > 0, logp, 0))
    statistics = np.asarray([[logp[token], entropy, logp.max(), 0, 0, logp[token], 0]], np.float32)
    shard = Shard.in_memory(0, rows_at([3]), {TokenStatistics(): statistics})
    expected = math.log(vocabulary) if kind == "uniform" else 0
    assert DETECTORS["nll"].features(shard)[0, 0] == pytest.approx(expected, abs=1e-5)
    assert DETECTORS["entropy"].features(shard)[0, 0] == pytest.approx(expected, abs=1e-5)


def test_nll_mean_divides_by_the_tokens_of_the_word() -> None:
    statistics = np.asarray([[-1.0, 0, 0, 0, 0, -6.0, 0]], np.float32)
    rows = rows_at([3])
    object.__setattr__(rows, "token_end", np.asarray([5]))
    shard = Shard.in_memory(0, rows, {TokenStatistics(): statistics})
    assert NegativeLogLikelihood(tokens="mean")(shard)[0, 0] == pytest.approx(2)


def test_position_is_absolute_and_relative() -> None:
    shard = Shard.in_memory(0, rows_at([0, 6]), {})
    assert TokenPosition()(shard)[:, 0].tolist() == [0, 6]
    assert TokenPosition(relative=True)(shard)[:, 0].tolist() == [0, 0.5]


def test_metatoken_columns() -> None:
    """Worked by hand from the list of SPEC 1.6."""
    mass = np.zeros((1, 4, LAYERS, HEADS, 6))
    mass[0, 3, -1, :, 2] = [0.5, 0.25, 0.1]
    count = np.full((1, 4, 6), 1, np.int32)
    count[0, :, 2] = 5
    statistics = np.log([[0.4, math.e**1.5, 0.5, 0.2, math.e**3, 0.3, 0.01]]).astype(np.float32)
    arrays: dict[Capture, np.ndarray] = {
        AttentionMass(): mass,
        GroupCount(): count,
        TokenStatistics(): statistics,
    }
    found = DETECTORS["metatoken"].features(Shard.in_memory(0, rows_at([6]), arrays))[0]
    expected = [
        0.5, 1, 0.1, 0.05, 0.02, math.log(0.3), math.log(0.01), math.log(0.01) / 7, 3, 1.5, 0.5, 0.7,
        math.log(0.5 / 0.4),
    ]  # fmt: skip
    assert len(found) == HEADS + 10
    assert np.allclose(found, expected, atol=1e-5)
