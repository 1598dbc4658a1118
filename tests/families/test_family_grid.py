"""Every tiny member against every contract, and mutations that the contracts must notice."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from probekit.captures import (
    AttentionGrid,
    AttentionMass,
    HiddenState,
    ImageSimilarity,
    InternalConfidence,
)
from probekit.errors import FamilyError
from probekit.families import EncodedPrompt, Prompter, Vlm, load
from probekit.families.prompting import AFTER, BEFORE, IMAGE
from probekit.families.tiny import TINY, make
from probekit.forward import beginnings, decode
from probekit.forward import rows as attention
from probekit.forward.check import CONTRACTS, Bench
from probekit.forward.check.run import run_contract
from probekit.forward.generate import left_padded
from probekit.forward.trace import Tracer

SKIPPED = {
    "image tokens": {"mllama"},
    "image span": {"mllama"},
    "attention rows": {"mllama"},
    "attention masses": {"mllama", "qwen3_5", "qwen3_5_moe"},
    "text only": {"instructblip", "paligemma", "paligemma2"},
    "prefix sharing": {"instructblip", "mllama", "paligemma2"},
    "TransformerLens": {
        "aya_vision",
        "deepseek_vl",
        "glm4v_moe",
        "instructblip",
        "internvl",
        "mllama",
        "molmo2",
        "paligemma",
        "paligemma2",
        "pixtral",
        "qwen2_vl",
    },
}
"""What a family does not have; anything else that is skipped is an error."""

SKIPPED["shared answers"] = SKIPPED["prefix sharing"] | {"qwen3_5", "qwen3_5_moe"}

LIMITS = {"attention rows": 1e-6, "hidden states": 1e-5, "logits": 1e-5}
SHARP = {"gemma4", "gemma4_shared_keys"}
"""Scores without the root of the head's width: sdpa itself moves eager's rows by more than 1e-6."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    benches = {}

    def of(family):
        if family not in benches:
            folder = make(family, tmp_path_factory.mktemp(family))
            benches[family] = Bench(load(str(folder), dtype="float32", device="cpu"))
        return benches[family]

    return of


def fresh(bench, **changes):
    """The same model under a changed family, nothing computed yet."""
    vlm = replace(bench.vlm, family=replace(bench.vlm.family, **changes))
    return Bench(vlm)


@pytest.mark.parametrize(("family", "contract"), [(f, c) for f in TINY for c in CONTRACTS])
def test_contract(bench, family, contract):
    outcome = run_contract(bench(family), contract)
    if family in SKIPPED.get(contract, ()):
        assert outcome.status == "skipped", outcome
        return
    assert outcome.status == "passed", outcome
    if contract in LIMITS:
        assert outcome.difference <= LIMITS[contract] * (3 if family in SHARP else 1), outcome


def test_at_least_fifteen_families_have_rows_states_and_logits():
    assert len([family for family in TINY if family not in SKIPPED["attention masses"]]) >= 15


@pytest.mark.parametrize("shift", [1, -1])
@pytest.mark.parametrize("family", ["llava", "qwen2_5_vl", "internvl", "gemma3"])
def test_an_image_span_off_by_one_is_noticed(bench, family, shift, monkeypatch):
    groups_of = Prompter._groups

    def moved(self, tokens, header):
        groups = groups_of(self, tokens, header)
        image = np.flatnonzero(groups == IMAGE)
        groups[image[0 if shift > 0 else -1]] = BEFORE if shift > 0 else AFTER
        groups[image[-1] + 1 if shift > 0 else image[0] - 1] = IMAGE
        return groups

    monkeypatch.setattr(Prompter, "_groups", moved)
    broken = fresh(bench(family))
    assert run_contract(broken, "image span").status == "failed"


@pytest.mark.parametrize("family", ["llava", "idefics3"])
def test_an_image_span_short_by_one_is_noticed(bench, family, monkeypatch):
    groups_of = Prompter._groups

    def short(self, tokens, header):
        groups = groups_of(self, tokens, header)
        groups[np.flatnonzero(groups == IMAGE)[-1]] = AFTER
        return groups

    monkeypatch.setattr(Prompter, "_groups", short)
    broken = fresh(bench(family))
    assert run_contract(broken, "image tokens").status == "failed"
    assert run_contract(broken, "image span").status == "failed"


def test_a_kernel_that_forgets_the_window_is_noticed(bench, monkeypatch):
    def causal_only(scores, mask, positions, queries, causal):
        return masked(scores, None, positions, queries, causal)

    masked = attention._masked
    monkeypatch.setattr(attention, "_masked", causal_only)
    assert run_contract(fresh(bench("gemma3")), "attention rows").status == "failed"


def test_a_logit_scale_that_the_model_does_not_apply_is_noticed(bench):
    assert run_contract(fresh(bench("aya_vision"), scaled_logits=True), "logits").status == "failed"


@pytest.mark.parametrize("family", TINY)
def test_what_a_member_says_depends_on_what_its_picture_shows(bench, family):
    found = bench(family)
    rng = np.random.default_rng(5)
    pictures = [Image.fromarray(rng.integers(0, 255, (60, 60, 3), dtype=np.uint8)) for _ in range(2)]
    batch = found.prompter.encode(["What is this?"] * 2, [[picture] for picture in pictures])
    with torch.no_grad():
        one, other = found.vlm.model(**left_padded(found.vlm, batch), use_cache=False).logits[:, -1]
    assert (one - other).abs().max() > 1e-4 * one.abs().max()


def test_texts_packed_into_a_row_of_a_recurrent_decoder_are_noticed(bench, monkeypatch):
    monkeypatch.setattr(Vlm, "packs_texts", True)
    assert run_contract(fresh(bench("qwen3_5")), "prefix sharing").status == "failed"


def test_a_recurrent_state_that_one_text_leaves_to_another_is_noticed(bench, monkeypatch):
    monkeypatch.setattr(beginnings, "_apart", copy.copy)
    assert run_contract(fresh(bench("qwen3_5")), "prefix sharing").status == "failed"


def test_a_recurrent_decoder_computes_a_constant_picture_once(bench):
    found = bench("qwen3_5")
    ids = found.texts[1].continuation
    groups = [
        [found.text(4 * start + n, f"Is thing {start + n // 2} here?", ids[n:9], picture=1) for n in range(4)]
        for start in range(3)
    ]
    plain = Tracer(found.vlm, found.prompter, found.captures, sharing=False)
    kept = Tracer(found.vlm, found.prompter, found.captures, sharing=True, constant={groups[0][0].image_key})
    for group in groups:
        rows, values = found.traced_difference([kept.run(group)], [plain.run(group)])
        assert max(rows, values) < 1e-5
    prompt = found.prompter.encode(["Is thing 0 here?"], [[groups[0][0].image()]]).prompts[0]
    assert plain.computed - kept.computed == 11 * prompt.whole


def test_captions_that_see_ahead_are_noticed(bench):
    assert run_contract(fresh(bench("paligemma"), caption_type=0), "replay").status == "failed"


def test_an_answer_that_ignores_the_picture_is_noticed(bench, monkeypatch):
    from probekit.forward.check import behaviour

    register = behaviour._register
    monkeypatch.setattr(behaviour, "_blind", lambda *args, **kwargs: keeps(*args, **kwargs))
    keeps = attention.attention_with_rows
    assert run_contract(fresh(bench("llava")), "intervention").status == "failed"
    monkeypatch.undo()
    register()


@pytest.mark.parametrize("family", ["gemma3", "gemma4", "aya_vision"])
def test_shared_texts_that_see_beyond_a_window_are_noticed(bench, family, monkeypatch):
    kinds = dict.fromkeys(bench(family).vlm.windows)
    monkeypatch.setattr(Vlm, "windows", property(lambda self: kinds))
    assert run_contract(fresh(bench(family)), "prefix sharing").status == "failed"


@pytest.mark.parametrize("family", ["gemma3", "gemma4", "molmo2", "paligemma"])
def test_shared_tokens_that_do_not_see_ahead_are_noticed(bench, family):
    assert run_contract(fresh(bench(family), together="nothing"), "prefix sharing").status == "failed"


def test_blocks_in_layers_that_have_none_are_noticed(bench):
    assert run_contract(fresh(bench("gemma4"), together_in=()), "prefix sharing").status == "failed"
    assert bench("gemma4").vlm.windows == {"sliding_attention": 12, "full_attention": None}
    shared = fresh(bench("gemma4_shared_keys"), together_if=None)
    assert run_contract(shared, "prefix sharing").status == "failed"


def test_questions_that_see_ahead_share_nothing_with_others(bench, monkeypatch):
    """PaliGemma's picture looks at the question, so only texts that follow the same prompt share it."""
    found = bench("paligemma")
    ids = found.texts[1].continuation
    asked = [found.texts[1].question, found.texts[1].question, found.texts[2].question]
    texts = [found.text(n, question, ids[: 9 - n], picture=1) for n, question in enumerate(asked)]
    tracer = Tracer(found.vlm, found.prompter, found.captures, sharing=True)
    tracer.run(texts)
    prompts = [found.prompter.encode([question], [[texts[0].image()]]).prompts[0] for question in asked]
    assert all(prompt.whole == len(prompt) for prompt in prompts)
    assert tracer.computed == len(prompts[0]) + 9 + len(prompts[2]) + 7
    assert [tracer.together(text) == tracer.together(texts[0]) for text in texts] == [True, True, False]
    monkeypatch.setattr(
        EncodedPrompt, "whole", property(lambda self: int(np.flatnonzero(self.groups == IMAGE)[-1]) + 1)
    )
    assert run_contract(fresh(found), "prefix sharing").status == "failed"


def test_a_window_in_every_layer_is_one_mask(tmp_path_factory):
    folder = make("llava_next", tmp_path_factory.mktemp("slides"))
    vlm = load(str(folder), dtype="float32", device="cpu")
    vlm.config.get_text_config().sliding_window = 12
    assert vlm.windows == {"sliding_attention": 12}
    assert vlm.shares_prefixes
    found = Bench(vlm)
    for contract in ("hidden states", "prefix sharing", "shared answers"):
        assert run_contract(found, contract).status == "passed"


def test_windows_and_other_layers_share_only_where_each_kind_takes_its_mask(bench):
    assert not fresh(bench("gemma3"), layer_masks=False).vlm.shares_prefixes
    assert not fresh(bench("paligemma2"), shares_prefixes=True).vlm.shares_prefixes
    assert not fresh(bench("qwen3_5"), layer_masks=True).vlm.packs_texts


@pytest.mark.parametrize(("family", "kind"), [("qwen3_5", "linear"), ("mllama", "cross")])
@pytest.mark.parametrize("capture", [AttentionMass(), AttentionGrid()], ids=lambda c: c.key)
def test_attention_captures_are_refused_where_layers_do_not_attend(bench, family, kind, capture):
    found = bench(family)
    with pytest.raises(FamilyError, match=kind):
        Tracer(found.vlm, found.prompter, [HiddenState(), capture])


def test_captures_of_image_positions_are_refused_where_there_are_none(bench):
    found = bench("mllama")
    for capture in (InternalConfidence(), ImageSimilarity()):
        with pytest.raises(FamilyError, match="cross-attention"):
            Tracer(found.vlm, found.prompter, [capture])


GRIDS = {
    "llava": (4, 4),
    "pixtral": (4, 8),
    "llava_next": (4, 4),
    "llava_onevision": (4, 4),
    "qwen2_vl": (2, 4),
    "qwen2_5_vl": (2, 4),
    "qwen3_vl": (2, 4),
    "qwen3_5": (2, 4),
    "glm4v": (2, 4),
    "internvl": (2, 2),
    "gemma3": (2, 2),
    "mistral3": (2, 4),
    "idefics3": (2, 2),
    "paligemma": (4, 4),
    "deepseek_vl": (4, 4),
    "molmo2": (2, 2),
    "aya_vision": (2, 2),
}


@pytest.mark.parametrize("family", GRIDS)
def test_a_picture_twice_as_wide_has_this_grid(bench, family):
    """Square towers give squares, tiles their thumbnail, towers of any shape rows and columns."""
    found = bench(family)
    eager = found.eager[1]
    (grid,) = eager.prompt.grids
    assert grid.cells.shape == (1, *GRIDS[family])
    assert len(set(grid.cells.flat)) == grid.cells.size <= eager.prompt.image_tokens
    assert grid.cells.max() < eager.prompt.image_tokens


def test_the_thumbnail_is_the_whole_picture(bench):
    """InternVL's last tile and LLaVA-NeXT's first are the picture at the tower's size."""
    from probekit.families.vision import image_features
    from probekit.forward.check.bench import picture

    for family in ("internvl", "llava_next"):
        found = bench(family)
        wide, edge = picture(1, 168, 336), 56
        small = picture(1, 168, 336).resize((edge, edge), 3)
        pieces = []
        for image in (wide, small):
            batch = found.prompter.encode(["What is this?"], [[image]])
            with torch.no_grad():
                pooled = image_features(found.vlm, batch.vision).pooler_output
            flat = torch.cat([p.reshape(-1, p.shape[-1]) for p in pooled])
            pieces.append(flat[batch.prompts[0].grids[0].cells.reshape(-1)])
        similar = torch.nn.functional.cosine_similarity(pieces[0], pieces[1], dim=-1)
        assert similar.mean() > 0.9, family


def test_answers_that_see_their_siblings_are_noticed(bench, monkeypatch):
    step = decode._Answers.step

    def crowded(self, words):
        self._sees = self._sees.any(1, keepdim=True).expand_as(self._sees)
        return step(self, words)

    monkeypatch.setattr(decode._Answers, "step", crowded)
    assert run_contract(bench("llava"), "shared answers").status == "failed"
