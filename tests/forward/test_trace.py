"""Captures of a padded, traced batch against Hugging Face's eager outputs, one text at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    GroupCount,
    HiddenState,
    ImageSimilarity,
    InternalConfidence,
    Logits,
    TokenStatistics,
)
from probekit.errors import InputError
from probekit.families.prompting import HEADER
from probekit.forward.trace import Tracer

STATES = (
    HiddenState(layer="mid"),
    HiddenState(layer="mid", read_at="query"),
    HiddenState(layer="last"),
    HiddenState(layer="last", norm="pre"),
    HiddenState(layer=0, window=1),
    HiddenState(layer="penultimate", window=1, read_at="query"),
    HiddenState(layer="last", norm="pre", read_at="prompt_last", window=1),
)
ALL = (
    *STATES,
    AttentionMass(),
    AttentionMass(read_at="self"),
    GroupCount(),
    GroupCount(read_at="self"),
    AttentionGrid(),
    TokenStatistics(),
    InternalConfidence(),
    InternalConfidence(topk=50, ids="all"),
    ImageSimilarity(k=3),
    Logits(),
    Logits(form="full"),
)


@pytest.fixture(scope="module")
def traced(vlm, prompter, texts):
    return Tracer(vlm, prompter, ALL).run(texts)


@pytest.fixture(scope="module")
def rows(texts, eager):
    """``(target, eager outputs of its text)`` in row order."""
    found = []
    for text in texts:
        outputs = eager(text)
        found += [(target, text, outputs) for target in text.targets]
    return found


def close(actual, expected, atol=2e-5):
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), atol=atol, rtol=1e-4)


@pytest.mark.parametrize("capture", STATES, ids=lambda c: c.key)
def test_hidden_states(vlm, traced, rows, capture):
    for row, (target, _, out) in enumerate(rows):
        index = capture.index(vlm.depth)
        source = out.raw_last if index == vlm.depth and capture.norm == "pre" else out.hidden[index]
        if capture.read_at == "prompt_last":
            places = [out.prompt - 1]
        else:
            shift = -1 if capture.read_at == "query" else 0
            tokens = range(max(0, target.token - capture.window + 1), target.token + 1)
            places = [out.prompt + t + shift for t in tokens]
        close(traced.arrays[capture][row], source[places].mean(0))


def groups_of(vlm, prompter, text):
    images = [[] if text.image is None else [text.image()]]
    return prompter.encode([text.question], images).prompts[0].groups


@pytest.mark.parametrize("capture", [AttentionMass(), AttentionMass(read_at="self")], ids=lambda c: c.read_at)
def test_attention_masses_and_counts(vlm, prompter, traced, rows, capture):
    own = capture.read_at == "self"
    mass, count = traced.arrays[capture], traced.arrays[GroupCount(read_at=capture.read_at)]
    for row, (target, text, out) in enumerate(rows):
        groups = np.concatenate([groups_of(vlm, prompter, text), np.full(len(text.continuation), 5)])
        for slot in range(4):
            token = target.token - 3 + slot
            if token < 0:
                assert torch.isnan(mass[row, slot]).all()
                assert (count[row, slot] == -1).all()
                continue
            place = out.prompt + token - (0 if own else 1)
            attention = out.attention[:, :, place, : place + 1].clone()
            seen = groups[: place + 1].copy()
            if own:
                close(mass[row, slot, ..., 6], attention[..., place], atol=1e-6)
                attention, seen = attention[..., :place], seen[:place]
                assert count[row, slot, 6] == 1
            for group in range(6):
                close(mass[row, slot, ..., group], attention[..., seen == group].sum(-1), atol=1e-6)
                assert count[row, slot, group] == (seen == group).sum()
            close(mass[row, slot].sum(-1), np.ones(mass.shape[2:4]), atol=1e-5)
            assert count[row, slot].sum() == place + 1


def test_attention_grid_is_adaptive_average_pooling(vlm, prompter, traced, rows):
    for row, (target, text, out) in enumerate(rows):
        grid = prompter.encode([text.question], [[text.image()]]).prompts[0].grids[0]
        tokens = range(max(0, target.token - 3), target.token + 1)
        queries = [out.prompt + t - 1 for t in tokens]
        image = out.attention[:, :, queries][..., out.image].mean(2)
        pictured = image[..., torch.from_numpy(grid.cells[0].astype(np.int64))]
        pooled = torch.nn.functional.adaptive_avg_pool2d(pictured, (6, 6)).flatten(-2)
        close(traced.arrays[AttentionGrid()][row], pooled, atol=1e-6)


def test_token_statistics(traced, rows):
    for row, (target, text, out) in enumerate(rows):
        first = out.prompt - 1
        logp = out.logits[first : first + len(text.continuation)].double().log_softmax(-1)
        chosen = logp[torch.arange(len(text.continuation)), torch.tensor(text.continuation)]
        here = logp[target.token]
        top = here.sort(descending=True).values
        expected = [
            chosen[target.token],
            -(here.exp() * here).sum(),
            top[0],
            top[1],
            here.var(correction=0),
            chosen[target.token : target.token_end + 1].sum(),
            chosen[: target.token_end + 1].sum(),
        ]
        close(traced.arrays[TokenStatistics()][row], torch.stack(expected), atol=1e-4)


@pytest.mark.parametrize("form", ["factored", "full"])
def test_logits(vlm, traced, rows, form):
    for row, (target, _, out) in enumerate(rows):
        stored = traced.arrays[Logits(form=form)][row]
        logits = vlm.logits(stored) if form == "factored" else stored
        close(logits.detach(), out.logits[out.prompt + target.token - 1], atol=1e-4)


@pytest.mark.parametrize("capture", [InternalConfidence(), InternalConfidence(topk=50, ids="all")])
def test_internal_confidence(vlm, traced, rows, capture):
    weight = vlm.model.lm_head.weight.detach()
    for row, (target, text, out) in enumerate(rows):
        ids = list(text.continuation[target.token : target.token_end + 1])
        ids = ids[:1] if capture.ids == "first" else ids
        for layer, state in enumerate(out.hidden):
            logits = state[out.image] @ weight.T
            if capture.topk is not None:
                kth = logits.topk(capture.topk, -1).values[:, -1:]
                logits = logits.masked_fill(logits < kth, float("-inf"))
            expected = logits.softmax(-1)[:, ids].max()
            close(traced.arrays[capture][row, layer], expected)


def test_image_similarity(vlm, traced, rows):
    cosine = torch.nn.functional.cosine_similarity
    weight = vlm.model.lm_head.weight.detach()
    for row, (target, text, out) in enumerate(rows):
        before, last = out.hidden[-2], out.hidden[-1]
        query, prompt = out.prompt + target.token - 1, out.prompt - 1
        probability = (last[out.image] @ weight.T).softmax(-1)[:, text.continuation[target.token]]
        best = [out.image[i] for i in probability.topk(3).indices]
        local = torch.stack([cosine(last[i], before[query], 0) for i in best]).mean()
        expected = [cosine(last[prompt], before[query], 0), cosine(before[prompt], last[query], 0), local]
        close(traced.arrays[ImageSimilarity(k=3)][row], torch.stack(expected))


def test_replay_agreement_counts_argmax_matches(traced, texts, eager):
    for (equal, tokens), text in zip(traced.agreement, texts, strict=True):
        out = eager(text)
        first = out.prompt - 1
        best = out.logits[first : first + len(text.continuation)].argmax(-1)
        assert tokens == len(text.continuation)
        assert equal == (best == torch.tensor(text.continuation)).sum()


def test_two_passes_are_equal_bit_for_bit(vlm, prompter, texts, traced):
    again = Tracer(vlm, prompter, ALL).run(texts)
    for capture in ALL:
        assert torch.equal(again.arrays[capture].nan_to_num(), traced.arrays[capture].nan_to_num()), (
            capture.key
        )


def test_rows_are_not_invented(vlm, traced):
    mass = traced.arrays[AttentionMass()]
    assert mass.shape[2:4] == (vlm.depth, vlm.heads)
    assert traced.arrays[STATES[0]].shape[1] == vlm.width
    assert not ((mass.nan_to_num() > 0.999).any(-1)).all()
    for layer in range(vlm.depth):
        assert mass[:, -1, layer].abs().sum() > 0


def test_prompt_facts(vlm, traced, rows):
    for row, (_, _, out) in enumerate(rows):
        assert traced.prompt_tokens[row] == out.prompt
        assert traced.image_tokens[row] == len(out.image)


def test_header_is_the_assistants_turn(vlm, prompter, texts):
    text = texts[0]
    prompt = prompter.encode([text.question], [[text.image()]]).prompts[0]
    header = vlm.tokenizer.decode([i for i, g in zip(prompt.ids, prompt.groups, strict=True) if g == HEADER])
    assert header.strip() in ("ASSISTANT:", "<|im_start|>assistant", "<start_of_turn>model")


@pytest.mark.parametrize("sharing", [True, False])
def test_a_text_that_holds_a_placeholder_of_pictures_is_named(vlm, prompter, texts, sharing):
    wrong = replace(texts[1], continuation=(*texts[1].continuation, vlm.image_token_id))
    with pytest.raises(InputError, match="placeholder") as raised:
        Tracer(vlm, prompter, STATES, sharing=sharing).run([texts[0], wrong])
    assert "e2" in str(raised.value)
