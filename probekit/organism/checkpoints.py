"""Checkpoints of a training run: safetensors and JSON, the JSON last, so a torn one is unseen."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from probekit.errors import InputError
from probekit.files import read_json, write_json


@dataclass
class Progress:
    """How far a run has come. `curve` holds one entry of training figures per 100 steps."""

    stage: str = "vision"
    step: int = 0
    curve: list[dict[str, Any]] = field(default_factory=list)


def _folders(run: Path) -> list[Path]:
    return sorted(p for p in run.glob("checkpoint-*") if (p / "state.json").is_file())


def save(
    run: Path,
    settings_digest: str,
    progress: Progress,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
) -> None:
    """Write a checkpoint of the run and remove the earlier ones."""
    earlier = _folders(run)
    number = 1 + max((int(p.name.removeprefix("checkpoint-")) for p in earlier), default=0)
    folder = run / f"checkpoint-{number:04d}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # named_parameters lists a tied weight once; state_dict would list it twice.
    weights = {name: p.detach().clone() for name, p in model.named_parameters()}
    save_file(weights, folder / "model.safetensors")
    moments = {
        f"{index}.{name}": value.clone().reshape(value.shape)
        for index, entry in optimizer.state_dict()["state"].items()
        for name, value in entry.items()
    }
    save_file(moments, folder / "optimizer.safetensors")
    state = {
        "settings": settings_digest,
        "stage": progress.stage,
        "step": progress.step,
        "curve": progress.curve,
    }
    write_json(folder / "state.json", state)
    for old in earlier:
        shutil.rmtree(old)


def read_progress(run: Path, settings_digest: str) -> Progress | None:
    """Return how far the run's last checkpoint is, None when there is none.

    Raises:
        InputError: the checkpoint is of a run with other settings.
    """
    folders = _folders(run)
    if not folders:
        return None
    state = read_json(folders[-1] / "state.json")
    if state["settings"] != settings_digest:
        raise InputError(
            "this checkpoint belongs to a run with other settings",
            where=str(folders[-1]),
            hint="Give the same seed and settings as that run, or another folder.",
        )
    return Progress(state["stage"], state["step"], state["curve"])


@torch.no_grad()
def load_weights(run: Path, model: torch.nn.Module) -> None:
    """Copy the weights of the run's last checkpoint into the model."""
    weights = load_file(_folders(run)[-1] / "model.safetensors")
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])


def load_moments(run: Path, optimizer: torch.optim.Optimizer) -> None:
    """Restore the optimizer's state from the run's last checkpoint."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in load_file(_folders(run)[-1] / "optimizer.safetensors").items():
        index, name = key.split(".")
        state.setdefault(int(index), {})[name] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
