"""A picture that comes back in every batch: its beginning once, the numbers of the plain pass."""

import numpy as np
import pytest
import torch

from probekit.captures import AttentionMass, HiddenState, InternalConfidence, TokenStatistics
from probekit.forward import beginnings
from probekit.forward.beginnings import Beginning, Beginnings
from probekit.forward.plan import batches
from probekit.forward.trace import Tracer
from probekit.forward.work import Forced, Target
from probekit.rows import RowKey

CAPTURES = (
    HiddenState(layer="mid"),
    HiddenState(layer="last"),
    AttentionMass(),
    AttentionMass(read_at="self"),
    TokenStatistics(),
)


def black():
    from PIL import Image

    return Image.new("RGB", (60, 60))


def texts(start, *, key="black"):
    """Two questions about the black picture, an answer of some tokens and a longer one to each."""
    rng = np.random.default_rng(start)
    found = []
    for number in range(start, start + 2):
        for place, length in enumerate((4, 7)):
            ids = tuple(int(i) for i in rng.integers(40, 250, length))
            targets = tuple(
                Target(RowKey(f"{number}.{place}", n), t, t) for n, t in enumerate((0, length - 1))
            )
            question = f"Is thing {number} here?"
            found.append(Forced(f"{number}.{place}", black, key, question, ids, targets))
    return found


def assert_equal(a, b):
    for capture in a.arrays:
        x, y = a.arrays[capture].float(), b.arrays[capture].float()
        assert torch.equal(torch.isnan(x), torch.isnan(y)), capture.key
        np.testing.assert_allclose(x.nan_to_num(), y.nan_to_num(), atol=2e-5, err_msg=capture.key)
    for x, y in zip(a.tokens, b.tokens, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-4)


def test_every_batch_equals_the_plain_pass_and_the_beginning_is_computed_once(vlm, prompter):
    plain = Tracer(vlm, prompter, CAPTURES, sharing=False, keep_tokens=True)
    kept = Tracer(vlm, prompter, CAPTURES, sharing=True, keep_tokens=True, constant={"black"})
    shared = Tracer(vlm, prompter, CAPTURES, sharing=True, keep_tokens=True)
    groups = [texts(start) for start in (0, 2, 4)]
    for group in groups:
        assert_equal(plain.run(group), kept.run(group))
        shared.run(group)
    prompt = prompter.encode(["Is thing 0 here?"], [[black()]]).prompts[0]
    beginning = int(np.flatnonzero(prompt.groups == 2)[-1]) + 1
    # Two batches of three were spared the beginning; nodes that two limbs need are computed in both.
    assert kept.distinct == shared.distinct - 2 * beginning
    assert kept.computed == kept.distinct


def test_one_text_and_the_order_of_batches_give_the_same_bits(vlm, prompter):
    groups = [texts(0), texts(2)[:1]]
    one, other = (Tracer(vlm, prompter, CAPTURES, sharing=True, constant={"black"}) for _ in range(2))
    first = [one.run(group) for group in groups]
    second = [other.run(group) for group in reversed(groups)][::-1]
    for a, b in zip(first, second, strict=True):
        for capture in CAPTURES:
            assert torch.equal(a.arrays[capture].nan_to_num(), b.arrays[capture].nan_to_num())


def test_the_vision_tower_sees_a_constant_picture_once(vlm, prompter, monkeypatch):
    from probekit.families import vision

    seen = []
    see = vision.see
    monkeypatch.setattr(vision, "see", lambda *given: seen.append(given[2]) or see(*given))
    tracer = Tracer(vlm, prompter, CAPTURES, sharing=True, constant={"black"})
    for start in (0, 2, 4):
        tracer.run(texts(start))
    tracer.run(texts(6, key="another"))
    assert seen == [1, 1]


def test_evidence_of_image_tokens_is_not_taken_from_a_kept_beginning(vlm, prompter):
    captures = (InternalConfidence(),)
    plain = Tracer(vlm, prompter, captures, sharing=False)
    kept = Tracer(vlm, prompter, captures, sharing=True, constant={"black"})
    for start in (0, 2):
        a, b = plain.run(texts(start)), kept.run(texts(start))
        np.testing.assert_allclose(a.arrays[captures[0]], b.arrays[captures[0]], atol=2e-5)


def test_a_fork_leaves_the_beginning_as_it_was():
    from transformers import DynamicCache

    cache = DynamicCache()
    cache.update(torch.ones(1, 2, 3, 4), torch.ones(1, 2, 3, 4), 0)
    beginning = Beginning(3, cache)
    fork = beginning.fork()
    fork.update(torch.zeros(1, 2, 5, 4), torch.zeros(1, 2, 5, 4), 0)
    assert fork.get_seq_length() == 8
    assert cache.get_seq_length() == 3
    assert cache.layers[0].keys.shape[2] == 3
    again = beginning.fork()
    assert again.layers[0].keys.data_ptr() == cache.layers[0].keys.data_ptr()


def test_the_least_recently_used_beginning_goes():
    made = []
    held = Beginnings(2)

    def get(name):
        return held.get((name, b""), lambda: made.append(name) or Beginning(1, name))

    for name in "abacab":
        assert get(name).cache == name
    assert made == ["a", "b", "c", "b"]
    assert beginnings.HELD >= 2


@pytest.mark.parametrize("sharing", [True, False])
def test_a_constant_picture_has_a_batch_of_its_own(sharing):
    images = ["x", "black", "y", "black", "x"]
    found = batches(images, [10] * 5, [2] * 5, 1000, sharing=sharing, alone={"black"})
    assert sorted(index for batch in found for index in batch) == list(range(5))
    assert ([1, 3] in found) == sharing
    if sharing:
        assert len(found) == 2
