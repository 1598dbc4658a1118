"""What every pass that fills a store needs: a model loaded late, the store's header, batches, a replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from probekit.captures import Capture, TokenStatistics
from probekit.jobs import ModelSpec
from probekit.pipeline.describe import load_model

if TYPE_CHECKING:
    from probekit.families import Prompter, Vlm
    from probekit.forward.trace import Tracer
    from probekit.forward.traced import Traced
    from probekit.forward.work import Forced
    from probekit.store import Header

REPLAYED_TEXTS = 8

PACKAGES = ("vlm-probekit", "torch", "transformers", "nnsight", "h5py", "numpy")


class LateModel:
    """A model and its prompter, loaded when something is left to do, and then once."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self._loaded: tuple[Vlm, Prompter] | None = None

    def get(self) -> tuple[Vlm, Prompter]:
        """The model and its prompter."""
        from probekit.families import Prompter, PromptTemplate
        from probekit.forward.check import require_proven

        if self._loaded is None:
            vlm = load_model(self.spec)
            require_proven(vlm)
            self._loaded = vlm, Prompter(vlm, PromptTemplate(self.spec.prompt))
        return self._loaded


def make_header(
    vlm: Vlm,
    prompter: Prompter,
    *,
    job_digest: str,
    agreement: float,
    shard_examples: int,
    extra: Mapping[str, Any],
) -> Header:
    """What a store says about itself."""
    from probekit.forward.check import require_proven
    from probekit.forward.rows import KERNEL
    from probekit.store import Header
    from probekit.store.schema import CHECK

    report = require_proven(vlm)

    return Header(
        job_digest=job_digest,
        model=vlm.name,
        revision=vlm.revision,
        family=vlm.family.name,
        kernel=KERNEL,
        dtype=str(vlm.dtype).removeprefix("torch."),
        template_hash=prompter.template_hash,
        versions={name: version(name) for name in PACKAGES},
        replay_agreement=agreement,
        depth=vlm.depth,
        heads=vlm.heads,
        width=vlm.width,
        vocabulary=vlm.vocabulary,
        shard_examples=shard_examples,
        extra=extra if report is None else {**extra, CHECK: report.digest},
    )


def replay_agreement(vlm: Vlm, prompter: Prompter, texts: Sequence[Forced]) -> float:
    """Share of the first texts' tokens that the teacher-forced pass gives back greedily (SPEC 0.8.6)."""
    from probekit.forward.trace import Tracer

    traced = Tracer(vlm, prompter, (TokenStatistics(),)).run(texts[:REPLAYED_TEXTS])
    counts = traced.agreement or ()
    return sum(equal for equal, _ in counts) / max(sum(tokens for _, tokens in counts), 1)


def trace_texts(
    tracer: Tracer,
    texts: Sequence[Forced],
    prompt_tokens: Sequence[int],
    batch_tokens: int,
    advance: Callable[[int], None] = lambda count: None,
) -> Traced:
    """Trace texts in batches of at most ``batch_tokens`` padded tokens, those of a picture together.

    Args:
        prompt_tokens: about how many tokens each prompt has.
        advance: called with the number of texts just finished.
    """
    from probekit.forward.batches import run_all
    from probekit.forward.plan import batches

    planned = batches(
        [tracer.together(text) for text in texts],
        prompt_tokens,
        [len(text.continuation) for text in texts],
        batch_tokens,
        sharing=tracer.sharing,
        alone=tracer.constant,
    )
    return run_all(tracer, texts, planned, advance)


def head_arrays(vlm: Vlm) -> Mapping[str, Any]:
    """The output head, by which a store turns normed states into logits."""
    import numpy as np

    head = vlm.family.head(vlm.model)
    arrays = {"weight": on_host(head.weight.detach())}
    if getattr(head, "bias", None) is not None:
        arrays["bias"] = on_host(head.bias.detach())
    if (scale := vlm.family.head_scale(vlm.config)) != 1.0:
        arrays["scale"] = np.array([scale], dtype=np.float32)
    if (cap := vlm.family.softcap(vlm.config)) is not None:
        arrays["softcap"] = np.array([cap], dtype=np.float32)
    return arrays


def host_arrays(traced: Traced) -> dict[Capture, Any]:
    """A pass's captures as the store takes them."""
    return {capture: on_host(tensor) for capture, tensor in traced.arrays.items()}


def on_host(tensor: Any) -> Any:
    """A tensor as the store takes it: numpy, bfloat16 as its bits."""
    import torch

    from probekit.store import Bfloat16

    tensor = tensor.cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return Bfloat16(tensor.view(torch.uint16).numpy())
    return tensor.numpy()
