"""Quantities that explain: does the model see, does it need to see, does it say what it saw.

* `kl`, `vns`, `lad`, `cs`: the Tri-Layer scores from plain arrays; `anchors`: the refusal sentences they
  use; `choices`: every option the paper leaves open, with a digest.
* `taxonomy`: four ways to fail without a picture, their sensitivity to thresholds, refusals beside them.
* `responses`: is an answer right, invented, a shortcut.
* `selective`: accuracy at a coverage, risk-coverage areas, for any confidence.
* `tri_layer`: one row a sample, and the paper's tables from them.
"""

from probekit.scores.anchors import AnchorSet, load_anchors
from probekit.scores.choices import Choices
from probekit.scores.cs import cs
from probekit.scores.kl import kl_per_position
from probekit.scores.lad import lad, sequence_score
from probekit.scores.responses import blind_hallucination, conflict_shortcut, correct
from probekit.scores.selective import Selective, risk_coverage, selective
from probekit.scores.taxonomy import Category, Thresholds, check_refusals, classify, sensitivity, shares
from probekit.scores.tri_layer import TriLayerRow
from probekit.scores.vns import vns

__all__ = [
    "AnchorSet",
    "Category",
    "Choices",
    "Selective",
    "Thresholds",
    "TriLayerRow",
    "blind_hallucination",
    "check_refusals",
    "classify",
    "conflict_shortcut",
    "correct",
    "cs",
    "kl_per_position",
    "lad",
    "load_anchors",
    "risk_coverage",
    "selective",
    "sensitivity",
    "sequence_score",
    "shares",
    "vns",
]
