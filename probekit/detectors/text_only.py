"""Probe on the model's own language model without the image. SPEC 1.4; NAME-Bench 4, Appendix E.

What it finds is in the wording: the pass has no picture to look at.
"""

from __future__ import annotations

from probekit.captures import HiddenState
from probekit.detectors.base import Detector
from probekit.detectors.heads.logistic import Logistic
from probekit.detectors.hidden_state import State

TEXT_ONLY = Detector("text_only", State(HiddenState(layer="mid", text_only=True)), Logistic())
