"""The last feed-forward computes what is read, and what is read does not change."""

import numpy as np
import pytest
import torch
from torch import nn

from probekit.captures import AttentionMass, HiddenState, ImageSimilarity, Logits, TokenStatistics
from probekit.forward import trace
from probekit.forward.trace import Tracer
from probekit.forward.trim import feed_forward, only_at

CAPTURES = (
    HiddenState(layer="last"),
    HiddenState(layer="last", norm="pre"),
    Logits("factored"),
    AttentionMass(),
    TokenStatistics(),
)


def rows_of(module, work):
    """How many positions a module computes."""
    seen = []
    handle = module.register_forward_pre_hook(lambda _, given: seen.append(given[0][..., 0].numel()))
    try:
        work()
    finally:
        handle.remove()
    return sum(seen)


@pytest.mark.parametrize("sharing", [False, True])
def test_captures_are_those_of_a_whole_pass(vlm, prompter, texts, monkeypatch, sharing):
    texts = [*texts, texts[0].__class__("again", *[getattr(texts[0], f) for f in
             ("image", "image_key", "question")], texts[1].continuation[:9], ())]  # fmt: skip
    trimmed = Tracer(vlm, prompter, CAPTURES, sharing=sharing, keep_tokens=True).run(texts)
    monkeypatch.setattr(trace, "feed_forward", lambda layer: None)
    whole = Tracer(vlm, prompter, CAPTURES, sharing=sharing, keep_tokens=True).run(texts)
    for capture in CAPTURES:
        a, b = trimmed.arrays[capture].nan_to_num(), whole.arrays[capture].nan_to_num()
        np.testing.assert_allclose(a, b, atol=2e-6, err_msg=capture.key)
    for a, b in zip(trimmed.final, whole.final, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-6)


def test_only_positions_that_are_read_are_computed(vlm, prompter, texts):
    last = feed_forward(vlm.layers[-1])
    tracer = Tracer(vlm, prompter, (TokenStatistics(),), sharing=False, keep_tokens=True)
    # the last linear map of every family's feed-forward
    inner = [m for m in last.modules() if isinstance(m, nn.Linear)][-1]
    # queries m - 1 to m + T - 2 for the log-probabilities; targets' own states reach the caption's end
    captions = sum(len(text.continuation) for text in texts)
    computed = rows_of(inner, lambda: tracer.run(texts))
    assert captions <= computed <= captions + 2 * len(texts)
    image = Tracer(vlm, prompter, (ImageSimilarity(k=3),), sharing=False)
    assert rows_of(inner, lambda: image.run(texts)) > 2 * captions


def test_hooks_are_gone_afterwards_even_after_an_error(vlm):
    last = feed_forward(vlm.layers[-1])
    before = len(last._forward_hooks), len(last._forward_pre_hooks)
    with pytest.raises(RuntimeError), only_at(last, torch.tensor([0]), torch.tensor([0])):
        raise RuntimeError
    assert (len(last._forward_hooks), len(last._forward_pre_hooks)) == before


def test_a_module_that_gives_more_than_states_keeps_the_rest():
    class Routed(nn.Module):
        def forward(self, states):
            return states + 1, "router"

    module = Routed()
    states = torch.arange(12.0).reshape(2, 3, 2)
    with only_at(module, torch.tensor([0, 1]), torch.tensor([2, 0])):
        found, rest = module(states)
    expected = torch.zeros_like(states)
    expected[0, 2], expected[1, 0] = states[0, 2] + 1, states[1, 0] + 1
    assert torch.equal(found, expected)
    assert rest == "router"


def test_a_feed_forward_that_wants_more_is_left_alone():
    class Gated(nn.Module):
        def forward(self, states, gate):
            return states * gate

    layer = nn.Module()
    layer.mlp = Gated()
    assert feed_forward(layer) is None
    layer.mlp = nn.Linear(2, 2)
    assert feed_forward(layer) is layer.mlp
