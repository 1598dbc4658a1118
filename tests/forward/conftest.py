"""Tiny models, texts to force, and an oracle: Hugging Face's own eager outputs, one text at a time."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from PIL import Image

from probekit.families import Prompter, load
from probekit.families.tiny import Size, make
from probekit.forward.work import Forced, Target
from probekit.rows import RowKey

FAMILIES = ("llava", "qwen2_5_vl", "internvl", "gemma3")


@pytest.fixture(scope="session", params=FAMILIES)
def vlm(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return load(str(make(request.param, folder, Size())), dtype="float32")


@pytest.fixture(scope="session")
def llava(tmp_path_factory):
    return load(str(make("llava", tmp_path_factory.mktemp("llava"), Size())), dtype="float32")


@pytest.fixture(scope="session")
def prompter(vlm):
    return Prompter(vlm)


def picture(seed, size=(60, 60)):
    pixels = np.random.default_rng(seed).integers(0, 255, (*size, 3), dtype=np.uint8)
    return lambda: Image.fromarray(pixels)


def forced(seed, length, tokens, *, size=(60, 60), question="What is this?", image=True):
    rng = np.random.default_rng(seed)
    ids = tuple(int(i) for i in rng.integers(40, 250, length))
    targets = tuple(Target(RowKey(f"e{seed}", n), t, min(t + 1, length - 1)) for n, t in enumerate(tokens))
    return Forced(f"e{seed}", picture(seed, size) if image else None, f"i{seed}", question, ids, targets)


@pytest.fixture(scope="session")
def texts():
    return [
        forced(1, 12, (0, 1, 2, 5, 11)),
        forced(2, 30, (3, 20), size=(56, 112), question="A longer question, is it not?"),
        forced(3, 7, (0, 6)),
    ]


@dataclass
class Eager:
    """Outputs of one text: hs[0..L] with hs[L] normed, attention (L, H, q, k), logits, prompt length."""

    hidden: list
    raw_last: torch.Tensor
    attention: torch.Tensor
    logits: torch.Tensor
    prompt: int
    image: list
    ids: list


@pytest.fixture(scope="session")
def eager(vlm, prompter):
    return lambda text: eager_outputs(vlm, prompter, text)


def eager_outputs(vlm, prompter, text):
    images = [[] if text.image is None else [text.image()]]
    batch = prompter.encode([text.question], images)
    prompt = batch.prompts[0]
    ids = torch.tensor([list(prompt.ids) + list(text.continuation)])
    extra = {
        key: torch.tensor([list(values) + [vlm.family.caption_type] * len(text.continuation)])
        for key, values in prompt.token_types.items()
    }
    before = vlm.decoder.config._attn_implementation
    raw = []
    hook = vlm.layers[-1].register_forward_hook(lambda module, args, output: raw.append(output))
    vlm.decoder.set_attn_implementation("eager")
    with torch.no_grad():
        out = vlm.model(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            **extra,
            **batch.vision,
            output_attentions=True,
            output_hidden_states=True,
            use_cache=False,
        )
    vlm.decoder.set_attn_implementation(before)
    hook.remove()
    return Eager(
        hidden=[state[0] for state in out.hidden_states],
        raw_last=raw[0][0] if raw[0].dim() == 3 else raw[0],
        attention=torch.stack([layer[0] for layer in out.attentions]),
        logits=out.logits[0].float(),
        prompt=len(prompt),
        image=[place for place, word in enumerate(prompt.ids) if word == vlm.image_token_id],
        ids=ids[0].tolist(),
    )
