"""Sweeps against a loop of scikit-learn fits, scaling with samples, and the price of ``--help``."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.measure import Measured, ratio

LAYERS, SEEDS, BUDGETS, ROWS, WIDTH = 24, 3, 6, 4000, 512


def sweep_speedup(repeats: int) -> Measured:
    """scikit-learn's loop over ours; one of the equal layers a repeat, 3 seeds x 6 budgets."""
    from sklearn.linear_model import LogisticRegression

    from probekit.detectors.heads.sweep import solve

    rng = np.random.default_rng(0)
    direction = rng.normal(size=WIDTH)
    x = rng.normal(size=(ROWS, WIDTH)) * np.exp(0.2 * rng.normal(size=WIDTH))
    y = (x @ direction / np.abs(direction).sum() + rng.normal(size=ROWS) > 0).astype(int)
    rows, labels, weights = [], [], []
    for seed in range(SEEDS):
        order = np.random.default_rng(seed).permutation(ROWS)
        for budget in range(BUDGETS):
            chosen = order[: ROWS // 2 + budget * ROWS // 20]
            rows.append(chosen)
            labels.append(y[chosen])
            weights.append(np.ones(len(chosen)))
    tolerance = 1e-4

    def ours() -> None:
        solve(x, rows, labels, weights, tol=tolerance)

    def loop() -> None:
        for chosen, label in list(zip(rows, labels, strict=True))[:BUDGETS]:
            LogisticRegression(max_iter=1000, tol=tolerance).fit(x[chosen], label)

    fits = f"{SEEDS} seeds x {BUDGETS} budgets"
    detail = f"{ROWS} x {WIDTH}, {fits}, one of {LAYERS} equal layers a repeat, same stopping gradient"
    part = f"; the loop, linear in its fits, ran one of the {SEEDS} seeds"
    return ratio("sweep_speedup", loop, ours, repeats=repeats, scale=SEEDS, detail=detail + part, warm=False)


def scaling(repeats: int) -> Measured:
    """Seconds a sample at eight times the samples over at one time: describing and tracing."""
    from bench.models import text
    from probekit.captures import parse_capture
    from probekit.families import Prompter, load
    from probekit.forward.batches import run_all
    from probekit.forward.plan import batches
    from probekit.forward.trace import Tracer
    from probekit.pipeline.extract import captures_of

    vlm = load("organism")
    captures = [c for c in map(parse_capture, captures_of(None)) if c.condition == "full"]
    tracer = Tracer(vlm, Prompter(vlm), captures)

    def trace(count: int) -> None:
        work = [text(n, 30, rows=4) for n in range(count)]
        planned = batches([t.image_key for t in work], [60] * count, [30] * count, 2048, sharing=True)
        run_all(tracer, work, planned)

    return ratio(
        "scaling",
        lambda: trace(512),
        lambda: trace(64),
        repeats=repeats,
        scale=1 / 8,
        detail="512 against 64 captions of the organism",
    )


def help_seconds(repeats: int) -> Measured:
    """``probekit --help`` over ``python -c pass``."""
    folder = Path(tempfile.mkdtemp())

    def shown() -> None:
        code = "from probekit.cli import main; main()"
        subprocess.run([sys.executable, "-c", code, "--help"], check=True, capture_output=True, cwd=folder)

    def nothing() -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True, capture_output=True, cwd=folder)

    return ratio("help_seconds", shown, nothing, repeats=repeats, detail="whole processes")
