"""Heads: how a classifier is fitted on features. Fitting gives weights; weights alone score rows."""

from probekit.detectors.heads.base import Head, NotFittableError, Problem, Solution
from probekit.detectors.heads.fitted import FittedHead

__all__ = ["FittedHead", "Head", "NotFittableError", "Problem", "Solution"]
