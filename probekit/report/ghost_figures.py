"""Figures of a Ghost run: rates, quantities, layers and detectors over tone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from probekit.benchmarks.ghost import GhostCategory
from probekit.evaluation.ghost_detectors import DetectorResult
from probekit.evaluation.ghost_evidence import ALL
from probekit.evaluation.ghost_store import QUANTITIES
from probekit.evaluation.ghost_summary import GhostSummary
from probekit.metrics.rates_tones import ToneCurve
from probekit.report.figures import Figure, Frame, Series, line_figure

ABREAST = 7
"""Most lines in one figure."""
FEW = 12
"""Layers up to which each is named and marked."""


def rate_figures(found: GhostSummary) -> tuple[Figure, ...]:
    """Figure 4 of the paper: both tracks over tone, one line a group."""
    groups = found.rates.groups
    rates = {name: group.h_rate for name, group in groups.items()}
    scores = {name: group.h_score for name, group in groups.items() if group.h_score is not None}
    figures = [
        _tones(
            Frame(
                "h-rate", "H-Rate over tone", "tone level", "H-Rate, share of valid responses",
                "Hallucination rate at each tone level",
                "The left panel of the paper's Figure 4. A robust model is flat and low; a rise is "
                "pressure at work; a peak in the middle is recovery at the strongest tones.",
            ),
            rates, found.tones, limits=(0.0, 1.0),
        )
    ]  # fmt: skip
    if scores:
        figures.append(
            _tones(
                Frame(
                    "h-score", "H-Score over tone", "tone level", "H-Score, 1 to 5",
                    "Hallucination severity at each tone level",
                    f"The right panel of Figure 4, by {found.score_source}. Where it rises without the "
                    "H-Rate, claims grow firmer, not more frequent.",
                ),
                scores, found.tones, limits=(1.0, 5.0),
            )
        )  # fmt: skip
    return tuple(figures)


def quantity_figures(found: GhostSummary) -> tuple[Figure, ...]:
    """One figure a quantity, one line a group."""
    captions = {
        "image_mass": f"Mean over heads and blocks {found.blocks[0]} to {found.blocks[1]} of the attention "
        "that the last prompt token puts on the picture. A fall with tone: the words draw the model's eyes "
        "off the picture before it has said anything.",
        "vns": "How far the answer's distributions move when the picture is black. A fall with tone: the "
        "answer needs the picture less.",
        "kl_first": "The same at the first token alone, which every answer has: this curve does not depend "
        "on how long answers are.",
        "entropy": "Uncertainty about the first token. A fall together with a rising H-Rate: pressure makes "
        "the model surer, and wrong.",
        "entropy_mean": "Mean over all tokens; compare only where answers are as long.",
        "nll": "How unlikely the model finds its own answer, a token.",
        "nll_black": "The same words on a black picture. What the picture adds is the distance of the two.",
        "tokens": "Longer answers have more tokens that are easy to foresee, which lowers every mean over "
        "tokens.",
    }  # fmt: skip
    figures = []
    for name, title in QUANTITIES.items():
        curves = {g: q[name].curve for g, q in found.quantities.items() if name in q}
        if curves:
            frame = Frame(
                f"tone-{name}".replace("_", "-"),
                (title[0].upper() + title[1:]).removesuffix(", nats") + ", by tone",
                "tone level",
                title,
                f"{title} at each tone level",
                captions[name],
            )
            figures.append(_tones(frame, curves, found.tones))
    return tuple(figures)


def layer_figure(found: GhostSummary) -> tuple[Figure, ...]:
    """Image mass by layer, one line a tone."""
    if found.layers is None:
        return ()
    depth = found.layers.shape[1]
    lines = [
        Series(f"tone {tone}", _steps(depth), [float(v) for v in found.layers[n]])
        for n, tone in enumerate(found.tones)
    ]
    frame = Frame(
        "layers",
        "Where in depth tone moves attention",
        "layer, from 0",
        "attention mass on the image, mean over heads",
        "Image mass by layer, one line a tone",
        "Lines that part in some layers only tell where the wording of the question acts.",
    )
    return (line_figure(frame, lines, markers=depth <= FEW),)


def _steps(depth: int) -> Sequence[int] | Sequence[str]:
    """Layers as names where there are few, so that no half layer is marked."""
    return [str(n) for n in range(depth)] if depth <= FEW else list(range(depth))


def detector_figures(found: GhostSummary) -> tuple[Figure, ...]:
    """Detectors' mean scores and their AUROC over tone; trained ones apart."""
    results = found.detectors.get(ALL, {})
    kinds = {
        "free": {name: d for name, d in results.items() if name not in found.trained},
        "trained": {name: d for name, d in results.items() if name in found.trained},
    }
    figures: list[Figure] = []
    for kind, held in kinds.items():
        names = list(held)
        for number, start in enumerate(range(0, len(names), ABREAST)):
            part = {name: held[name] for name in names[start : start + ABREAST]}
            figures += [_scores(found, part, f"{kind}-{number}"), _areas(found, part, f"{kind}-{number}")]
    return tuple(figures)


def _scores(found: GhostSummary, part: Mapping[str, DetectorResult], name: str) -> Figure:
    lines = []
    for detector, result in part.items():
        centre = result.curve.average.value
        scale = result.spread or math.nan
        points = [result.curve.points[t] for t in found.tones]

        def standard(value: float, centre: float = centre, scale: float = scale) -> float:
            return (value - centre) / scale

        lines.append(
            Series(
                detector,
                [f"T{t}" for t in found.tones],
                [standard(p.value) for p in points],
                [standard(p.low) for p in points],
                [standard(p.high) for p in points],
            )
        )
    frame = Frame(
        f"scores-{name}",
        "Doubt over tone",
        "tone level",
        "mean score, in SDs of the detector",
        "Mean standardised score of detectors at each tone",
        "Higher is more doubt. A detector that warns of pressure rises where the H-Rate rises.",
    )
    return line_figure(frame, lines, reference=0.0)


def _areas(found: GhostSummary, part: Mapping[str, DetectorResult], name: str) -> Figure:
    lines = [
        Series(
            detector,
            [f"T{t}" for t in found.tones],
            [result.by_tone[t].value for t in found.tones],
            [result.by_tone[t].low for t in found.tones],
            [result.by_tone[t].high for t in found.tones],
        )
        for detector, result in part.items()
    ]
    frame = Frame(
        f"areas-{name}",
        "Does the detector still tell?",
        "tone level",
        "AUROC against the verdict",
        "AUROC of detectors at each tone",
        "The thin line is chance. A tone at which no answer, or every answer, is hallucinated has no point.",
    )
    return line_figure(frame, lines, limits=(0.0, 1.0), reference=0.5)


def _tones(
    frame: Frame,
    curves: Mapping[str, ToneCurve],
    tones: tuple[int, ...],
    *,
    limits: tuple[float, float] | None = None,
) -> Figure:
    lines = []
    # a single family is everything once more
    whole = curves[ALL].average.n
    curves = {name: curve for name, curve in curves.items() if name == ALL or curve.average.n < whole}
    if len(curves) > ABREAST:
        # a figure holds so many lines; categories are in the tables
        curves = {name: curve for name, curve in curves.items() if name not in tuple(GhostCategory)}
    for name, curve in curves.items():
        points = [curve.points[t] for t in tones if t in curve.points]
        lines.append(
            Series(
                name,
                [f"T{t}" for t in tones if t in curve.points],
                [p.value for p in points],
                [p.low for p in points],
                [p.high for p in points],
            )
        )
    return line_figure(frame, lines, limits=limits)
