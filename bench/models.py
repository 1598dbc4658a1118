"""The models that are timed: large enough that arithmetic, not Python, decides."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from probekit.families import Prompter, Vlm, load
from probekit.families.tiny import Size, make
from probekit.forward.work import Forced, Target
from probekit.rows import RowKey

SHARPNESS = 3.0
"""Uneven attention without saturation: six times the fresh weights, which suits narrow members, would at
width 512 put nearly all mass on single keys and magnify rounding a hundredfold."""

LLAVA = Size(layers=12, width=512, heads=8, kv_heads=8, words=8192, image=336, patch=14, sharpness=SHARPNESS)
"""576 image tokens."""

QWEN = Size(layers=12, width=512, heads=8, kv_heads=2, words=8192, image=672, patch=14, sharpness=SHARPNESS)
"""Grouped queries, multimodal rotary positions, 576 merged tokens of a square picture."""


@cache
def model(family: str) -> tuple[Vlm, Prompter]:
    """A random model of a family, saved and loaded like any other."""
    folder = Path(tempfile.mkdtemp(prefix=f"bench-{family}-"))
    vlm = load(str(make(family, folder, LLAVA if family == "llava" else QWEN)), dtype="float32", device="cpu")
    return vlm, Prompter(vlm)


def picture(seed: int, family: str = "llava") -> Image.Image:
    """A random picture of the size the family's model is timed at."""
    edge = LLAVA.image if family == "llava" else QWEN.image
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (edge, edge, 3), dtype=np.uint8))


def words(seed: int, count: int) -> tuple[int, ...]:
    """Random token ids of ordinary words."""
    return tuple(int(i) for i in np.random.default_rng(seed).integers(40, 250, count))


def text(
    seed: int,
    length: int,
    *,
    rows: int = 0,
    key: str | None = None,
    question: str = "What is in this picture?",
    family: str = "llava",
    name: str | None = None,
) -> Forced:
    """A text to be forced, with ``rows`` mentions spread over it."""
    image = picture(seed if key is None else hash_of(key), family)
    name = name or f"t{seed}"
    places = np.linspace(0, length - 2, rows).astype(int) if rows else []
    targets = tuple(Target(RowKey(name, n), int(t), int(t) + 1) for n, t in enumerate(places))
    return Forced(name, lambda: image, key or f"i{seed}", question, words(seed, length), targets)


def hash_of(key: str) -> int:
    """A small number that stands for a key."""
    return sum(ord(letter) * (place + 1) for place, letter in enumerate(key)) % 10_000


def prompt_tokens(prompter: Prompter, forced: Forced) -> int:
    """m of a text."""
    assert forced.image is not None
    return len(prompter.encode([forced.question], [[forced.image()]]).prompts[0])


def plain_loop(vlm: Vlm, prompter: Prompter, texts: Sequence[Forced]) -> list[float]:
    """What a user writes: one sequence at a time through the model, log-probabilities of its answer."""
    import torch

    vlm.decoder.set_attn_implementation("sdpa")
    found = []
    with torch.no_grad():
        for forced in texts:
            assert forced.image is not None
            batch = prompter.encode([forced.question], [[forced.image()]])
            prompt = batch.prompts[0]
            ids = torch.tensor([prompt.ids + forced.continuation])
            types = {
                key: torch.tensor([list(values) + [0] * len(forced.continuation)])
                for key, values in prompt.token_types.items()
            }
            answer = len(forced.continuation)
            logits = vlm.model(
                input_ids=ids, attention_mask=torch.ones_like(ids), **types, **batch.vision,
                use_cache=False, logits_to_keep=answer + 1,
            ).logits[0, :-1]  # fmt: skip
            logp = logits.float().log_softmax(-1)
            chosen = logp[torch.arange(answer), torch.tensor(forced.continuation)]
            found.append(float(chosen.mean()))
    return found
