"""Models by name or folder, through the classes Hugging Face maps them to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from probekit.errors import InputError
from probekit.families.family import Family
from probekit.families.table import family_of

Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Quantization = Literal["4bit", "8bit"]

ORGANISM = "organism"
"""Name of the embedded model."""


FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"
"""Kinds of layers, as configurations of transformers name them."""


@dataclass(frozen=True)
class Vlm:
    """A loaded model and its processor, with the family that tells how to read it.

    Attributes:
        model: the Hugging Face model, in evaluation mode.
        processor: its processor.
        family: how it is read.
        name: the name or folder it was loaded from.
        revision: commit of the weights, or their digest when loaded from a folder.
    """

    model: Any
    processor: Any
    family: Family
    name: str
    revision: str

    @property
    def config(self) -> Any:
        """The model's configuration."""
        return self.model.config

    @property
    def tokenizer(self) -> Any:
        """The processor's tokenizer."""
        return self.processor.tokenizer

    @property
    def decoder(self) -> Any:
        """The stack of decoder layers with its final norm."""
        return self.family.decoder(self.model)

    @property
    def layers(self) -> list[nn.Module]:
        """Decoder layers in order."""
        return list(self.decoder.layers)

    @property
    def depth(self) -> int:
        """L, the number of decoder layers."""
        return len(self.decoder.layers)

    @property
    def heads(self) -> int:
        """H, query heads a layer."""
        return int(self.config.get_text_config().num_attention_heads)

    @property
    def width(self) -> int:
        """D, the width of the residual stream."""
        return int(self.config.get_text_config().hidden_size)

    @property
    def vocabulary(self) -> int:
        """V, the number of columns of the logits."""
        return int(self.family.head(self.model).weight.shape[0])

    @property
    def device(self) -> torch.device:
        """Where inputs go."""
        return torch.device(self.model.get_input_embeddings().weight.device)

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights."""
        return self.model.get_input_embeddings().weight.dtype

    @property
    def image_token_id(self) -> int:
        """Id of the expanded image placeholder."""
        return self.family.image_token_id(self.config)

    @property
    def placeholders(self) -> frozenset[int]:
        """Ids in whose place a model of this class puts features; in an answer they stand for nothing."""
        named = (getattr(self.config, f"{kind}_token_id", None) for kind in ("video", "audio"))
        return frozenset({self.image_token_id, *(token for token in named if isinstance(token, int))})

    @property
    def pad_token_id(self) -> int:
        """Id that fills padded positions, which nothing attends to."""
        pad = self.tokenizer.pad_token_id
        return int(pad if pad is not None else self.tokenizer.eos_token_id or 0)

    @property
    def windows(self) -> dict[str, int | None]:
        """Kinds of attention layers, and how many positions each sees: itself and those before it.

        ``None`` stands for all of them.
        """
        text = self.config.get_text_config()
        window = getattr(text, "sliding_window", None)
        only = FULL if window is None else SLIDING
        kinds = getattr(text, "layer_types", None) or (only,)
        return {kind: window if kind == SLIDING else None for kind in dict.fromkeys(kinds)}

    @property
    def packs_texts(self) -> bool:
        """Whether texts over one picture may lie in one row, kept apart by masks.

        Where some layers have a window and others have none, the model must take a mask for each kind.
        """
        kinds = set(self.windows)
        maskable = kinds <= {FULL, SLIDING} and (len(kinds) == 1 or self.family.layer_masks)
        return self.family.shares_prefixes and maskable

    @property
    def shares_prefixes(self) -> bool:
        """Whether texts over one picture may share its computation.

        Recurrent layers, which no mask can tell apart texts to, share what a cache holds of a beginning.
        """
        recurrent = LINEAR in self.windows and set(self.windows) <= {FULL, LINEAR}
        return self.packs_texts or (self.family.shares_prefixes and recurrent)

    def path_of(self, module: nn.Module) -> str:
        """Dotted path of a submodule of the model."""
        for path, found in self.model.named_modules():
            if found is module:
                return path
        raise InputError("the module does not belong to this model")

    @property
    def head_device(self) -> torch.device:
        """Where the output head is; in a model spread over devices, not where the first layer is."""
        return torch.device(self.family.head(self.model).weight.device)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """Float32 logits of normed states ``(..., D)``, with the family's scaling and soft cap."""
        head = self.family.head(self.model)
        logits = head(states.to(head.weight.device)).float() * self.family.head_scale(self.config)
        cap = self.family.softcap(self.config)
        return logits if cap is None else cap * torch.tanh(logits / cap)


@dataclass(frozen=True)
class TextDecoder:
    """Turns generated ids into text the way generation did: special tokens left out, spaces kept."""

    tokenizer: Any

    def decode(self, ids: Sequence[int]) -> str:
        """Text of ``ids``."""
        return str(
            self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        )

    @property
    def end_ids(self) -> tuple[int, ...]:
        """Ids that end a text."""
        end = self.tokenizer.eos_token_id
        return () if end is None else (int(end),)


def load(
    name: str,
    *,
    revision: str | None = None,
    dtype: Dtype = "auto",
    device: str = "auto",
    quantization: Quantization | None = None,
    trust_remote_code: bool = False,
    offline: bool = False,
) -> Vlm:
    """Load a vision-language model.

    Args:
        name: a folder, a model's name on the Hugging Face hub, or ``organism`` for the embedded model.
        revision: commit, tag or branch on the hub.
        dtype: dtype of the weights; ``auto`` takes the checkpoint's own, but float32 instead of
            float16 on a CPU, which computes float16 slowly.
        device: ``cpu``, ``cuda``, ``cuda:1``; ``auto`` takes a GPU when there is one; ``map`` spreads
            the layers over all GPUs.
        quantization: load weights in 4 or 8 bits through bitsandbytes.
        trust_remote_code: run code that the checkpoint brings along.
        offline: never ask the hub.

    Raises:
        InputError: no such model, no right to read it, no processor, or a missing package.
    """
    from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor
    from transformers.utils import logging

    logging.disable_progress_bar()
    common: dict[str, Any] = {"trust_remote_code": trust_remote_code, "local_files_only": offline}
    source = _source(name)
    folder = Path(source)
    if folder.exists():
        if not (folder / "config.json").is_file():
            raise InputError("no config.json in the folder", where=name, hint="Point at a saved model.")
    elif revision is not None:
        common["revision"] = revision
    options = dict(common, dtype=dtype if dtype == "auto" else getattr(torch, dtype))
    if quantization is not None:
        options["quantization_config"] = _quantization(quantization)
    target = _target(device, quantization)
    if target is None:
        options["device_map"] = "auto"
    try:
        config = AutoConfig.from_pretrained(source, **common)
        model = AutoModelForImageTextToText.from_pretrained(source, **options)
        processor = AutoProcessor.from_pretrained(source, **common)
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise InputError(
            f"the model cannot be loaded: {_first_line(error)}", where=name, hint=_advice(error)
        ) from error
    if not hasattr(processor, "tokenizer") or not hasattr(processor, "image_processor"):
        raise InputError("has no processor for images and text", where=name)
    if target is not None:
        model = model.to(target)
    if dtype == "auto" and target == "cpu" and model.dtype == torch.float16:
        model = model.float()
    model.eval()
    return Vlm(model, processor, family_of(config), name, _revision(folder, config))


def load_tokenizer(
    name: str,
    *,
    revision: str | None = None,
    trust_remote_code: bool = False,
    offline: bool = False,
) -> TextDecoder:
    """The tokenizer alone, for decoding generated ids; takes what `load` takes.

    Raises:
        InputError: there is no such tokenizer.
    """
    from transformers import AutoTokenizer

    common: dict[str, Any] = {"trust_remote_code": trust_remote_code, "local_files_only": offline}
    source = _source(name)
    if revision is not None and not Path(source).exists():
        common["revision"] = revision
    try:
        return TextDecoder(AutoTokenizer.from_pretrained(source, **common))
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise InputError(
            f"the tokenizer cannot be loaded: {_first_line(error)}", where=name, hint=_advice(error)
        ) from error


def _source(name: str) -> str:
    """Where a model is loaded from; the embedded one is known by its name, wherever it is installed."""
    if name != ORGANISM:
        return name
    from probekit.organism import path

    return str(path())


def _target(device: str, quantization: Quantization | None) -> str | None:
    if device == "map" or quantization is not None:
        return None
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError(f"device {device!r} was asked for, but no GPU is visible", hint="Use --device cpu.")
    try:
        torch.device(device)
    except RuntimeError:
        raise InputError(
            f"no device is called {device!r}", hint="Known: auto, cpu, cuda, cuda:1, map."
        ) from None
    return device


def _quantization(bits: Quantization) -> Any:
    from importlib.util import find_spec

    if find_spec("bitsandbytes") is None:
        raise InputError(f"{bits} weights need bitsandbytes", hint="pip install bitsandbytes")
    from transformers import BitsAndBytesConfig

    if bits == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.float16
    )


def _revision(folder: Path, config: Any) -> str:
    """The hub's commit, or a digest over the folder's weight files."""
    if not folder.exists():
        return str(getattr(config, "_commit_hash", None) or "unknown")
    from probekit.files import digest, sha256

    weights = sorted(folder.glob("*.safetensors"))
    return "sha256:" + digest({file.name: sha256(file) for file in weights})


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]


def _advice(error: BaseException) -> str:
    text = str(error).lower()
    if "gated" in text or "401" in text or "403" in text:
        return "The model is gated: accept its licence on the hub, then `hf auth login`."
    if "trust_remote_code" in text:
        return "The checkpoint brings its own code; read it, then pass --trust-remote-code."
    if "connect" in text or "offline" in text or "local_files_only" in text:
        return "The hub cannot be reached: give the folder of a downloaded model."
    return "Give a folder saved with save_pretrained, or a model's name on the Hugging Face hub."
