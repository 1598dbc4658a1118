"""Prefix trees against a loop with one sequence at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bench.measure import Measured, ratio
from bench.models import model, plain_loop, prompt_tokens, text
from probekit.captures import AttentionMass, HiddenState
from probekit.forward.batches import run_all
from probekit.forward.generate import Generator, Question
from probekit.forward.plan import Tree, batches
from probekit.forward.trace import Tracer
from probekit.forward.traced import Traced
from probekit.forward.work import Forced

BUDGET = 4096
EQUAL = (
    HiddenState(layer="mid", window=1),
    HiddenState(layer="last", window=1),
    AttentionMass(window=1),
)
"""Captures compared beside the log-probability of every token."""
ANCHORS, LENGTH = 8, 20
ANSWER = 4
"""New tokens of an answer to a yes/no question."""
CONSTANT = {"blind", "noise"}
"""Pictures that all samples share."""


def anchors(seed: int, key: str, question: str, family: str = "llava") -> list[Forced]:
    """One prompt with a response and eight anchors after it."""
    return [
        text(
            1000 * seed + n,
            LENGTH + 5 * (n == 0),
            key=key,
            question=question,
            family=family,
            name=f"{key}.{seed}.{n}",
        )
        for n in range(ANCHORS + 1)
    ]


def tri_layer(samples: int) -> list[Forced]:
    """Four conditions of each sample; the blind and the noise picture are the same for all."""
    work = []
    for sample in range(samples):
        question = f"Is there a thing number {sample} to the left of the other one?"
        for key in (f"full{sample}", "blind", "noise", f"conflict{sample}"):
            work += anchors(sample, key, question)
    return work


def pope(images: int) -> list[Forced]:
    """Six questions a picture, an answer of two tokens each."""
    things = ("cat", "car", "cup", "bus", "dog", "tie")
    return [
        text(
            31 * image + n,
            2,
            key=f"pope{image}",
            question=f"Is there a {thing} in the image?",
            name=f"{image}.{n}",
        )
        for image in range(images)
        for n, thing in enumerate(things)
    ]


def run(tracer: Tracer, texts: Sequence[Forced]) -> object:
    """All texts through the engine."""
    m = prompt_tokens(tracer.prompter, texts[0])
    planned = batches(
        [t.image_key for t in texts],
        [m] * len(texts),
        [len(t.continuation) for t in texts],
        BUDGET,
        sharing=tracer.sharing,
        alone=tracer.constant,
    )
    return run_all(tracer, texts, planned)


def _speed(
    name: str, family: str, ours: list[Forced], loop: list[Forced], repeats: int, detail: str
) -> Measured:
    vlm, prompter = model(family)

    def shared() -> None:
        # a new tracer each time: what it keeps of constant pictures is computed again
        tracer = Tracer(vlm, prompter, (), sharing=True, keep_tokens=True, constant=CONSTANT)
        run(tracer, ours)

    scale = len(ours) / len(loop)
    part = "" if scale == 1 else f"; the loop, linear in its sequences, ran {len(loop)} of the {len(ours)}"
    return ratio(
        name,
        lambda: plain_loop(vlm, prompter, loop),
        shared,
        repeats=repeats,
        scale=scale,
        detail=detail + part,
        warm=False,
    )


def anchors_speedup(repeats: int, family: str = "llava") -> Measured:
    """One prompt, nine continuations."""
    work = anchors(3, "one", "Is there a cat in the picture?", family)
    name = "anchors_speedup" if family == "llava" else f"anchors_speedup_{family}"
    return _speed(name, family, work, work, repeats, f"{family}, 1 prompt, 9 continuations of 20 tokens")


def tri_layer_speedup(repeats: int, samples: int) -> Measured:
    """Four conditions by nine continuations."""
    work = tri_layer(samples)
    return _speed(
        "tri_layer_speedup", "llava", work, work[:36], repeats, f"4 conditions x 9 texts, {samples} samples"
    )


def pope_speedup(repeats: int, images: int) -> Measured:
    """Six questions a picture."""
    work = pope(images)
    return _speed("pope_speedup", "llava", work, work[:12], repeats, f"6 questions x {images} pictures")


def answers_speedup(repeats: int, images: int) -> Measured:
    """Hugging Face's own batched generation over ours, six questions a picture."""
    vlm, prompter = model("llava")
    generator = Generator(vlm, prompter, ANSWER)
    asked = [
        Question(t.example_id, t.image_key, t.image, t.question, t.image_key) for t in pope(images)
    ]  # fmt: skip
    plain = [replace(question, image_key="") for question in asked[:12]]

    def ours() -> None:
        for start in range(0, len(asked), 12):
            generator.run(asked[start : start + 12])

    def own() -> None:
        vlm.decoder.set_attn_implementation("sdpa")
        generator.run(plain)

    detail = f"6 questions x {images} pictures, {ANSWER} new tokens, both 12 at once; generate ran 12"
    return ratio(
        "answers_speedup", own, ours, repeats=repeats, scale=len(asked) / 12, detail=detail, warm=False
    )


def tokens_over_unique(samples: int) -> Measured:
    """Tokens computed over distinct tokens of the trees, in the three workloads."""
    vlm, prompter = model("llava")
    computed = distinct = 0
    for work in (anchors(3, "one", "Is there a cat?"), tri_layer(samples), pope(samples)):
        tracer = Tracer(vlm, prompter, (), sharing=True, keep_tokens=True, constant=CONSTANT)
        run(tracer, work)
        computed, distinct = computed + tracer.computed, distinct + tracer.distinct
    detail = f"{computed:,} over {distinct:,}; anchors, Tri-Layer and POPE with {samples} samples each"
    return Measured("tokens_over_unique", computed / distinct, "ratio", detail)


def equality() -> Measured:
    """Largest difference between shared and plain passes, float32; beside it, what a wrong mask would do."""
    from unittest.mock import patch

    from probekit.forward import inputs

    def siblings_too(tree: Tree, nodes: object = None) -> np.ndarray:
        return np.tril(np.ones((len(tree), len(tree)), dtype=bool))

    worst = wrong = 0.0
    for family in ("llava", "qwen2_5_vl"):
        vlm, prompter = model(family)
        targets = text(0, 20, rows=3).targets
        work = [replace(t, targets=targets) for t in anchors(3, "one", "Is there a cat?", family)]
        plain, shared = (
            Tracer(vlm, prompter, EQUAL, sharing=sharing, keep_tokens=True) for sharing in (False, True)
        )
        expected = plain.run(work)
        worst = max(worst, _difference(expected, shared.run(work)))
        with patch.object(inputs, "visible", siblings_too):
            wrong = max(wrong, _difference(expected, shared.run(work)))
    detail = "log-probabilities, masses and states; llava and qwen2_5_vl"
    return Measured("equality", worst, "difference", f"{detail}; {wrong:.2g} if siblings saw each other")


def _difference(one: Traced, other: Traced) -> float:
    assert one.tokens is not None
    assert other.tokens is not None
    pairs = [(one.arrays[c].nan_to_num(), other.arrays[c].nan_to_num()) for c in EQUAL]
    pairs += [(a[:, 0], b[:, 0]) for a, b in zip(one.tokens, other.tokens, strict=True)]
    return max(float((a - b).abs().max()) for a, b in pairs)
