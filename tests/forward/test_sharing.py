"""Prefix trees: every token once, and the numbers of the plain pass."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    GroupCount,
    HiddenState,
    ImageSimilarity,
    InternalConfidence,
    TokenStatistics,
)
from probekit.forward import trace as engine
from probekit.forward.plan import batches, forest, grow, limbs, visible, visible_beyond
from probekit.forward.trace import Tracer
from probekit.forward.work import Forced, Target
from probekit.rows import RowKey

CAPTURES = (
    HiddenState(layer="mid"),
    HiddenState(layer="last"),
    AttentionMass(),
    AttentionMass(read_at="self"),
    GroupCount(),
    AttentionGrid(),
    TokenStatistics(),
)
IMAGE = (InternalConfidence(), ImageSimilarity(k=3))


def family_tree(picture):
    """Two pictures; three questions about the first, several continuations each, one a prefix of another."""
    rng = np.random.default_rng(5)
    words = [tuple(int(i) for i in rng.integers(40, 250, n)) for n in (9, 6, 6, 12)]
    words.append(words[0][:5])
    texts = []
    for number, (key, question) in enumerate(
        [("a", "Is it a cat?"), ("a", "Is it a car?"), ("b", "Is it a cat?"), ("a", "Now what?")]
    ):
        for place, ids in enumerate(words):
            name = f"{number}.{place}"
            targets = tuple(Target(RowKey(name, n), t, t) for n, t in enumerate((0, 3, len(ids) - 1)))
            texts.append(Forced(name, picture(7 if key == "a" else 8), key, question, ids, targets))
    return texts


@pytest.fixture(scope="module")
def tree_texts():
    from PIL import Image

    def picture(seed):
        pixels = np.random.default_rng(seed).integers(0, 255, (56, 84, 3), dtype=np.uint8)
        return lambda: Image.fromarray(pixels)

    return family_tree(picture)


def assert_equal(a, b, captures):
    for capture in captures:
        x, y = a.arrays[capture].float(), b.arrays[capture].float()
        assert torch.equal(torch.isnan(x), torch.isnan(y)), capture.key
        np.testing.assert_allclose(x.nan_to_num(), y.nan_to_num(), atol=2e-5, err_msg=capture.key)


def test_a_packed_tree_gives_the_plain_numbers(vlm, prompter, tree_texts):
    captures = CAPTURES + IMAGE
    plain = Tracer(vlm, prompter, captures, sharing=False, keep_tokens=True)
    shared = Tracer(vlm, prompter, captures, sharing=True, keep_tokens=True)
    a, b = plain.run(tree_texts), shared.run(tree_texts)
    assert_equal(a, b, captures)
    for x, y in zip(a.tokens, b.tokens, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-4)
    for x, y in zip(a.final, b.final, strict=True):
        np.testing.assert_allclose(x, y, atol=2e-5)
    assert shared.computed == shared.distinct < 0.5 * plain.computed
    assert a.agreement == b.agreement


def test_limbs_over_a_cached_trunk_give_the_plain_numbers(vlm, prompter, tree_texts, monkeypatch):
    monkeypatch.setattr(engine, "ROW_TOKENS", 30)
    monkeypatch.setattr(engine, "LIMB_TOKENS", 40)
    texts = [text for text in tree_texts if text.image_key == "a"]
    texts = texts[::2] + texts[1::2]
    plain = Tracer(vlm, prompter, CAPTURES, sharing=False, keep_tokens=True)
    shared = Tracer(vlm, prompter, CAPTURES, sharing=True, keep_tokens=True)
    a, b = plain.run(texts), shared.run(texts)
    assert_equal(a, b, CAPTURES)
    for x, y in zip(a.tokens, b.tokens, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-4)
    assert shared.computed < 0.6 * plain.computed


def test_a_wrong_mask_would_be_seen(vlm, prompter, tree_texts, monkeypatch):
    from probekit.forward import inputs

    everything_before = lambda tree, nodes=None: np.tril(np.ones((len(tree), len(tree)), dtype=bool))  # noqa: E731
    monkeypatch.setattr(inputs, "visible", everything_before)
    plain = Tracer(vlm, prompter, CAPTURES, sharing=False).run(tree_texts)
    shared = Tracer(vlm, prompter, CAPTURES, sharing=True).run(tree_texts)
    with pytest.raises(AssertionError):
        assert_equal(plain, shared, CAPTURES)


def test_spliced_prompts_equal_the_processors(vlm, prompter, tree_texts):
    shared = prompter.encode_shared(
        [t.question for t in tree_texts],
        [t.image_key for t in tree_texts],
        [t.image for t in tree_texts],
        share=True,
    )
    for text, prompt in zip(tree_texts, shared.prompts, strict=True):
        alone = prompter.encode([text.question], [[text.image()]]).prompts[0]
        assert prompt.ids == alone.ids
        assert (prompt.groups == alone.groups).all()
        assert dict(prompt.token_types) == dict(alone.token_types)


sequences = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=8), min_size=1, max_size=6)


@given(sequences)
@settings(max_examples=200, deadline=None)
def test_a_tree_holds_every_sequence_and_each_prefix_once(lists):
    ids = [np.array(values) for values in lists]
    groups = [np.zeros(len(values), dtype=np.int64) for values in lists]
    tree = grow(range(len(ids)), ids, groups)
    prefixes = {tuple(values[: n + 1]) for values in lists for n in range(len(values))}
    assert len(tree) == len(prefixes)
    sees = visible(tree)
    for values, path in zip(ids, tree.paths, strict=True):
        assert (tree.ids[path] == values).all()
        assert (tree.depths[path] == np.arange(len(values))).all()
        for place, node in enumerate(path):
            assert set(np.flatnonzero(sees[node])) == set(path[: place + 1].tolist())
    shortest = min(map(len, lists))
    common = next((n for n in range(shortest) if len({values[n] for values in lists}) > 1), shortest)
    assert tree.trunk == common


@given(sequences, st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_limbs_are_closed_under_parents_and_hold_every_member_once(lists, budget):
    ids = [np.array(values) for values in lists]
    tree = grow(range(len(ids)), ids, [np.zeros(len(i), dtype=np.int64) for i in ids])
    trunk = tree.trunk
    pieces = limbs(tree, trunk, budget)
    assert sorted(m for members, _ in pieces for m in members) == list(range(len(ids)))
    for members, nodes in pieces:
        held = set(range(trunk)) | set(nodes.tolist())
        assert all(tree.parents[node] in held or tree.parents[node] < 0 for node in nodes)
        assert all(set(tree.paths[m].tolist()) <= held for m in members)


@given(sequences, st.integers(1, 6), st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_a_limb_sees_what_its_nodes_see_in_the_whole_tree(lists, budget, less):
    ids = [np.array([9, *values]) for values in lists]
    tree = grow(range(len(ids)), ids, [np.zeros(len(i), dtype=np.int64) for i in ids])
    trunk = max(1, tree.trunk - less)
    for _, nodes in limbs(tree, trunk, budget):
        keys = np.concatenate([np.arange(trunk), nodes])
        assert (visible_beyond(tree, trunk, nodes) == visible(tree)[np.ix_(nodes, keys)]).all()


def test_equal_tokens_of_different_groups_are_not_shared():
    ids = [np.array([1, 2, 3]), np.array([1, 2, 3])]
    groups = [np.array([1, 1, 5]), np.array([1, 5, 5])]
    assert len(grow((0, 1), ids, groups)) == 5


def test_a_forest_keeps_pictures_and_beginnings_apart():
    ids = [np.array([1, 9, 9, 4]), np.array([1, 9, 9, 5]), np.array([2, 9, 9, 4]), np.array([1, 9, 9, 4])]
    groups = [np.array([1, 2, 2, 3])] * 4
    trees = forest(ids, groups, ["x", "x", "x", "y"], [3, 3, 3, 3])
    assert [tree.members for tree in trees] == [(0, 1), (2,), (3,)]
    assert [len(tree) for tree in trees] == [5, 4, 4]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=12),
    st.integers(5, 40),
    st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_batches_hold_every_text_once_and_keep_pictures_together(items, budget, sharing):
    images, prompts, continuations = zip(*items, strict=True)
    found = batches(images, prompts, continuations, budget, sharing=sharing)
    assert sorted(index for batch in found for index in batch) == list(range(len(items)))
    if sharing:
        for image in set(images):
            assert sum(any(images[i] == image for i in batch) for batch in found) == 1
