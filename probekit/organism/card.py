"""The model card: what was trained, how, from which seed, with which figures; and its check."""

import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from safetensors import safe_open

from probekit.errors import ContractError
from probekit.files import read_json, sha256, write_atomically, write_json
from probekit.organism.settings import Settings

CARD = "card.json"
WEIGHTS = "model.safetensors"

_TEXT = """\
---
license: apache-2.0
library_name: transformers
pipeline_tag: image-text-to-text
---
# The organism

A LLaVA of {parameters:,} parameters, trained from scratch on procedural 72 x 72 scenes by
`probekit organism train --seed {seed}`. It exists to check instruments that look for
hallucination: what its images show and how its captions use each mention is known exactly. It
sees nothing of the real world and should not be used on photographs.

Weights are stored in float16 and meant to be loaded in float32, which loses nothing.
SHA-256 of `{weights}`: `{digest}`

On {captions} fresh scenes, greedy captions:

| figure | value |
|---|---|
{table}

All figures, the settings and the training curve are in `{card}`.
"""


def _table(figures: dict[str, Any]) -> str:
    captions, areas = figures["captions"], figures["auroc"]
    blind, asked = figures["blind"], figures["questions"]
    by_usage = ", ".join(f"{name} {number}" for name, number in captions["by_usage"].items())
    rows = {
        "concrete mentions": captions["concrete"],
        "hallucinated mentions": captions["hallucinated"],
        "non-assertive mentions": f"{captions['non_assertive']} ({by_usage})",
        "hallucination rate of asserted mentions": captions["hallucination_rate"],
        "captions that hedge, with a smudge": captions["hedges_with_smudge"],
        "captions that hedge, without": captions["hedges_without_smudge"],
        "AUROC, hidden state at the token, middle layer": areas["hidden"],
        "AUROC, text-only state": areas["text"],
        "AUROC, visual attention (negated)": areas["attention"],
        "AUROC, token position": areas["position"],
        "AUROC, negative log-likelihood": areas["nll"],
        "yes/no accuracy, random": asked["random"]["accuracy"],
        "yes/no accuracy, popular": asked["popular"]["accuracy"],
        "yes/no accuracy, adversarial": asked["adversarial"]["accuracy"],
        "questions refused on a black image": blind["black"]["questions_refused"],
        "questions refused on noise": blind["noise"]["questions_refused"],
    }
    return "\n".join(f"| {name} | {value} |" for name, value in rows.items())


def write_card(
    folder: Path, settings: Settings, figures: dict[str, Any], curve: list[dict[str, Any]]
) -> Path:
    """Write `card.json` and `README.md` beside the weights, and return the former."""
    with safe_open(folder / WEIGHTS, framework="np") as file:
        parameters = sum(int(file.get_tensor(name).size) for name in file.keys())  # noqa: SIM118
    card = {
        "sha256": sha256(folder / WEIGHTS),
        "parameters": parameters,
        "seed": settings.seed,
        "command": f"probekit organism train --seed {settings.seed}",
        "settings": settings.as_dict(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "transformers", "tokenizers")},
        },
        "figures": figures,
        "curve": curve,
    }
    write_json(folder / CARD, card)
    text = _TEXT.format(
        parameters=parameters,
        seed=settings.seed,
        weights=WEIGHTS,
        digest=card["sha256"],
        captions=figures["captions"]["captions"],
        table=_table(figures),
        card=CARD,
    )
    write_atomically(folder / "README.md", text)
    return folder / CARD


def check_weights(folder: Path) -> str:
    """Return the weights' SHA-256 after comparing it with the card's.

    Raises:
        InputError: there is no card.
        ContractError: the weights are not those the card describes.
    """
    expected = read_json(folder / CARD)["sha256"]
    found = sha256(folder / WEIGHTS)
    if found != expected:
        raise ContractError(
            f"the weights' SHA-256 is {found}, the card says {expected}",
            where=str(folder / WEIGHTS),
            hint="Restore the folder from the repository, or train it anew.",
        )
    return found
