"""Open choices of SPEC as named values: each has its own digest, none is evaluated unless asked for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from probekit.captures import HiddenState, InternalConfidence
from probekit.detectors.base import Detector
from probekit.detectors.glsim import GlobalLocalSimilarity
from probekit.detectors.heads.boosting import Boosting
from probekit.detectors.heads.logistic import Logistic
from probekit.detectors.hidden_state import State
from probekit.detectors.ic import LensConfidence
from probekit.detectors.lookback import LookbackRatio
from probekit.detectors.metatoken import TokenMeta
from probekit.detectors.nll import NegativeLogLikelihood
from probekit.detectors.pas import PreliminaryAttention
from probekit.detectors.position import TokenPosition
from probekit.detectors.vade_proxy import VadeProxy

VARIANTS: Mapping[str, Detector] = MappingProxyType(
    {
        "lookback_no_sink": Detector("lookback", LookbackRatio(sink=False), Logistic()),
        "hidden_mid_query": Detector(
            "hidden_mid", State(HiddenState(layer="mid", read_at="query", window=1)), Logistic()
        ),
        "hidden_mid_single": Detector("hidden_mid", State(HiddenState(layer="mid", window=1)), Logistic()),
        "hidden_mid_scaled": Detector("hidden_mid", State(HiddenState(layer="mid")), Logistic(scale=True)),
        "hidden_last_pre_norm": Detector(
            "hidden_last", State(HiddenState(layer="last", norm="pre")), Logistic()
        ),
        "hidden_last_scaled": Detector("hidden_last", State(HiddenState(layer="last")), Logistic(scale=True)),
        "vade_proxy_max": Detector("vade_proxy", VadeProxy(head_pool="max")),
        "ic_topk50": Detector("ic", LensConfidence(InternalConfidence(topk=50))),
        "ic_all_ids": Detector("ic", LensConfidence(InternalConfidence(ids="all"))),
        "glsim_code": Detector("glsim", GlobalLocalSimilarity(global_layers="code")),
        "pas_self": Detector("pas", PreliminaryAttention(row="self")),
        "nll_mean": Detector("nll", NegativeLogLikelihood(tokens="mean")),
        "metatoken_boosting": Detector("metatoken", TokenMeta(), Boosting()),
        "position_relative": Detector("position", TokenPosition(relative=True), baseline=True),
    }
)
