"""The shelf of detectors: one page per method, in the order of SPEC 2.7, then the position baseline."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from probekit.detectors.base import Detector, Evidence, Features
from probekit.detectors.dhcp import DHCP, ImageAttention
from probekit.detectors.entropy import ENTROPY, NextTokenEntropy
from probekit.detectors.glsim import GLSIM, GlobalLocalSimilarity
from probekit.detectors.halp import HALP
from probekit.detectors.hidden_state import HIDDEN_LAST, HIDDEN_MID, State
from probekit.detectors.ic import IC, LensConfidence
from probekit.detectors.lookback import LOOKBACK, LookbackRatio
from probekit.detectors.metatoken import METATOKEN, TokenMeta
from probekit.detectors.nll import NLL, NegativeLogLikelihood
from probekit.detectors.pas import PAS, PreliminaryAttention
from probekit.detectors.position import POSITION, TokenPosition
from probekit.detectors.svar import SVAR, Svar
from probekit.detectors.table import FeatureTable, Population, feature_table, population
from probekit.detectors.text_only import TEXT_ONLY
from probekit.detectors.vade_proxy import VADE_PROXY, VadeProxy
from probekit.detectors.variants import VARIANTS

_SHELF = (
    LOOKBACK,
    HIDDEN_MID,
    HIDDEN_LAST,
    DHCP,
    TEXT_ONLY,
    HALP,
    SVAR,
    VADE_PROXY,
    IC,
    GLSIM,
    PAS,
    NLL,
    ENTROPY,
    METATOKEN,
    POSITION,
)

DETECTORS: Mapping[str, Detector] = MappingProxyType({detector.name: detector for detector in _SHELF})

__all__ = [
    "DETECTORS",
    "VARIANTS",
    "Detector",
    "Evidence",
    "FeatureTable",
    "Features",
    "GlobalLocalSimilarity",
    "ImageAttention",
    "LensConfidence",
    "LookbackRatio",
    "NegativeLogLikelihood",
    "NextTokenEntropy",
    "Population",
    "PreliminaryAttention",
    "State",
    "Svar",
    "TokenMeta",
    "TokenPosition",
    "VadeProxy",
    "feature_table",
    "population",
]
