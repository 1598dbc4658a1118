"""Options that name a model and say how it is loaded, prompted and fed."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Model = Annotated[str, typer.Argument(help="A folder, a name on the hub, or 'organism'.")]
Revision = Annotated[str | None, typer.Option(help="Commit, tag or branch on the hub.")]
Dtype = Annotated[str, typer.Option(help="float32, bfloat16, float16, or auto: the checkpoint's own.")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, or map: spread over all GPUs.")]
Quantization = Annotated[str | None, typer.Option(help="4bit or 8bit weights, through bitsandbytes.")]
Prompt = Annotated[
    str | None,
    typer.Option(
        help="Prompt template with {q}, instead of the model's chat template, "
        "such as 'USER: <image>\\n{q}\\nASSISTANT:' (\\n is a line break)."
    ),
]
RemoteCode = Annotated[bool, typer.Option("--trust-remote-code", help="Run code the checkpoint brings.")]
Offline = Annotated[bool, typer.Option("--offline", help="Never ask the hub.")]
BatchTokens = Annotated[
    int | None, typer.Option(help="Tokens of one traced batch, which bounds memory. Default 8192.", min=1)
]


def model_spec(
    model: str,
    revision: str | None,
    dtype: str,
    device: str,
    quantization: str | None,
    prompt: str | None,
    trust_remote_code: bool,
    offline: bool,
) -> dict[str, Any]:
    """The options as fields of a `ModelSpec`."""
    return {
        "name": model,
        "revision": revision,
        "dtype": dtype,
        "device": device,
        "quantization": quantization,
        "prompt": None if prompt is None else prompt.replace("\\n", "\n"),
        "trust_remote_code": trust_remote_code,
        "offline": offline,
    }
