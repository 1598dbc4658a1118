"""HALP: risk read from the last prompt token, before a word is written. SPEC 1.5; Kogilathota et al. 2026.

Every mention of a caption gets the same score. The state is the output of the last block, before the
final norm, as the hooks of the published scripts read it for the Qwen family.
"""

from __future__ import annotations

from probekit.captures import HiddenState
from probekit.detectors.base import Detector
from probekit.detectors.heads.halp_mlp import HalpMlp
from probekit.detectors.hidden_state import State

HALP = Detector(
    "halp", State(HiddenState(layer="last", read_at="prompt_last", window=1, norm="pre")), HalpMlp()
)
