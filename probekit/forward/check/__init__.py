"""Contracts that a model must keep before its numbers are believed, proven on the model at hand.

Contents: `check` (run them all on a loaded model), `Report` and `Outcome` (what came out), `CONTRACTS`
(their names in order), `require_proven` (refuses a model that broke one), `last_report`, `Bench` (the
model, a few pictures and Hugging Face's own eager outputs).
"""

from probekit.forward.check.bench import Bench
from probekit.forward.check.gate import require_proven
from probekit.forward.check.report import Outcome, Report, last_report
from probekit.forward.check.run import CONTRACTS, check

__all__ = ["CONTRACTS", "Bench", "Outcome", "Report", "check", "last_report", "require_proven"]
