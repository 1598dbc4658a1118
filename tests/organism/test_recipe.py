"""The recipe on a tiny setting: a run that was stopped ends with the weights of one that was not."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import LlavaForConditionalGeneration, LlavaProcessor, PreTrainedTokenizerFast

from probekit.errors import InputError
from probekit.organism import recipe
from probekit.organism.examples import IGNORED, Sampler, draw_pool
from probekit.organism.model import Shape
from probekit.organism.settings import Settings
from probekit.organism.tokenizer import train_tokenizer

TINY = Settings(
    images=24,
    vision_steps=3,
    vision_batch=4,
    joint_steps=4,
    polish_steps=2,
    batch=2,
    turns=2,
    checkpoint_every=2,
    shape=Shape(vision_width=32, vision_layers=1, width=32, layers=2, feed_forward=48, heads=2),
)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return train_tokenizer()


@pytest.fixture(autouse=True)
def _one_tokenizer(tokenizer: PreTrainedTokenizerFast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "train_tokenizer", lambda: tokenizer)


def _weights(folder: Path | None) -> dict[str, torch.Tensor]:
    assert folder is not None
    return load_file(folder / "model.safetensors")


def test_resuming_changes_nothing(tmp_path: Path) -> None:
    whole = recipe.train(tmp_path / "whole", settings=TINY, card_images=0)
    broken = tmp_path / "broken"
    for stop in (1, 3, 2, 2):
        assert recipe.train(broken, settings=TINY, stop_at=stop, card_images=0) is None
    resumed = recipe.train(broken, settings=TINY, card_images=0)
    first, second = _weights(whole), _weights(resumed)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    other = recipe.train(tmp_path / "other", seed=1, settings=TINY, card_images=0)
    assert any(not torch.equal(first[name], value) for name, value in _weights(other).items())


def test_what_is_written_loads_in_float32_and_loses_nothing(tmp_path: Path) -> None:
    folder = recipe.train(tmp_path, settings=TINY, card_images=0)
    assert folder is not None
    model = LlavaForConditionalGeneration.from_pretrained(folder)
    stored = _weights(folder)
    assert {value.dtype for value in stored.values()} == {torch.float16}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    embeddings = model.get_input_embeddings().weight
    assert any(torch.equal(embeddings.half(), value) for value in stored.values())
    processor = LlavaProcessor.from_pretrained(folder)
    assert processor.tokenizer.bos_token == "<s>"


def test_other_settings_do_not_resume(tmp_path: Path) -> None:
    recipe.train(tmp_path, settings=TINY, stop_at=1, card_images=0)
    with pytest.raises(InputError, match="other settings"):
        recipe.train(tmp_path, seed=5, settings=TINY, card_images=0)


def test_batches_depend_on_the_step_alone(tokenizer: PreTrainedTokenizerFast) -> None:
    pool = draw_pool(TINY.images)
    forward, backward = (
        Sampler(TINY, pool, tokenizer, "joint"),
        Sampler(TINY, pool, tokenizer, "joint"),
    )
    for step, other in zip(range(6), reversed(range(6)), strict=True):
        forward.batch(step), backward.batch(other)
    for step in range(6):
        one, two = forward.batch(step), backward.batch(step)
        assert torch.equal(one.ids, two.ids)
        assert torch.equal(one.pixels, two.pixels)


def test_only_answers_are_learnt(tokenizer: PreTrainedTokenizerFast) -> None:
    sampler = Sampler(TINY, draw_pool(2), tokenizer, "joint")
    ids, targets, weights = sampler.conversation([("Is it?", "Yes"), ("And?", "No")])
    learnt = tokenizer.decode([t for t in targets if t != IGNORED])
    assert learnt == " Yes</s> No</s>"
    assert len(ids) == len(targets) == len(weights)
    assert all((w > 0) == (t != IGNORED) for w, t in zip(weights, targets, strict=True))
    assert ids.count(tokenizer.bos_token_id) == 1
