"""From a trained model to the folder that `from_pretrained` loads."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import LlavaForConditionalGeneration, PreTrainedTokenizerFast

from probekit.files import read_json, write_json
from probekit.organism.tokenizer import make_processor


@torch.no_grad()
def round_to_half(model: LlavaForConditionalGeneration) -> None:
    """Round every weight to the nearest float16 value, so that half storage loses nothing."""
    for parameter in model.parameters():
        parameter.copy_(parameter.half().float())


def export(model: LlavaForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, out: Path) -> Path:
    """Write weights, configuration, tokenizer and processor to `out`, and return it.

    Weights are stored in float16 under a configuration that says float32: loading without a
    dtype gives float32 weights equal to the stored ones.
    """
    out.mkdir(parents=True, exist_ok=True)
    model.eval()
    round_to_half(model)
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.bos_token_id = tokenizer.bos_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(out)
    weights = load_file(out / "model.safetensors")
    halves = {name: value.half() for name, value in weights.items()}
    save_file(halves, out / "model.safetensors", metadata={"format": "pt"})
    # save_file creates its file for the owner alone, which a shared installation could not read.
    (out / "model.safetensors").chmod(0o644)
    make_processor(tokenizer).save_pretrained(out)
    _declare_float32(out / "config.json")
    return out


def _declare_float32(config: Path) -> None:
    def walk(node: dict[str, Any]) -> None:
        for key, value in node.items():
            if isinstance(value, dict):
                walk(value)
            elif key in ("dtype", "torch_dtype"):
                node[key] = "float32"

    content: dict[str, Any] = read_json(config)
    content.setdefault("dtype", "float32")
    walk(content)
    write_json(config, content)
