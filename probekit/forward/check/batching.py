"""Contracts on batching: padding, batch size and shared prefixes change nothing."""

from __future__ import annotations

import torch

from probekit.families.conversation import openers
from probekit.forward.check.bench import Bench, relative
from probekit.forward.check.report import Outcome
from probekit.forward.generate import left_padded
from probekit.forward.trace import Tracer


def right_padding(bench: Bench) -> Outcome:
    """Four texts of different lengths in one batch against each alone."""
    batch = Tracer(bench.vlm, bench.prompter, bench.captures, sharing=False).run(bench.texts)
    rows, values = bench.traced_difference([batch], bench.singles)
    return _both(bench, "batch of 4 against 1", rows, values, "right-padded, pictures of different shapes")


@torch.no_grad()
def left_padding(bench: Bench) -> Outcome:
    """Next-token logits of a left-padded batch of prompts, as generation has them, against each alone."""
    vlm = bench.vlm
    images = [[image() for image in openers(text.image)] for text in bench.texts]
    inputs = left_padded(vlm, bench.prompter.encode([text.question for text in bench.texts], images))
    found = vlm.model(**inputs, use_cache=False).logits[:, -1].float()
    expected = torch.stack([eager.logits[len(eager.prompt) - 1] for eager in bench.eager])
    worst = relative(found, expected)
    return bench.found("left padding", worst, bench.tolerance.values, "a batch of 4 prompts, next token")


def prefix_sharing(bench: Bench) -> Outcome:
    """Questions and continuations over one picture as a prefix tree against each alone."""
    if not bench.vlm.shares_prefixes:
        return bench.skipped(
            "prefix sharing", "not switched on for this family; every text is computed whole"
        )
    return shared_against_plain(bench)


def shared_against_plain(bench: Bench) -> Outcome:
    """`prefix_sharing`, whether or not the family has it switched on."""
    ids = bench.texts[1].continuation
    texts = [
        bench.text(number, bench.texts[question].question, piece, picture=1)
        for number, (question, piece) in enumerate([(0, ids), (0, ids[:5]), (0, ids[::-1]), (2, ids[:9])])
    ]
    whole = Tracer(bench.vlm, bench.prompter, bench.captures, sharing=False)
    packed = Tracer(bench.vlm, bench.prompter, bench.captures, sharing=True)
    cached = Tracer(bench.vlm, bench.prompter, bench.captures, sharing=True, row_tokens=1)
    plain = whole.run(texts)
    found = [bench.traced_difference([tracer.run(texts)], [plain]) for tracer in (packed, cached)]
    rows, values = (max(pair) for pair in zip(*found, strict=True))
    how = "packed into a row, and over a cache" if bench.vlm.packs_texts else "over a cache"
    note = f"{how}; {packed.computed} tokens instead of {whole.computed}"
    return _both(bench, "prefix sharing", rows, values, note)


def determinism(bench: Bench) -> Outcome:
    """The same text traced twice, bit for bit."""
    tracer = Tracer(bench.vlm, bench.prompter, bench.captures, sharing=False)
    again = tracer.run([bench.texts[0]])
    rows, values = bench.traced_difference([again], [bench.singles[0]])
    return bench.found("determinism", max(rows, values), 0.0, "two passes, bit for bit")


def _both(bench: Bench, name: str, rows: float, values: float, note: str) -> Outcome:
    """Attention and values against their own tolerances; the worse of the two is told."""
    allowed = bench.tolerance
    if rows / allowed.masses > values / allowed.values:
        return bench.found(name, rows, allowed.masses, f"attention masses; {note}")
    return bench.found(name, values, allowed.values, f"states and logits; {note}")
