"""What may be kept from a forward pass: frozen values with named axes, no torch here.

The same value is used to write and to read, so extraction and training cannot drift apart.
Positions follow SPEC 0.1: the object's first sub-token is caption token ``t*``; the *query* of token
``t`` is the position that predicts it, ``m + t - 1``; *self* is the token's own position ``m + t``.
A window of ``w`` covers the caption tokens ``max(0, t* - w + 1) .. t*``; slots are aligned at their
end, so the last slot is always ``t*`` and slots before the start of the caption are NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from probekit.errors import InputError

ReadAt = Literal["query", "self", "prompt_last"]
Storage = Literal["state", "attention", "float32", "int32"]

GROUPS: tuple[str, ...] = ("bos", "context_before", "image", "context_after", "header", "caption")
"""Key groups, disjoint and covering every visible key (SPEC 0.5)."""

STATISTICS: tuple[str, ...] = (
    "logp",
    "entropy",
    "top1_logp",
    "top2_logp",
    "logp_variance",
    "span_logp",
    "cumulative_logp",
)
"""Columns of `TokenStatistics`, all in nats at the query of ``t*``; the last two are sums of token
log-probabilities over the object's tokens and over the caption up to the object's last token."""

SIMILARITY_TERMS: tuple[str, ...] = ("global_paper", "global_code", "local")
"""Columns of `ImageSimilarity` (SPEC 2.4)."""

PAIRED: tuple[str, ...] = ("kl", "other_logp", "other_entropy")
"""Columns of `Divergence`, all in nats at the query of ``t*``: KL(this picture || the other), then the
word's log-probability and the entropy under the other picture."""


@dataclass(frozen=True)
class Capture:
    """Base of all captures. Axes name what follows the leading axis ``row``."""

    axes: ClassVar[tuple[str, ...]]
    storage: ClassVar[Storage]

    @property
    def condition(self) -> str:
        """The pass that serves this capture; other than ``full`` is a companion store."""
        return "full"

    @property
    def key(self) -> str:
        """Stable text name, such as ``hidden_state[layer=mid,norm=post,read_at=self,window=4]``."""
        inner = ",".join(
            f"{f.name}={getattr(self, f.name)}" for f in sorted(fields(self), key=lambda f: f.name)
        )
        return f"{_NAMES[type(self)]}[{inner}]" if inner else _NAMES[type(self)]


@dataclass(frozen=True)
class HiddenState(Capture):
    """Mean residual-stream state over a window. SPEC 0.1, 1.2.

    Attributes:
        layer: index into hs[0..L] (0 is the embeddings), ``mid`` = L // 2, ``last`` = L,
            ``penultimate`` = L - 1.
        read_at: ``self``, ``query`` or the last prompt token (then the window is 1).
        window: caption tokens averaged, ending at t*.
        norm: for hs[L] only: after (``post``) or before (``pre``) the final norm.
        text_only: taken in the pass without an image (SPEC 1.4), a companion store.
    """

    layer: int | Literal["mid", "last", "penultimate"] = "mid"
    read_at: ReadAt = "self"
    window: int = 4
    norm: Literal["post", "pre"] = "post"
    text_only: bool = False

    axes: ClassVar[tuple[str, ...]] = ("dim",)
    storage: ClassVar[Storage] = "state"

    def __post_init__(self) -> None:
        if self.read_at == "prompt_last" and self.window != 1:
            raise InputError("a state of the last prompt token has a window of 1")

    @property
    def condition(self) -> str:
        return "text_only" if self.text_only else "full"

    def index(self, depth: int) -> int:
        """Index into hs[0..depth]; raises `InputError` when the model is not that deep."""
        named = {"mid": depth // 2, "last": depth, "penultimate": depth - 1}
        value = named[self.layer] if isinstance(self.layer, str) else self.layer
        if not 0 <= value <= depth:
            raise InputError(f"layer {value} asked of a model with {depth} layers")
        return value


@dataclass(frozen=True)
class AttentionMass(Capture):
    """Attention mass of each key group, per window slot, layer and head. SPEC 0.5.

    Masses over groups sum to one in every slot. With ``read_at="self"`` a seventh group ``own``
    holds the mass the token puts on itself, and ``caption`` leaves it out.
    """

    read_at: Literal["query", "self"] = "query"
    window: int = 4

    axes: ClassVar[tuple[str, ...]] = ("slot", "layer", "head", "group")
    storage: ClassVar[Storage] = "attention"

    @property
    def groups(self) -> tuple[str, ...]:
        """Names along the last axis."""
        return GROUPS if self.read_at == "query" else (*GROUPS, "own")


@dataclass(frozen=True)
class GroupCount(Capture):
    """Keys in each group over the full causal range, per window slot. Turns masses into means.

    Slots before the start of the caption hold -1.
    """

    read_at: Literal["query", "self"] = "query"
    window: int = 4

    axes: ClassVar[tuple[str, ...]] = ("slot", "group")
    storage: ClassVar[Storage] = "int32"


@dataclass(frozen=True)
class AttentionGrid(Capture):
    """Mean attention to each cell of a grid laid over the image, averaged over the window. SPEC 1.3.

    Cells come from adaptive average pooling of the model's own image-token grid; ``cell`` runs
    row by row from the top left.
    """

    rows: int = 6
    columns: int = 6
    window: int = 4

    axes: ClassVar[tuple[str, ...]] = ("layer", "head", "cell")
    storage: ClassVar[Storage] = "attention"


@dataclass(frozen=True)
class TokenStatistics(Capture):
    """Statistics of the next-token distribution at the query of t*, float32 nats. SPEC 1.6, 2.6."""

    axes: ClassVar[tuple[str, ...]] = ("statistic",)
    storage: ClassVar[Storage] = "float32"


@dataclass(frozen=True)
class InternalConfidence(Capture):
    """Largest lens probability of the object over image positions, per hs[0..L]. SPEC 2.3.

    Attributes:
        topk: keep the k most likely words of each position and renormalise; ``None``: exact softmax.
        ids: the object's first generated sub-token, or the maximum over all its sub-tokens.
    """

    topk: int | None = None
    ids: Literal["first", "all"] = "first"

    axes: ClassVar[tuple[str, ...]] = ("layer",)
    storage: ClassVar[Storage] = "float32"


@dataclass(frozen=True)
class ImageSimilarity(Capture):
    """Cosines between the object's state, the prompt's last state and image states. SPEC 2.4."""

    k: int = 32

    axes: ClassVar[tuple[str, ...]] = ("term",)
    storage: ClassVar[Storage] = "float32"


@dataclass(frozen=True)
class Logits(Capture):
    """The next-token distribution at the query of t*. ENGINE 3.

    Attributes:
        form: ``full`` keeps all V logits; ``factored`` keeps the normed last state, from which the
            store gives back the same logits with the head it holds once.
    """

    form: Literal["full", "factored"] = "factored"

    axes: ClassVar[tuple[str, ...]] = ("dim",)
    storage: ClassVar[Storage] = "state"


@dataclass(frozen=True)
class Divergence(Capture):
    """How the next-token distribution at the query of t* moves with another picture, float32. SPEC 4.2.

    It takes two passes over the same text, so a pipeline makes it and no single pass does.

    Attributes:
        other: the picture in place of the text's own; ``blind`` is the black one.
    """

    other: Literal["blind", "noise", "conflict"] = "blind"

    axes: ClassVar[tuple[str, ...]] = ("statistic",)
    storage: ClassVar[Storage] = "float32"


_NAMES: dict[type[Capture], str] = {
    HiddenState: "hidden_state",
    AttentionMass: "attention_mass",
    GroupCount: "group_count",
    AttentionGrid: "attention_grid",
    TokenStatistics: "token_statistics",
    InternalConfidence: "internal_confidence",
    ImageSimilarity: "image_similarity",
    Logits: "logits",
    Divergence: "divergence",
}


def parse_capture(key: str) -> Capture:
    """The capture that a key names; inverse of `Capture.key`.

    Raises:
        InputError: no capture has that name or those parameters.
    """
    name, _, rest = key.partition("[")
    kinds = {text: kind for kind, text in _NAMES.items()}
    if name not in kinds or (rest and not rest.endswith("]")):
        raise InputError(f"unknown capture {key!r}", hint=f"Known: {', '.join(sorted(kinds))}.")
    given = dict(part.split("=", 1) for part in rest.removesuffix("]").split(",") if "=" in part)
    values = {name: _literal(text) for name, text in given.items()}
    try:
        return kinds[name](**values)
    except TypeError:
        known = ", ".join(f.name for f in fields(kinds[name]))
        raise InputError(f"bad parameters in capture {key!r}", hint=f"Known: {known}.") from None


def _literal(text: str) -> int | str | bool | None:
    if text in ("None", "True", "False"):
        return {"None": None, "True": True, "False": False}[text]
    return int(text) if text.lstrip("-").isdigit() else text
