"""Runs every contract on one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType

from probekit.errors import ProbekitError
from probekit.families import Prompter, Vlm
from probekit.forward.check import batching, behaviour, numbers, prompts
from probekit.forward.check.bench import Bench
from probekit.forward.check.bridge import transformer_lens
from probekit.forward.check.report import Outcome, Report

Contract = Callable[[Bench], Outcome]

CONTRACTS: Mapping[str, Contract] = MappingProxyType(
    {
        "spans": prompts.spans,
        "image tokens": prompts.image_tokens,
        "image span": prompts.image_span,
        "attention rows": numbers.attention_rows,
        "attention masses": numbers.attention_masses,
        "hidden states": numbers.hidden_states,
        "final norm": numbers.final_norm,
        "logits": numbers.logits,
        "text only": numbers.text_only,
        "batch of 4 against 1": batching.right_padding,
        "left padding": batching.left_padding,
        "prefix sharing": batching.prefix_sharing,
        "determinism": batching.determinism,
        "replay": behaviour.replay,
        "shared answers": behaviour.shared_answers,
        "intervention": behaviour.intervention,
        "TransformerLens": transformer_lens,
    }
)
"""Contracts by name, in the order they run."""

LIBRARIES = ("torch", "transformers", "nnsight", "transformer-lens")


def check(
    vlm: Vlm,
    prompter: Prompter | None = None,
    advance: Callable[[str], None] = lambda contract: None,
) -> Report:
    """Run every contract on a loaded model, on its own device and in its own dtype.

    A contract that raises has failed; the error's first line is its note.

    Args:
        prompter: how the model is prompted, its own chat template by default.
        advance: called with each contract's name before it runs.
    """
    bench = Bench(vlm, prompter)
    outcomes = []
    for name in CONTRACTS:
        advance(name)
        outcomes.append(run_contract(bench, name))
    return Report(
        model=vlm.name,
        revision=vlm.revision,
        family=vlm.family.name,
        architecture=type(vlm.model).__name__,
        dtype=str(vlm.dtype).removeprefix("torch."),
        device=str(vlm.device),
        versions=versions(),
        outcomes=tuple(outcomes),
    )


def run_contract(bench: Bench, name: str) -> Outcome:
    """One contract; whatever it raises is its failure."""
    try:
        return CONTRACTS[name](bench)
    except ProbekitError as error:
        return Outcome(name, "failed", None, None, error.what)
    except Exception as error:  # an unknown architecture can break anywhere; the check reports it and goes on
        text = str(error).strip().splitlines()
        return Outcome(name, "failed", None, None, f"{type(error).__name__}: {text[0] if text else ''}")


def versions() -> dict[str, str]:
    """Versions of the libraries whose agreement is checked."""
    found = {}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "absent"
    return found
