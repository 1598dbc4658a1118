"""The model under test, a few generated pictures and texts, and Hugging Face's eager outputs for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from probekit.captures import AttentionMass, Capture, HiddenState, Logits
from probekit.families import Prompter, Vlm
from probekit.families.conversation import Asked
from probekit.forward.check.oracle import Eager, eager_outputs
from probekit.forward.check.report import Outcome, Status
from probekit.forward.refusals import silent_layers
from probekit.forward.trace import Tracer
from probekit.forward.traced import Traced
from probekit.forward.work import Forced, Target
from probekit.rows import RowKey

SIZES = ((224, 224), (168, 336), (240, 200), (224, 224))
QUESTIONS = (
    "What is this?",
    "Describe the picture in one sentence, please.",
    "Is there a bench?",
    "Which animals are to be seen here?",
)
CAPTION = " A wooden bench stands beside the pond, and a small dog sleeps under it in the sun."

_TOLERANCES = {torch.float32: (1e-6, 1e-5), torch.bfloat16: (3e-2, 5e-2), torch.float16: (5e-3, 1e-2)}


@dataclass(frozen=True)
class Tolerance:
    """What may differ.

    Attributes:
        rows: attention, absolute.
        masses: sums of attention over spans.
        values: states and logits, relative to the largest magnitude of what they are compared with.
    """

    rows: float
    masses: float
    values: float

    @classmethod
    def of(cls, vlm: Vlm) -> Tolerance:
        """Of a model's dtype.

        In float32 rounding adds up over layers, so decoders deeper than eight may differ by more; and
        scores that are not divided by the root of the head's width (Gemma-4) are that much larger, and
        so is what rounding does to their softmax.
        """
        rows, values = _TOLERANCES[vlm.dtype]
        if vlm.dtype != torch.float32:
            return cls(rows, rows, values)
        deep = max(1.0, vlm.depth / 8)
        rows *= deep * _sharpness(vlm)
        return cls(rows, 4 * rows, values * deep)


def _sharpness(vlm: Vlm) -> float:
    modules = [layer.self_attn for layer in vlm.layers if hasattr(layer, "self_attn")]
    found = [float(getattr(m, "scaling", 0.0)) * float(getattr(m, "head_dim", 1)) ** 0.5 for m in modules]
    return max(1.0, *found, 1.0)


def picture(seed: int, height: int, width: int) -> Image.Image:
    """A generated picture: coarse coloured blocks with grain."""
    random = np.random.default_rng(seed)
    blocks = random.integers(0, 200, (5, 7, 3), dtype=np.uint8)
    coarse = np.asarray(Image.fromarray(blocks).resize((width, height), Image.Resampling.BILINEAR))
    grain = random.integers(0, 50, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(coarse + grain)


def opener(seed: int, size: tuple[int, int]) -> Callable[[], Image.Image]:
    """Opens a generated picture."""
    return lambda: picture(seed, *size)


class Bench:
    """What contracts are tried on.

    Args:
        vlm: the model.
        prompter: how it is prompted; its own chat template by default.

    Attributes:
        tolerance: what may differ in the model's dtype.
    """

    def __init__(self, vlm: Vlm, prompter: Prompter | None = None) -> None:
        self.vlm = vlm
        self.prompter = prompter or Prompter(vlm)
        self.tolerance = Tolerance.of(vlm)

    @property
    def attends(self) -> bool:
        """Whether every decoder layer has attention rows over the text."""
        return not silent_layers(self.vlm)

    @cached_property
    def texts(self) -> tuple[Forced, ...]:
        """Four texts of different lengths about four pictures of different shapes."""
        words = self.vlm.tokenizer(CAPTION, add_special_tokens=False)["input_ids"]
        lengths = (12, 19, 7, 15)
        return tuple(
            self.text(number, QUESTIONS[number], tuple((words * 3)[number : number + length]), picture=number)
            for number, length in enumerate(lengths)
        )

    def text(self, number: int, question: Asked, ids: tuple[int, ...], *, picture: int) -> Forced:
        """One text to force, read at its first, a middle and its last token."""
        places = sorted({0, len(ids) // 2, len(ids) - 1})
        targets = tuple(Target(RowKey(f"check{number}", n), t, t) for n, t in enumerate(places))
        image = opener(picture, SIZES[picture % len(SIZES)])
        return Forced(f"check{number}", image, f"picture{picture}", question, ids, targets)

    @cached_property
    def eager(self) -> tuple[Eager, ...]:
        """Hugging Face's eager outputs of every text, one at a time."""
        return tuple(eager_outputs(self.vlm, self.prompter, text) for text in self.texts)

    @cached_property
    def captures(self) -> tuple[Capture, ...]:
        """Every state of every layer at targets, logits, and attention masses where there are any."""
        states = [HiddenState(layer=index, window=1) for index in range(self.vlm.depth + 1)]
        raw = HiddenState(layer="last", norm="pre", window=1)
        masses = (AttentionMass(window=1),) if self.attends else ()
        return (*states, raw, Logits(), *masses)

    @cached_property
    def singles(self) -> tuple[Traced, ...]:
        """Every text traced alone."""
        tracer = Tracer(self.vlm, self.prompter, self.captures, sharing=False)
        return tuple(tracer.run([text]) for text in self.texts)

    def found(self, contract: str, difference: float, tolerance: float, note: str) -> Outcome:
        """A difference that must not exceed its tolerance; NaN fails."""
        status: Status = "passed" if difference <= tolerance else "failed"
        return Outcome(contract, status, difference, tolerance, note)

    def skipped(self, contract: str, reason: str) -> Outcome:
        """A contract that does not apply."""
        return Outcome(contract, "skipped", None, None, reason)

    def traced_difference(self, a: Sequence[Traced], b: Sequence[Traced]) -> tuple[float, float]:
        """Largest differences of two tracings of the same texts: attention, and everything else."""
        attention = values = 0.0
        for capture in self.captures:
            x = torch.cat([piece.arrays[capture] for piece in a])
            y = torch.cat([piece.arrays[capture] for piece in b])
            if isinstance(capture, AttentionMass):
                attention = max(attention, absolute(x, y))
            else:
                values = max(values, relative(x, y))
        return attention, values


def relative(found: Tensor, expected: Tensor) -> float:
    """Largest difference relative to the largest magnitude of what is expected."""
    found, expected = found.float().cpu(), expected.float().cpu()
    return float((found - expected).abs().max() / expected.abs().max().clamp_min(1e-30))


def absolute(found: Tensor, expected: Tensor) -> float:
    """Largest difference; NaN where only one is NaN."""
    found, expected = found.float().cpu(), expected.float().cpu()
    both = torch.isnan(found) & torch.isnan(expected)
    return float((found - expected).masked_fill(both, 0.0).abs().max())
